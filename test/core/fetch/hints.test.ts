import { createSteadfetch, type PolicyOptions, type Steadfetch, retry } from 'steadfetch';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import { answer, fakeServer, hang, type Handler, origin, refuse } from './fake-server.ts';
import { fakeTime, observe, rejectionOf } from './observe.ts';

const other = 'https://api.example';
const warn = vi.spyOn(console, 'warn');

beforeEach(() => {
  fakeTime();
  warn.mockReset().mockReturnValue();
});
afterEach(() => vi.unstubAllEnvs());

function create(handler: Handler): Steadfetch {
  const steady = createSteadfetch({ fetch: fakeServer(handler).fetch, ...noOrigin });
  onTestFinished(() => steady.dispose());
  return steady;
}

/** What was said to the developer, oldest first. */
const said = (): string[] => warn.mock.calls.map((call) => call.join(' '));

test.each([413, 429, 503])(
  'a %i of another origin without a readable Retry-After: said once per origin, with the remedy',
  async (status) => {
    const { fetch } = create(answer(status));
    for (const path of ['/a', '/b?token=secret', '/c']) await rejectionOf(fetch(`${other}${path}`));
    expect(said()).toHaveLength(1);
    expect(said()[0]).toMatch(/^\[steadfetch\] https:\/\/api\.example answered /);
    expect(said()[0]).toContain(`${status}`);
    expect(said()[0]).toContain('Access-Control-Expose-Headers: Retry-After');
    await rejectionOf(fetch('https://second.example/a'));
    expect(said()).toHaveLength(2);
    expect(said()[1]).toContain('https://second.example');
  },
);

test('no answer from another origin: said once per origin, with what it may be', async () => {
  const { fetch } = create(refuse);
  for (const path of ['/a', '/b?token=secret', '/c']) await rejectionOf(fetch(`${other}${path}`));
  expect(said()).toHaveLength(1);
  expect(said()[0]).toContain(other);
  expect(said()[0]).toContain('Access-Control-Allow-Origin');
  await rejectionOf(fetch('https://second.example/a'));
  expect(said()).toHaveLength(2);
});

test('a hint names the origin, never the path or the query', async () => {
  for (const handler of [refuse, answer(503)]) {
    await rejectionOf(create(handler).fetch(`${other}/path?token=secret`));
  }
  expect(said().join()).not.toMatch(/path|token|secret/);
});

test.each<[string, Handler, string]>([
  ['the same origin refuses', refuse, origin],
  ['the same origin answers 503', answer(503), origin],
  ['Retry-After can be read', answer(503, null, { 'retry-after': '1' }), other],
  ['the answer is good', answer(200), other],
  [
    'it exposes all headers, and sends none',
    answer(503, null, { 'access-control-expose-headers': '*' }),
    other,
  ],
  [
    'it exposes Retry-After, and sends none',
    answer(503, null, { 'access-control-expose-headers': 'Date, Retry-After' }),
    other,
  ],
  ['the status promises no Retry-After', answer(404), other],
])('nothing is said when %s', async (_, handler, url) => {
  await create(handler)
    .fetch(url)
    .catch(() => {});
  expect(said()).toEqual([]);
});

test('a time-out or an abort of the caller says nothing about CORS', async () => {
  const controller = new AbortController();
  const { fetch } = create(hang);
  const late = observe(fetch(other));
  const aborted = observe(fetch(other, { signal: controller.signal }));
  controller.abort();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([late.state, aborted.state]).toEqual(['rejected', 'rejected']);
  expect(said()).toEqual([]);
});

test('a request that cannot be sent says nothing about CORS', async () => {
  await rejectionOf(create(answer()).fetch(other, { body: 'a GET has none' }));
  expect(said()).toEqual([]);
});

test('in production nothing is said', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  for (const handler of [refuse, answer(503)]) await rejectionOf(create(handler).fetch(other));
  const steady = create(refuse);
  observe(retry(steady, () => retry(steady, () => steady.fetch(other))));
  await vi.runAllTimersAsync();
  expect(said()).toEqual([]);
});

test('a request sent again within one attempt is a second retry loop: said once', async () => {
  const steady = create(refuse);
  const inner = async (signal: AbortSignal): Promise<Response> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await steady.fetch(`${origin}/items?token=secret`, { signal });
      } catch (error) {
        if (tries === 3) throw error;
      }
    }
  };
  observe(retry(steady, ({ signal }) => inner(signal)));
  await vi.runAllTimersAsync();
  expect(said()).toHaveLength(1);
  expect(said()[0]).toContain('nine requests');
  expect(said()[0]).toContain(`GET ${origin}/items`);
  expect(said()[0]).not.toContain('secret');
});

test('different requests, or the next attempt, are no second loop', async () => {
  const steady = create(refuse);
  observe(
    retry(steady, async ({ signal }) => {
      await steady.fetch(`${origin}/a`, { signal }).catch(() => {});
      await steady.fetch(`${origin}/a`, { method: 'PUT', signal }).catch(() => {});
      return steady.fetch(`${origin}/b`, { signal });
    }),
  );
  await vi.runAllTimersAsync();
  expect(said()).toEqual([]);
});

test('the same lone request twice is no second loop', async () => {
  const { fetch } = create(refuse);
  await rejectionOf(fetch(origin));
  await rejectionOf(fetch(origin));
  expect(said()).toEqual([]);
});

test('retry inside retry is said once', async () => {
  const steady = create(refuse);
  observe(retry(steady, () => retry(steady, () => steady.fetch(origin))));
  await vi.runAllTimersAsync();
  expect(said()).toHaveLength(1);
  expect(said()[0]).toContain('retry');
});

test('retry inside retry is noticed after an await, too, by the signal', async () => {
  const steady = create(answer());
  await retry(steady, async ({ signal }) => {
    await Promise.resolve();
    return retry(steady, (inner) => steady.fetch(origin, inner), { signal });
  });
  expect(said()).toHaveLength(1);
});

test('retry after retry is no second loop', async () => {
  const steady = create(answer());
  await retry(steady, () => steady.fetch(origin));
  await retry(steady, () => steady.fetch(origin));
  expect(said()).toEqual([]);
});

test('an async shouldRetry is a mistake that is said', async () => {
  const server = fakeServer(refuse);
  // @ts-expect-error: a promise is no answer that can be given at once.
  const policy: PolicyOptions = { shouldRetry: async () => false };
  const steady = createSteadfetch({ fetch: server.fetch, policy, ...noOrigin });
  observe(retry(steady, (context) => steady.fetch(origin, context)));
  await vi.runAllTimersAsync();
  expect(server.requests).toHaveLength(4);
  expect(said()).toHaveLength(1);
  expect(said()[0]).toContain('shouldRetry');
});
