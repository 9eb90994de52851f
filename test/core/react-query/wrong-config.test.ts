import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  defineIdempotency,
  mutationOptions,
  retry,
  type SteadfetchConfig,
  watchConnectivity,
} from 'steadfetch';
import { afterEach, describe, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const create = (config: unknown) => createSteadfetch(config as SteadfetchConfig);
const steady = createSteadfetch();
const list =
  'policy, apis, health, connectivity, tabs, rateLimit, concurrency, fetch, clock, random, observe';

describe('in development what is wrong is an error that says what is right', () => {
  test.each<[string, () => unknown, string]>([
    [
      'a name that is nearly right',
      () => create({ polcy: {} }),
      `createSteadfetch: polcy is {}, and must be left out: the options are ${list}: did you mean policy?.`,
    ],
    [
      'a name that is nothing like one',
      () => create({ onRetryFailure: 1 }),
      `createSteadfetch: onRetryFailure is 1, and must be left out: the options are ${list}.`,
    ],
    ['null', () => create(null), 'createSteadfetch: its argument is null, and must be an object.'],
    [
      'a QueryClient',
      () => create(new QueryClient()),
      'createSteadfetch: its argument is a QueryClient, and must be an object of options. It is the other ' +
        'way round: new QueryClient({ defaultOptions: steady.defaultOptions }).',
    ],
    [
      'what belongs to an API',
      () => create({ auth: 1 }),
      `createSteadfetch: auth is 1, and must be left out: the options are ${list}: did you mean apis: [{ match, auth }]?.`,
    ],
    [
      'apis that are no list',
      () => create({ apis: {} }),
      "createSteadfetch: apis is {}, and must be a list of profiles, as [{ match: '/api' }].",
    ],
    [
      'a fetch that is no function',
      () => create({ fetch: '/api' }),
      "createSteadfetch: fetch is '/api', and must be a function.",
    ],
    [
      'a clock without timers',
      () => create({ clock: { now: 0 } }),
      'createSteadfetch: clock is {"now":0}, and must be an object with now, setTimeout, clearTimeout.',
    ],
    [
      'chance that is a number',
      () => create({ random: 0.5 }),
      'createSteadfetch: random is 0.5, and must be a function.',
    ],
    [
      'a bare object in the place of a value',
      () => create({ connectivity: { check: '/ping' } }),
      'createSteadfetch: connectivity is {"check":"/ping"}, and must be what watchConnectivity() returns.',
    ],
    [
      'the value of another function',
      () => create({ tabs: watchConnectivity() }),
      'createSteadfetch: tabs is {}, and must be what shareAcrossTabs() returns.',
    ],
    [
      'a declaration of keys that nobody has made a profile',
      () => create({ apis: [{ match: '/a', idempotency: { header: 'k' } }] }),
      'createSteadfetch: apis[0]: idempotency is {"header":"k"}, and must be what defineIdempotency() returns, such as profiles.draft, or \'none\'.',
    ],
    [
      'the name of a profile',
      () => create({ apis: [{ match: '/a', idempotency: 'draft' }] }),
      "createSteadfetch: apis[0]: idempotency is 'draft', and must be what defineIdempotency() returns, such as profiles.draft, or 'none'.",
    ],
    [
      'an object that is long',
      () => create({ connectivity: { check: 'a'.repeat(1000) } }),
      `createSteadfetch: connectivity is {"check":"${'a'.repeat(90)}…, and must be what watchConnectivity() returns.`,
    ],
    [
      'retry without an instance',
      () => (retry as (first: unknown) => unknown)('/x'),
      "retry: its first argument is '/x', and must be what createSteadfetch returns.",
    ],
    [
      'retry without a function',
      () => retry(steady, '/x' as never),
      "retry: its second argument is '/x', and must be a function.",
    ],
    [
      'mutationOptions without options',
      () => mutationOptions(steady, undefined as never),
      'mutationOptions: its second argument is undefined, and must be an object with a mutationFn.',
    ],
    [
      'mutationOptions without a mutationFn',
      () => mutationOptions(steady, {} as never),
      'mutationOptions: mutationFn is undefined, and must be a function.',
    ],
  ])('%s', async (_name, make, message) => {
    await expect((async () => make())()).rejects.toThrow(new TypeError(message));
  });
});

test('in production it counts as not given, and is said once', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const wrong = {
    polcy: {},
    connectivity: { check: '/ping' },
    tabs: {},
    apis: [{ match: '/', idempotency: { header: 'k' } }],
    fetch: async () => new Response(null, { status: 201 }),
  };
  for (let times = 0; times < 2; times++) {
    const made = create(wrong);
    expect((await made.fetch('/a', { method: 'POST' })).status).toBe(201);
    expect(new QueryClient({ defaultOptions: made.defaultOptions })).toBeDefined();
    made.dispose();
  }
  expect(said.mock.calls.flat()).toEqual([
    '[steadfetch] wrong option: tabs',
    '[steadfetch] wrong option: connectivity',
    '[steadfetch] wrong option: idempotency',
  ]);
});

test.each([
  { apis: {} },
  { apis: null },
  { apis: [null, undefined, {}] },
  { random: null },
  { random: 0.5 },
  { clock: {} },
  { clock: { now: 5 } },
])('in production an app starts, and retries, with %j, too', async (wrong) => {
  vi.stubEnv('NODE_ENV', 'production');
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  let sent = 0;
  const fetch = async () => new Response(null, { status: sent++ === 0 ? 503 : 201 });
  const made = create({ ...wrong, fetch, policy: { baseMs: 0 } });
  const response = await retry(made, () => made.fetch('http://localhost:3000/a'));
  expect(response.status).toBe(201);
  made.dispose();
});

test('a profile that is made of another one keeps the code of keys', () => {
  const profile = defineIdempotency({ header: 'X-Key' });
  const longer = { ...profile, lifetimeMs: 60_000 };
  expect(() => create({ apis: [{ match: '/', idempotency: longer }] })).not.toThrow();
});
