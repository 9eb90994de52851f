import { type QueryKey, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { isHttpError, type SteadfetchConfig } from 'steadfetch';
import { useOriginStatus } from 'steadfetch/react';
import { describe, expect, test } from 'vitest';
import { statusOf, watchMutation, watchQuery } from '../../react/watch.tsx';
import { createRig, type Rig } from '../rig.tsx';

/** With draws of 0.5: from the trip to the first probe, while a user waits. */
const firstProbeMs = 1200;
/** When React Query would retry for the first time, and a probe goes at the latest. */
const retryMs = 1050;

const api = (path: string): string => `http://api.example${path}`;

function createDownRig(config: SteadfetchConfig = {}): Rig {
  // One endpoint: what has not failed is not bound by its origin.
  const apis = [{ match: api('/'), endpoint: () => 'all' }];
  return createRig({ health: {}, apis, ...config });
}

function createQuery(rig: Rig, path: string, own: object = {}) {
  const queryKey: QueryKey = [path];
  const runs: number[] = [];
  function Query() {
    useQuery({
      queryKey,
      queryFn: () => {
        runs.push(rig.elapsed());
        return rig.steady.json<string>(api(path));
      },
      ...own,
    });
    return null;
  }
  return { queryKey, runs, Query, state: () => rig.client.getQueryState(queryKey) };
}

/** Failures of two endpoints in a row take the origin down: at 500 ms; it is 1000 ms afterwards. */
async function takeDown(rig: Rig): Promise<void> {
  await rig.time.advance(500 - rig.elapsed());
  for (const path of ['/down', '/gone']) {
    rig.server.plan(path, 503);
    const queryFn = () => rig.steady.json(api(path));
    rig.client.fetchQuery({ queryKey: [path], queryFn, retry: false }).catch(() => {});
  }
  await rig.time.advance(500);
  expect(rig.server.times('/gone').length).toBe(1);
}

describe('a retry to an origin that is down', () => {
  test('is paused, fetching for React Query, and goes out as the probe', async () => {
    const rig = createDownRig();
    rig.server.plan('/a', 503, 503);
    const { queryKey, Query, state } = createQuery(rig, '/a');
    const { Watcher, last } = watchQuery(rig, queryKey);
    rig.show(
      <>
        <Query />
        <Watcher />
      </>,
    );
    await rig.time.advance(499);
    expect(last().status).toBe('waiting');
    await rig.time.advance(1);
    expect(state()).toMatchObject({ fetchStatus: 'fetching', fetchFailureCount: 2 });
    expect(statusOf(last())).toMatchObject({
      status: 'paused',
      reason: 'server-down',
      attempt: 3,
      retryAt: rig.time.now() - rig.elapsed() + retryMs,
    });
    await rig.time.advance(retryMs - 501);
    expect(rig.server.times()).toEqual([0, 500]);
    await rig.time.advance(1);
    expect(rig.server.times()).toEqual([0, 500, retryMs]);
    expect(state()).toMatchObject({ status: 'success', fetchStatus: 'idle' });
  });

  test('is paused before its queryFn runs, so that nothing in it grows old', async () => {
    const rig = createDownRig();
    rig.server.plan('/a', 503, 503);
    const { Query, runs } = createQuery(rig, '/a');
    rig.show(<Query />);
    await rig.time.advance(retryMs - 1);
    expect(runs).toEqual([0, 500]);
    await rig.time.advance(1);
    expect(runs).toEqual([0, 500, retryMs]);
  });

  test('which then sends nothing gives its turn back: the next one that waits goes out as the probe at once', async () => {
    const rig = createDownRig();
    rig.server.plan('/a', 503, 503);
    const runs: number[] = [];
    const queryKey: QueryKey = ['cached'];
    function Cached() {
      useQuery({
        queryKey,
        queryFn: () => {
          runs.push(rig.elapsed());
          return runs.length > 2 ? 'from its own cache' : rig.steady.json<string>(api('/a'));
        },
      });
      return null;
    }
    rig.show(<Cached />);
    await rig.time.advance(1000);
    const { Query, state } = createQuery(rig, '/a');
    rig.show(
      <>
        <Cached />
        <Query />
      </>,
    );
    await rig.time.advance(700);
    expect(runs).toEqual([0, 500, retryMs]);
    expect(rig.client.getQueryData(queryKey)).toBe('from its own cache');
    expect(rig.server.times()).toEqual([0, 500, retryMs]);
    expect(state()).toMatchObject({ status: 'success', fetchStatus: 'idle' });
  });

  test('fails after maxPauseMs, with the failure before it', async () => {
    const rig = createDownRig({ policy: { maxPauseMs: 1500 } });
    rig.server.plan('/a', 503, 503, 503);
    const { Query, state } = createQuery(rig, '/a');
    rig.show(<Query />);
    await rig.time.advance(1499);
    expect(state()).toMatchObject({ fetchStatus: 'fetching', status: 'pending' });
    await rig.time.advance(1);
    const error: unknown = state()?.error;
    if (!isHttpError(error)) throw error;
    // Nobody else waits, so nothing will be sent.
    const retryAt = undefined;
    expect(error).toMatchObject({ status: 503, outcome: { processed: 'unknown' } });
    expect(error.decision).toEqual({ kind: 'stop', reason: 'paused-too-long', retryAt });
    expect(error.retryAt).toBe(retryAt);
    expect(rig.server.times()).toEqual([0, 500, retryMs]);
  });

  test('does not count the time it was paused against the deadline', async () => {
    const rig = createDownRig({ policy: { deadlineMs: 2000 } });
    rig.server.plan('/a', 503, 503, 503);
    const { Query, state } = createQuery(rig, '/a');
    rig.show(<Query />);
    await rig.time.advance(retryMs);
    expect(rig.server.times()).toEqual([0, 500, retryMs]);
    expect(state()).toMatchObject({ status: 'pending', fetchFailureCount: 3 });
  });
});

describe('a new query of an origin that is down', () => {
  test('waits inside its first request, which is not sent', async () => {
    const rig = createDownRig();
    await takeDown(rig);
    const { Query, runs, state } = createQuery(rig, '/b');
    rig.show(<Query />);
    await rig.time.advance(699);
    expect(runs).toEqual([1000]);
    expect(rig.server.times('/b')).toEqual([]);
    expect(state()).toMatchObject({ status: 'pending', fetchStatus: 'fetching' });
  });

  test('fails at once where it may not be paused', async () => {
    const rig = createDownRig();
    await takeDown(rig);
    const { Query, state } = createQuery(rig, '/b', rig.steady.queryPolicy({ whenDown: 'fail' }));
    rig.show(<Query />);
    await rig.time.advance(0);
    expect(state()?.error).toMatchObject({
      code: 'not-sent',
      message: 'The server is not available. The request was not sent.',
      cause: { status: 503 },
    });
    expect(rig.server.times('/b')).toEqual([]);
  });

  test('is one request after five invalidations', async () => {
    const rig = createDownRig();
    const { Query, queryKey, state } = createQuery(rig, '/b');
    rig.show(<Query />);
    await rig.time.advance(0);
    expect(state()).toMatchObject({ status: 'success', fetchStatus: 'idle' });
    await takeDown(rig);
    const before = rig.server.times('/b').length;
    for (let times = 0; times < 5; times++) {
      void rig.client.invalidateQueries({ queryKey });
      await rig.time.advance(10);
      expect(state()).toMatchObject({ status: 'success', fetchStatus: 'fetching' });
    }
    await rig.time.advance(60_000);
    expect(rig.server.times('/b').length - before).toBe(1);
    expect(state()).toMatchObject({ status: 'success', fetchStatus: 'idle', isInvalidated: false });
  });

  test('goes with its last observer, and no request is sent', async () => {
    const rig = createDownRig();
    await takeDown(rig);
    const { Query, state } = createQuery(rig, '/b');
    const { rerender } = rig.show(<Query />);
    await rig.time.advance(100);
    rerender(rig.wrap(null));
    await rig.time.advance(0);
    expect(state()).toMatchObject({ status: 'pending', fetchStatus: 'idle' });
    await rig.time.advance(60_000);
    expect(rig.server.times('/b')).toEqual([]);
  });

  test('goes with its last observer when it has data, which stay', async () => {
    const rig = createDownRig();
    const { Query, queryKey, state } = createQuery(rig, '/b');
    const { rerender } = rig.show(<Query />);
    await rig.time.advance(0);
    await takeDown(rig);
    void rig.client.invalidateQueries({ queryKey });
    await rig.time.advance(10);
    expect(state()).toMatchObject({ fetchStatus: 'fetching' });
    rerender(rig.wrap(null));
    await rig.time.advance(60_000);
    expect(rig.server.times('/b')).toEqual([0]);
    expect(state()).toMatchObject({ status: 'success', fetchStatus: 'idle', isInvalidated: true });
  });

  test('is cancelled by cancelQueries, and no request is sent', async () => {
    const rig = createDownRig();
    await takeDown(rig);
    const { Query, queryKey, state } = createQuery(rig, '/b');
    rig.show(<Query />);
    await rig.time.advance(100);
    await act(() => rig.client.cancelQueries({ queryKey }));
    await rig.time.advance(60_000);
    expect(rig.server.times('/b')).toEqual([]);
    expect(state()).toMatchObject({ fetchStatus: 'idle' });
  });

  test('is cancelled by the user: it ends in an error, and no request is sent', async () => {
    const rig = createDownRig();
    await takeDown(rig);
    const { Query, queryKey, state } = createQuery(rig, '/b');
    const { Watcher, last } = watchQuery(rig, queryKey);
    rig.show(
      <>
        <Query />
        <Watcher />
      </>,
    );
    await rig.time.advance(100);
    expect(last()).toMatchObject({ status: 'paused', reason: 'server-down' });
    act(() => last().cancel());
    await rig.time.advance(60_000);
    expect(rig.server.times('/b')).toEqual([]);
    expect(state()).toMatchObject({ status: 'error', fetchStatus: 'idle' });
    expect(last()).toMatchObject({ status: 'failed', reason: 'cancelled' });
  });

  test('goes at once when the user retries now; twenty presses are one request', async () => {
    const rig = createDownRig();
    await takeDown(rig);
    const { Query, queryKey } = createQuery(rig, '/b');
    const { Watcher, last } = watchQuery(rig, queryKey);
    rig.server.plan('/b', { afterMs: 100 });
    rig.show(
      <>
        <Query />
        <Watcher />
      </>,
    );
    await rig.time.advance(100);
    act(() => {
      for (let press = 0; press < 20; press++) last().retryNow();
    });
    await rig.time.advance(0);
    expect(last()).toMatchObject({ status: 'sending' });
    await rig.time.advance(100);
    expect(last()).toMatchObject({ status: 'succeeded' });
    expect(rig.server.times('/b')).toEqual([1100]);
  });

  test('waits for maxPauseMs anew when somebody else asks for it', async () => {
    const rig = createDownRig({ policy: { maxPauseMs: 600 } });
    await takeDown(rig);
    const { Query, state } = createQuery(rig, '/b');
    const { rerender } = rig.show(<Query key="one" />);
    await rig.time.advance(500);
    rerender(
      rig.wrap(
        <>
          <Query key="one" />
          <Query key="two" />
        </>,
      ),
    );
    // The patience of the first ends at 1600 ms, before the probe goes.
    await rig.time.advance(200);
    expect(rig.server.times('/b')).toEqual([500 + firstProbeMs]);
    expect(state()).toMatchObject({ status: 'success' });
  });
});

test('a page after the first is paused inside its queryFn', async () => {
  const rig = createDownRig();
  function Pages() {
    const { fetchNextPage, data } = useInfiniteQuery({
      queryKey: ['pages'],
      queryFn: ({ pageParam }) => rig.steady.json<string>(api(`/pages/${pageParam}`)),
      initialPageParam: 0,
      getNextPageParam: (_page, pages) => pages.length,
    });
    return <button onClick={() => void fetchNextPage()}>{data?.pages.length}</button>;
  }
  const { getByRole } = rig.show(<Pages />);
  await rig.time.advance(0);
  await takeDown(rig);
  act(() => getByRole('button').click());
  await rig.time.advance(100);
  expect(rig.client.getQueryState(['pages'])).toMatchObject({ fetchStatus: 'fetching' });
  expect(rig.server.times('/pages/1')).toEqual([]);
  await rig.time.advance(60_000);
  expect(rig.server.times('/pages/1').length).toBe(1);
  expect(getByRole('button').textContent).toBe('2');
});

test('a mutation is paused inside its request, and arrives once the server is back', async () => {
  const rig = createDownRig();
  await takeDown(rig);
  const mutationKey = ['save'];
  const { Watcher, last } = watchMutation(rig, mutationKey);
  function Save() {
    const { mutate } = useMutation({
      mutationKey,
      mutationFn: () => rig.steady.fetch(api('/save'), { method: 'POST', body: 'x' }),
    });
    return <button onClick={() => mutate()}>Save</button>;
  }
  const { getByRole } = rig.show(
    <>
      <Save />
      <Watcher />
    </>,
  );
  act(() => getByRole('button').click());
  await rig.time.advance(100);
  expect(rig.server.times('/save')).toEqual([]);
  await rig.time.advance(60_000);
  expect(rig.server.times('/save').length).toBe(1);
  expect(last()).toMatchObject({ status: 'succeeded' });
});

test('useOriginStatus tells how an origin is, and how many wait for it', async () => {
  const rig = createDownRig();
  const seen: string[] = [];
  function Status() {
    const { status, waiting } = useOriginStatus('http://api.example/whatever');
    seen.push(`${rig.elapsed()} ${status} ${waiting}`);
    return null;
  }
  await takeDown(rig);
  const { Query } = createQuery(rig, '/b');
  rig.server.plan('/b', { afterMs: 100 });
  rig.show(
    <>
      <Query />
      <Status />
    </>,
  );
  await rig.time.advance(20_000);
  expect(seen).toEqual(['1000 down 0', '1000 down 1', '1700 down 0', '1800 up 0']);
});

test('an origin that never failed is up, and one that is none is refused', () => {
  const rig = createDownRig();
  function Status({ origin }: { readonly origin: string }) {
    return <p>{useOriginStatus(origin).status}</p>;
  }
  const { container } = rig.show(<Status origin="http://other.example" />);
  expect(container.textContent).toBe('up');
  expect(() => rig.show(<Status origin="http://[" />)).toThrow(
    "useOriginStatus: 'http://[' is no URL, and must be one.",
  );
});
