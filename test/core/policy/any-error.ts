import fc from 'fast-check';
import { createSteadfetch } from 'steadfetch';

/** Makes what one attempt throws. Some make a new one each time, some the same one again. */
export type Thrower = () => unknown;

const same = (value: unknown): Thrower => {
  return () => value;
};

const refuse = (): never => {
  throw new Error('do not touch');
};

/**
 * Throws at whoever reads, lists, writes or tests it. Asking for its prototype is allowed: React
 * Query itself does that to every error (`instanceof`).
 */
const untouchable = (): object =>
  new Proxy(
    {},
    { get: refuse, has: refuse, ownKeys: refuse, set: refuse, getOwnPropertyDescriptor: refuse },
  );

const failWith = (status: number): Promise<unknown> =>
  createSteadfetch({
    fetch: () =>
      status === 0
        ? Promise.reject(new TypeError('Failed to fetch'))
        : Promise.resolve(new Response('{', { status })),
  })
    .fetch('/things')
    .catch((error: unknown) => error);

/** An error of steady.fetch that was caught elsewhere and is thrown again and again. */
const ours = await Promise.all([503, 429, 404, 0].map(failWith));

const frozenOfOurs = Object.freeze(await failWith(503));

const anyStatus = fc.constantFrom(400, 404, 408, 409, 413, 425, 429, 500, 501, 502, 503, 504, 599);
const anyRetryAfter = fc.constantFrom(undefined, '0', '1', '-1', 'soon', '99999999999');

const anyAxiosLike = fc
  .record({
    status: fc.oneof(anyStatus, fc.anything()),
    headers: fc.oneof(
      anyRetryAfter.map((value) => ({ 'retry-after': value })),
      fc.anything(),
    ),
    method: fc.constantFrom('get', 'post', 'put', undefined, 7),
  })
  .map(({ status, headers, method }) =>
    Object.assign(new Error('Request failed'), {
      isAxiosError: true,
      config: { method },
      response: { status, headers },
    }),
  );

const anyResponse = fc.tuple(anyStatus, anyRetryAfter).map(
  ([status, retryAfter]) =>
    new Response('', {
      status,
      ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
    }),
);

const oneObject = new Error('the same object in every run, attempt and query');

/** Everything that a queryFn or mutationFn has ever thrown, and more. */
export const anyThrower: fc.Arbitrary<Thrower> = fc.oneof(
  fc.string().map(
    (message): Thrower =>
      () =>
        new Error(message),
  ),
  fc.constant(same(oneObject)),
  fc.string().map((message) => same(new Error(message))),
  fc.constantFrom(...ours.map(same)),
  fc.constant(same(frozenOfOurs)),
  fc
    .constantFrom(undefined, null, 0, NaN, -1, '', 'failed', true, false, 1n, Symbol('failed'))
    .map(same),
  fc.anything().map(same),
  fc.constant(same(Object.freeze(new Error('frozen')))),
  fc.constant(same(Object.freeze({ status: 503, headers: Object.freeze({}) }))),
  fc.constant(same(Object.create(null))),
  fc.constant((): unknown => untouchable()),
  fc.constant(same(untouchable())),
  fc.constant(same(Object.defineProperty(new Error('hostile'), 'status', { get: refuse }))),
  fc.constant(same(Object.defineProperty(new Error('hostile'), 'response', { get: refuse }))),
  fc.constant(same({ status: 503, headers: untouchable() })),
  fc.constant(same({ status: 503, headers: { get: refuse } })),
  fc.constant(same({ response: { status: 503, headers: new Map([['retry-after', 5]]) } })),
  fc.constant(same(() => 'a function')),
  fc.constant(same(new DOMException('Aborted', 'AbortError'))),
  fc.constant(same(new DOMException('Timed out', 'TimeoutError'))),
  anyResponse.map(same),
  anyAxiosLike.map(same),
);
