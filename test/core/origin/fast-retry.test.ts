import { expect, test } from 'vitest';
import { type SteadyInit, profiles, retry } from 'steadfetch';
import { observe } from '../fetch/observe.ts';
import { createRig, type Rig } from '../react-query/rig.tsx';
import { openOrigin } from './rig.ts';

const base = 'http://api.example';

/** A query of a path, as a component asks for it. */
const query = ({ client, steady }: Rig, path: string) =>
  observe(
    client.fetchQuery({
      ...steady.defaultOptions.queries,
      queryKey: [path],
      queryFn: () => steady.json(`${base}${path}`),
    }),
  );

const openPage = async (used: readonly string[] = ['/used']): Promise<Rig> => {
  const rig = createRig({ health: {}, apis: [{ match: base, idempotency: profiles.draft }] });
  for (const path of used) query(rig, path);
  await rig.time.advance(10_000);
  return rig;
};

/** Milliseconds from the first attempt to each. */
const waits = ({ server }: Rig, path: string): number[] => {
  const [first = 0, ...others] = server.times(path);
  return others.map((at) => at - first);
};

test.each(['network', 502, 503, 504] as const)(
  'one failed attempt (%s) at an origin that has answered costs 25 ms',
  async (failure) => {
    const rig = await openPage();
    rig.server.plan('/report', failure);
    const asked = query(rig, '/report');
    await rig.time.advance(1000);
    expect(waits(rig, '/report')).toEqual([25]);
    expect(asked.state).toBe('resolved');
  },
);

test('so it does where the endpoint has answered, and long ago', async () => {
  const rig = await openPage(['/report/1']);
  await rig.time.advance(3_600_000);
  rig.server.plan('/report/2', 503);
  query(rig, '/report/2');
  await rig.time.advance(1000);
  expect(waits(rig, '/report/2')).toEqual([25]);
});

test('of a page that has no answer yet, the first retry waits as always', async () => {
  const rig = await openPage([]);
  rig.server.plan('/report', 503);
  query(rig, '/report');
  await rig.time.advance(1000);
  expect(waits(rig, '/report')).toEqual([500]);
});

test.each([
  ['with an idempotency key', {}],
  ['that may be repeated', { idempotent: true }],
] as const)('a write %s is retried as fast, and any other not at all', async (what, init) => {
  const rig = await openPage();
  const send = (path: string, own: SteadyInit): void => {
    rig.server.plan(path, 503);
    observe(
      retry(rig.steady, ({ signal }) =>
        rig.steady.fetch(`${base}${path}`, { method: 'POST', body: '1', signal, ...own }),
      ),
    );
  };
  send('/orders', what.includes('key') ? { ...init, headers: { 'Idempotency-Key': '"a"' } } : init);
  await rig.time.advance(1000);
  send('/notes', { method: 'PATCH' });
  await rig.time.advance(1000);
  expect([waits(rig, '/orders'), waits(rig, '/notes')]).toEqual([[25], []]);
});

test('where it fails, too, the first probe goes after 400 to 1,200 ms, or when React Query would retry shortly after that', async () => {
  const rig = await openPage();
  rig.server.plan('/report', 503, 503, 503, 503);
  query(rig, '/report');
  await rig.time.advance(5000);
  expect(waits(rig, '/report')).toEqual([25, 1050, 2250, 3100]);
});

test('of queries that fail together one is retried fast at the most', async () => {
  const rig = await openPage();
  const paths = Array.from({ length: 30 }, (_, index) => `/${String.fromCodePoint(97 + index)}`);
  for (const path of paths) rig.server.plan(path, 'network', 'network', 'network', 'network');
  for (const path of paths) query(rig, path);
  await rig.time.advance(300);
  expect(rig.server.times().filter((at) => at >= 10_000).length).toBeLessThanOrEqual(31);
});

test('of a limit without a sign, what it refuses beside good answers is not asked for again at once', async () => {
  const rig = await openPage();
  const paths = Array.from({ length: 60 }, (_, index) => `/item?page=${index}`);
  for (const path of paths.slice(10)) rig.server.plan(path, 'network');
  for (const path of paths) query(rig, path);
  await rig.time.advance(100);
  const again = rig.server.times().filter((at) => at > 10_000);
  expect(again.length).toBeLessThanOrEqual(7);
});

test('with `health: false` nothing is known of an origin, and the first retry waits as always', async () => {
  const rig = createRig({ health: false });
  query(rig, '/used');
  await rig.time.advance(1000);
  rig.server.plan('/report', 503);
  query(rig, '/report');
  await rig.time.advance(1000);
  expect(waits(rig, '/report')).toEqual([500]);
});

/** Settles a failure of an endpoint, after what has happened before. */
const world = (...before: (readonly [endpoint: string, shown: 'success' | 'outage'])[]) => {
  const { send, admission, clock } = openOrigin();
  for (const [endpoint, shown] of before) send(endpoint, shown, 50);
  return {
    clock,
    /** Whether it stands alone. */
    fail: (latencyMs = 50): boolean => {
      send('a', 'outage', latencyMs);
      return admission.origin.health.isAlone('a');
    },
  };
};

test('a failure stands alone at an origin whose latest answer was good', () => {
  expect(world(['a', 'success']).fail()).toBe(true);
  expect(world(['b', 'success']).fail()).toBe(true);
  expect(world(['b', 'outage'], ['b', 'success']).fail()).toBe(true);
});

test('it does not where nothing has been answered, or another has failed since', () => {
  expect(world().fail()).toBe(false);
  expect(world(['a', 'success'], ['b', 'outage']).fail()).toBe(false);
  expect(world(['a', 'success'], ['a', 'outage']).fail()).toBe(false);
  expect(world(['a', 'success'], ['a', 'outage'], ['b', 'success']).fail()).toBe(false);
});

test('it does not after more than a second: then, more than a moment is lost', () => {
  expect(world(['a', 'success']).fail(999)).toBe(true);
  expect(world(['a', 'success']).fail(1000)).toBe(false);
});

test('nor at an origin half of whose attempts fail', () => {
  const often = Array.from({ length: 40 }, (_, index) =>
    index % 2 === 0 ? (['a', 'outage'] as const) : (['a', 'success'] as const),
  );
  expect(world(...often).fail()).toBe(false);
});
