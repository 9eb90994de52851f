import { type QueryClient, QueryObserver, type QueryObserverOptions } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { observe } from '../../fetch/observe.ts';
import { createRig, type Rig } from '../rig.tsx';

const path = '/items/1';
const failure = 'HttpError: The server answered 503.';
const options = (rig: Rig): QueryObserverOptions<string> & { queryKey: string[] } => ({
  queryKey: ['item'],
  queryFn: () => rig.steady.json<string>(`http://api.example${path}`),
});

type Answer = Parameters<Rig['server']['plan']>[1];

/** A page that shows the failure of a query, whose probe began at 9400 ms, and is answered a second later. */
async function openProbed(answer: Answer, own = options) {
  const rig = createRig({ health: {}, policy: { maxPauseMs: 6000 } });
  rig.server.plan(path, ...Array.from({ length: 6 }, () => 503));
  rig.server.plan(path, answer);
  const observer = new QueryObserver(rig.client, own(rig));
  const stop = observer.subscribe(() => {});
  await rig.time.advance(9500);
  expect(rig.server.times().slice(6)).toEqual([9400]);
  return { ...rig, observer, stop };
}

const probes = {
  'fails, and so does what follows': [{ status: 503, afterMs: 1000 }, failure],
  'fails, and its server is back then': [{ status: 503, afterMs: 1000 }, 'GET /items/1 8'],
  'is answered': [{ afterMs: 1000 }, /^GET \/items\/1 [78]$/],
  'hangs, and its server is back then': ['hang', /^GET \/items\/1 [78]$/],
} as const satisfies Record<string, readonly [Answer, string | RegExp]>;

const joiners: Readonly<
  Record<string, (rig: Awaited<ReturnType<typeof openProbed>>) => Promise<unknown>>
> = {
  ensureQueryData: (rig) => rig.client.ensureQueryData(options(rig)),
  fetchQuery: (rig) => rig.client.fetchQuery(options(rig)),
  'refetch of its component': async ({ observer }) =>
    (await observer.refetch({ throwOnError: true })).data,
};

test.each(
  Object.entries(probes).flatMap(([what, [answer, end]]) =>
    Object.entries(joiners).map(([who, join]) => [what, who, answer, end, join] as const),
  ),
)(
  'where a probe %s, %s during it gets the data or the failure',
  async (what, _who, answer, end, join) => {
    const rig = await openProbed(answer);
    if (what.includes('follows')) rig.server.plan(path, ...Array.from({ length: 100 }, () => 503));
    const joined = observe(join(rig));
    await rig.time.advance(30_000);
    expect(String(joined.error ?? joined.value)).toMatch(end);
  },
);

test('a probe shows nothing of itself, until it is answered', async () => {
  const rig = await openProbed({ afterMs: 1000 });
  const { status, fetchStatus, errorUpdateCount } = rig.observer.getCurrentResult();
  expect([status, fetchStatus, errorUpdateCount]).toEqual(['error', 'idle', 1]);
  expect(rig.client.isFetching()).toBe(0);
  await rig.time.advance(1000);
  const { data, failureCount, isFetched } = rig.observer.getCurrentResult();
  expect([data, failureCount, isFetched]).toEqual(['GET /items/1 7', 0, true]);
});

test.each<[string, (rig: Awaited<ReturnType<typeof openProbed>>) => void, string | undefined]>([
  ['whose component goes during it', (rig) => rig.stop(), 'error'],
  ['that is removed during it', (rig) => rig.client.removeQueries(), undefined],
  ['that is reset during it', (rig) => void rig.client.resetQueries(), 'success'],
  ['whose session ends during it', (rig) => void rig.steady.endSession(), 'error'],
])('the probe of a query %s leaves no failure that is new', async (_what, act, status) => {
  const rig = await openProbed({ status: 404, afterMs: 1000 });
  act(rig);
  await rig.time.advance(2000);
  const { state } = rig.client.getQueryCache().find({ queryKey: ['item'] }) ?? {};
  expect([state?.status, state?.errorUpdateCount ?? 0]).toEqual([
    status,
    status === 'error' ? 1 : 0,
  ]);
});

test('its queryFn is given the client of the app', async () => {
  const clients: QueryClient[] = [];
  const rig = await openProbed(200, ({ steady }) => ({
    queryKey: ['item'],
    queryFn({ client }: { client: QueryClient }) {
      clients.push(client);
      return steady.json<string>(`http://api.example${path}`);
    },
  }));
  expect(clients).toEqual(clients.map(() => rig.client));
});
