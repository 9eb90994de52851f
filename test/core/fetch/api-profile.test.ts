import {
  type ApiProfile,
  createSteadfetch,
  type SteadyInit,
  retry,
  defineIdempotency,
} from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { answer, fakeServer, hang, type Handler, origin, refuse } from './fake-server.ts';
import { noOrigin } from '../../setup/no-origin.ts';
import { fakeTime, observe } from './observe.ts';

beforeEach(fakeTime);

const idempotency = defineIdempotency({ header: 'Idempotency-Key' });
const declared: ApiProfile = { match: origin, idempotency };
const post: SteadyInit = { method: 'POST', body: 'order' };
const keyed: SteadyInit = { ...post, headers: { 'idempotency-key': 'k-1' } };

/** How many requests retry makes of a call that never succeeds, and its last error. */
async function run(
  apis: readonly ApiProfile[],
  init: SteadyInit,
  handler: Handler = refuse,
  input: RequestInfo | URL = `${origin}/v1/orders`,
) {
  const server = fakeServer(handler);
  const steady = createSteadfetch({
    fetch: server.fetch,
    apis,
    policy: { maxRetries: 2 },
    ...noOrigin,
  });
  const result = observe(
    retry(steady, ({ signal }) =>
      steady.fetch(input instanceof Request ? input.clone() : input, { ...init, signal }),
    ),
  );
  await vi.runAllTimersAsync();
  return { requests: server.requests, attempts: server.requests.length, error: result.error };
}

