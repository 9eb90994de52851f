import { type ApiProfile, rateLimitFields } from 'steadfetch';
import { expect, test } from 'vitest';
import { observe } from '../fetch/observe.ts';
import { createRig, type Rig } from '../react-query/rig.tsx';

const api = 'http://api.example';

const ask = (rig: Rig, path: string) =>
  observe(
    rig.client.fetchQuery({
      ...rig.steady.queryPolicy({}),
      queryKey: [path],
      queryFn: () => rig.steady.json(api + path),
    }),
  );

const told = { status: 429, headers: { 'retry-after': '30' } };
const slow = { afterMs: 2000 };

const open = (profile?: Omit<ApiProfile, 'match'>): Rig => {
  const apis = profile && [{ match: `${api}/`, ...profile }];
  return createRig({ health: {}, rateLimit: rateLimitFields(), ...(apis && { apis }) });
};

/** One channel is refused, and then another, three others and the first again are asked. @returns when each went. */
async function run(rig: Rig): Promise<Readonly<Record<string, readonly number[]>>> {
  const paths = ['/channels/1', '/channels/2', '/channels/3', '/channels/4'];
  ask(rig, '/channels/1');
  await rig.time.advance(100);
  for (const path of paths.slice(1)) {
    ask(rig, path);
    await rig.time.advance(100);
  }
  await rig.time.advance(80_000);
  return Object.fromEntries(paths.map((path) => [path.at(-1), rig.server.times(path)]));
}

test('a Retry-After for one URL holds up no other: the second is tried, the rest follow, and the first waits', async () => {
  const rig = open();
  rig.server.plan('/channels/1', told);
  expect(await run(rig)).toEqual({ 1: [0, 31_500], 2: [100], 3: [200], 4: [300] });
});

test('while the second has no answer the rest wait, and go with it', async () => {
  const rig = open();
  rig.server.plan('/channels/1', told);
  rig.server.plan('/channels/2', slow);
  expect(await run(rig)).toEqual({ 1: [0, 31_500], 2: [100], 3: [2100], 4: [2100] });
});

test('where the second is told, too, it is a limit of all: the rest cost no request', async () => {
  const rig = open();
  rig.server.plan('/channels/1', told);
  rig.server.plan('/channels/2', told);
  const { 1: first = [], 2: second = [], 3: third = [], 4: fourth = [] } = await run(rig);
  expect([first[0], second[0]]).toEqual([0, 100]);
  for (const at of [first[1], second[1], third[0], fourth[0]]) expect(at).toBeGreaterThan(30_000);
});

test('also where the two were under way together', async () => {
  const rig = open();
  rig.server.plan('/channels/0', told);
  rig.server.plan('/channels/1', told);
  ask(rig, '/channels/0');
  const went = await run(rig);
  expect(went[2]?.[0]).toBeGreaterThan(30_000);
});

test('the next Retry-After for the first URL is again its own', async () => {
  const rig = open();
  rig.server.plan('/channels/1', told, told);
  await run(rig);
  expect(rig.server.times('/channels/1')).toHaveLength(3);
  ask(rig, '/channels/5');
  await rig.time.advance(0);
  expect(rig.server.times('/channels/5')).toHaveLength(1);
});

test.each<[string, Omit<ApiProfile, 'match'>]>([
  ['the limit of an API is said to be of all of it', { limitsApplyTo: 'api' }],
  ['the app names an endpoint', { endpoint: 'channels' }],
])('where %s, the others wait at once', async (_what, profile) => {
  const rig = open(profile);
  rig.server.plan('/channels/1', told);
  const { 2: second = [] } = await run(rig);
  expect(second[0]).toBeGreaterThan(30_000);
});

test.each([
  ['a RateLimit field without a rest', { status: 429, headers: { ratelimit: '"a";r=0;t=30' } }],
  ['a 503', { status: 503, headers: { 'retry-after': '30' } }],
])('%s is of all URLs of its endpoint', async (_what, answer) => {
  const rig = open();
  rig.server.plan('/channels/1', answer);
  const { 2: second = [] } = await run(rig);
  expect(second[0]).toBeGreaterThan(30_000);
});
