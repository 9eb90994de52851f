import { QueryClient } from '@tanstack/react-query';
import type { OperationResult, SteadfetchConfig } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { createRig, type Rig, setOnline } from './rig.tsx';

const path = '/products';
const queryKey = ['products'];

const one = (rig: Rig) => ({ queryKey, queryFn: () => rig.steady.json<string>(path) });

const infinite = (rig: Rig) => ({
  ...one(rig),
  initialPageParam: 0,
  getNextPageParam: () => undefined,
});

type Own = Readonly<Record<string, unknown>>;
type Method = (rig: Rig, own: Own) => Promise<unknown>;

const ignore = (): void => {};

/** The methods that the next major of React Query removes, and what takes the place of each. */
const methods: Readonly<Record<string, readonly [before: Method, now: Method]>> = {
  fetchQuery: [
    (rig, own) => rig.client.fetchQuery({ ...one(rig), ...own }),
    (rig, own) => rig.client.query({ ...one(rig), ...own }),
  ],
  prefetchQuery: [
    (rig, own) => rig.client.prefetchQuery({ ...one(rig), ...own }),
    (rig, own) => rig.client.query({ ...one(rig), ...own }).then(ignore, ignore),
  ],
  ensureQueryData: [
    (rig, own) => rig.client.ensureQueryData({ ...one(rig), ...own }),
    (rig, own) => rig.client.query({ ...one(rig), ...own, staleTime: 'static' }),
  ],
  fetchInfiniteQuery: [
    (rig, own) => rig.client.fetchInfiniteQuery({ ...infinite(rig), ...own }),
    (rig, own) => rig.client.infiniteQuery({ ...infinite(rig), ...own }),
  ],
  prefetchInfiniteQuery: [
    (rig, own) => rig.client.prefetchInfiniteQuery({ ...infinite(rig), ...own }),
    (rig, own) => rig.client.infiniteQuery({ ...infinite(rig), ...own }).then(ignore, ignore),
  ],
  ensureInfiniteQueryData: [
    (rig, own) => rig.client.ensureInfiniteQueryData({ ...infinite(rig), ...own }),
    (rig, own) => rig.client.infiniteQuery({ ...infinite(rig), ...own, staleTime: 'static' }),
  ],
};

interface Scenario {
  readonly config?: SteadfetchConfig;
  readonly own?: Own;
  /** The statuses of the first answers; all others are good. */
  readonly statuses?: readonly number[];
  /** Comes before anything is asked. */
  readonly prepare?: (rig: Rig) => void;
  readonly during?: (rig: Rig) => Promise<void>;
  /** When requests are sent. */
  readonly times: readonly number[];
  /** How the operation ends, if there is one. */
  readonly result?: OperationResult;
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'retries, and gets its answer': {
    statuses: [503, 503],
    times: [0, 500, 1500],
    result: 'succeeded',
  },
  'ends with the error of its last attempt': {
    statuses: [503, 503, 503, 502],
    times: [0, 500, 1500, 3500],
    result: 'failed',
  },
  'does not retry what is final': { statuses: [404], times: [0], result: 'failed' },
  'does not retry with `retry: false`': {
    statuses: [503],
    own: { retry: false },
    times: [0],
    result: 'failed',
  },
  'is paused while the server is down, and goes out as the probe': {
    config: { health: {} },
    statuses: [503, 503],
    times: [0, 500, 1050],
    result: 'succeeded',
  },
  'ends when it was paused for too long': {
    config: { health: {}, policy: { maxPauseMs: 1000 } },
    statuses: [503, 503],
    times: [0, 500],
    result: 'failed',
  },
  'waits offline, and is sent when the browser is back': {
    prepare: () => setOnline(false),
    during: async (rig) => {
      await rig.time.advance(5000);
      setOnline(true);
    },
    times: [5000],
    result: 'succeeded',
  },
  'is cancelled in a wait': {
    statuses: [503],
    during: async (rig) => {
      await rig.time.advance(100);
      await rig.client.cancelQueries({ queryKey });
    },
    times: [0],
    result: 'cancelled',
  },
  'takes data that are fresh from the cache': {
    own: { staleTime: 60_000 },
    prepare: (rig) => void rig.client.setQueryData(queryKey, { pages: [], pageParams: [] }),
    times: [],
  },
};

/** All that one method does in a scenario. */
async function play(run: Method, scenario: Scenario) {
  const { config, own = {}, statuses = [], prepare, during } = scenario;
  const rig = createRig(config);
  rig.server.plan(path, ...statuses);
  // As its provider does.
  rig.client.mount();
  prepare?.(rig);
  const startedAt = rig.time.now();
  const outcome = run(rig, own).then(
    (data) => ['resolved', data],
    (error: unknown) => ['rejected', String(error)],
  );
  await during?.(rig);
  await rig.time.advance(100_000);
  const events = rig.events.map((event) =>
    [event.at - startedAt, event.type, 'result' in event ? event.result : ''].join(' '),
  );
  const end = rig.events.find(({ type }) => type === 'operation:end');
  const state = rig.client.getQueryState(queryKey);
  const played = {
    times: rig.server.times(),
    result: end && 'result' in end ? end.result : undefined,
    told: { events, outcome: await outcome, status: state?.status, data: state?.data },
  };
  rig.client.unmount();
  rig.end();
  return played;
}

// The oldest React Query that is supported, 5.89, has neither.
describe.runIf('query' in QueryClient.prototype).each(Object.entries(methods))(
  'what takes the place of %s',
  (_name, [before, now]) => {
    test.each(Object.entries(scenarios))('%s, as that does', async (_title, scenario) => {
      const played = await play(now, scenario);
      expect(played.times).toEqual(scenario.times);
      expect(played.result).toBe(scenario.result);
      expect(await play(before, scenario)).toEqual(played);
    });
  },
);