test('a POST with the declared key is sent again, with the same key and the same bytes', async () => {
  const { requests, error } = await run([declared], keyed);
  expect(requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual([
    'k-1',
    'k-1',
    'k-1',
  ]);
  expect(await Promise.all(requests.map((request) => request.text()))).toEqual([
    'order',
    'order',
    'order',
  ]);
  expect(error).toMatchObject({ operation: { keyed: true, idempotent: false } });
});

test.each<[string, readonly ApiProfile[], SteadyInit]>([
  ['without a key', [declared], post],
  ['with a key of an API that declares none', [], keyed],
  [
    'with a key of another name',
    [{ match: origin, idempotency: defineIdempotency({ header: 'X-Key' }) }],
    keyed,
  ],
  ['with a key of another API', [{ match: 'https://other.example', idempotency }], keyed],
  ['with an empty key', [declared], { ...post, headers: { 'idempotency-key': '' } }],
])('a POST %s is not sent again', async (_, apis, init) => {
  const { attempts, error } = await run(apis, init);
  expect(attempts).toBe(1);
  expect(error).toMatchObject({
    operation: { keyed: false },
    outcome: { processed: 'unknown' },
    decision: { kind: 'stop', reason: 'not-idempotent' },
  });
});

test.each([
  ['an object', { 'IDEMPOTENCY-KEY': 'k-1' }],
  ['Headers', new Headers({ 'Idempotency-Key': 'k-1' })],
  ['pairs', [['Idempotency-Key', 'k-1']] satisfies [string, string][]],
])('the key is found in headers given as %s', async (_, headers) => {
  expect((await run([declared], { ...post, headers })).attempts).toBe(3);
});

test('the key is found in a Request, unless the headers of init replace it', async () => {
  const request = new Request(`${origin}/v1/orders`, {
    method: 'POST',
    headers: { ...keyed.headers },
  });
  expect((await run([declared], {}, refuse, request)).attempts).toBe(3);
  expect((await run([declared], { headers: { 'x-own': '1' } }, refuse, request)).attempts).toBe(1);
});

test('a 409 to a keyed POST means that the first is still running: wait, same key', async () => {
  const { attempts, error } = await run([declared], keyed, answer(409));
  expect(attempts).toBe(3);
  expect(error).toMatchObject({ outcome: { inProgress: true, processed: 'unknown' } });
});

test('a 409 without a key, or without a declaration, is final', async () => {
  for (const [apis, init] of [
    [[declared], post],
    [[], keyed],
    [[declared], { method: 'GET' }],
  ] as const) {
    const { attempts, error } = await run(apis, init, answer(409));
    expect(attempts).toBe(1);
    expect(error).toMatchObject({ outcome: { inProgress: false, processed: 'no' } });
  }
});

test('an API can say which 409 means that', async () => {
  const inProgress = ({ headers }: Response): boolean => headers.get('x-code') === 'in_use';
  const apis = [{ match: origin, idempotency: defineIdempotency({ ...idempotency, inProgress }) }];
  expect((await run(apis, keyed, answer(409, null, { 'x-code': 'in_use' }))).attempts).toBe(3);
  expect((await run(apis, keyed, answer(409, null, { 'x-code': 'exists' }))).attempts).toBe(1);
});

test('when the function that says so throws, every 409 means that, and the HttpError is what is thrown', async () => {
  const inProgress = (): boolean => {
    throw new Error('a mistake of the app');
  };
  const { attempts, error } = await run(
    [{ match: origin, idempotency: defineIdempotency({ ...idempotency, inProgress }) }],
    keyed,
    answer(409),
  );
  expect(attempts).toBe(3);
  expect(error).toMatchObject({ code: 'http', outcome: { processed: 'unknown' } });
});

test('a 422 to a keyed POST is final', async () => {
  expect((await run([declared], keyed, answer(422))).attempts).toBe(1);
});

test('a POST that is declared idempotent is sent again: by its API, or by the call', async () => {
  expect((await run([{ match: origin, idempotent: true }], post)).attempts).toBe(3);
  expect((await run([], { ...post, idempotent: true })).attempts).toBe(3);
});

const matches: readonly (readonly [ApiProfile['match'], string, boolean])[] = [
  ['https://api.example', 'https://api.example/v1/orders', true],
  ['https://api.example', 'https://api.example', true],
  ['https://api.example', 'https://api.example.evil/v1', false],
  ['https://api.example', 'http://api.example/v1', false],
  ['https://api.example', 'https://api.example:8443/v1', false],
  ['https://api.example:443', 'https://api.example/v1', true],
  ['https://api.example/v1', 'https://api.example/v1', true],
  ['https://api.example/v1', 'https://api.example/v1?page=2', true],
  ['https://api.example/v1', 'https://api.example/v1/orders', true],
  ['https://api.example/v1/', 'https://api.example/v1/orders', true],
  ['https://api.example/v1', 'https://api.example/v10', false],
  ['https://api.example/v1', 'https://api.example/v0/../v1/orders', true],
  ['/v1', `${origin}/v1/orders`, true],
  ['/v1', 'https://api.example/v1/orders', false],
  [/\/v\d\//, 'https://api.example/v1/orders', true],
  [/^https:\/\/api\.example\//, 'https://api.example', true],
  [({ hostname }) => hostname.endsWith('.example'), 'https://api.example/v1', true],
  [({ hostname }) => hostname.endsWith('.example'), 'https://api.test/v1', false],
];

test.each(matches)('the profile of %s, asked for %s: %o', async (match, input, expected) => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const { attempts } = await run([{ match, idempotent: true }], post, refuse, input);
  expect(attempts > 1).toBe(expected);
});

test('a RegExp that remembers where it was matches every time', async () => {
  expect((await run([{ match: /orders/g, idempotent: true }], post)).attempts).toBe(3);
});

test('the first profile that matches counts', async () => {
  const apis = [{ match: origin }, { match: origin, idempotent: true }];
  expect((await run(apis, post)).attempts).toBe(1);
});

test("the policy of an API is laid over the instance's, and under that of the call", async () => {
  const apis = [{ match: origin, policy: { maxRetries: 1 } }];
  expect((await run(apis, {})).attempts).toBe(2);
  expect((await run(apis, { policy: { maxRetries: 0 } })).attempts).toBe(1);
});

test('the time limit of an API is that of its requests, unless the call has one', async () => {
  const apis = [{ match: origin, policy: { timeout: 500 } }];
  const { fetch } = createSteadfetch({ fetch: fakeServer(hang).fetch, apis });
  const ofApi = observe(fetch(origin));
  const ofCall = observe(fetch(origin, { timeout: 700 }));
  await vi.advanceTimersByTimeAsync(499);
  expect(ofApi.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect([ofApi.state, ofCall.state]).toEqual(['rejected', 'pending']);
  await vi.advanceTimersByTimeAsync(200);
  expect(ofCall.state).toBe('rejected');
});

test.each<[ApiProfile, string]>([
  [{ match: 'http://[' }, 'match'],
  [{ match: origin, policy: { maxRetries: -1 } }, 'maxRetries'],
])('a profile of %o is refused when it is made, by its number and its option', (api, option) => {
  expect(() => createSteadfetch({ apis: [{ match: origin }, api] })).toThrow(
    new RegExp(`^createSteadfetch: apis\\[1\\]: ${option.replace('.', '\\.')} is `),
  );
});
