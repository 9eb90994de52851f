import { QueryCache, QueryClient, QueryObserver, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { act } from '@testing-library/react';
import { type SteadfetchConfig, fallback } from 'steadfetch';
import { expect, test } from 'vitest';
import { watchQuery } from '../../react/watch.tsx';
import { createRig, type Rig, setVisible } from '../rig.tsx';

const url = 'http://api.example/items/1';
const down = (count: number): number[] => Array.from({ length: count }, () => 503);

function observe(rig: Rig, own: object = {}): { readonly stop: () => void; status: () => string } {
  const observer = new QueryObserver(rig.client, {
    queryKey: ['item'],
    queryFn: () => rig.steady.json<string>(url),
    ...own,
  });
  const stop = observer.subscribe(() => {});
  return { stop, status: () => observer.getCurrentResult().status };
}

/** A server that is back at this time. */
function openRig(backMs: number, policy: SteadfetchConfig['policy'] = {}): Rig {
  const rig = createRig({ health: {}, policy });
  rig.server.plan('/items/1', ...down(100));
  void (async () => {
    await new Promise((come) => setTimeout(come, backMs));
    rig.server.unplan('/items/1');
  })();
  return rig;
}

test('a query that has failed in an outage and is seen probes until its server is back', async () => {
  const rig = openRig(9000, { maxPauseMs: 6000 });
  const { status } = observe(rig);
  await rig.time.advance(8000);
  expect(status()).toBe('error');
  await rig.time.advance(52_000);
  expect(rig.server.times()).toEqual([0, 500, 1050, 2250, 3100, 4400, 9400]);
  expect(status()).toBe('success');
});

test('with the defaults an outage of five minutes ends by itself, and its probes come 30 s apart', async () => {
  const rig = openRig(300_000);
  const { status } = observe(rig);
  await rig.time.advance(120_000);
  const inFirst = rig.server.times().filter((at) => at < 60_000);
  await rig.time.advance(220_000);
  expect(status()).toBe('success');
  const gaps = rig.server
    .times()
    .slice(inFirst.length)
    .map((at, index, all) => at - (all[index - 1] ?? at))
    .slice(1);
  expect(gaps).toEqual(gaps.map(() => 30_000));
  expect(gaps).toHaveLength(8);
});

test('each probe is one attempt, and the failure is shown all the while', async () => {
  const rig = openRig(300_000, { maxPauseMs: 6000 });
  const seen: string[] = [];
  function Item() {
    const { isFetched, status, fetchStatus } = useQuery({
      queryKey: ['item'],
      queryFn: () => rig.steady.json<string>(url),
    });
    if (isFetched) seen.push(`${rig.elapsed()} ${status} ${fetchStatus}`);
    return null;
  }
  rig.show(<Item />);
  await rig.time.advance(15_000);
  rig.server.unplan('/items/1');
  await rig.time.advance(30_000);
  expect(seen).toEqual(['6000 error idle', '18300 success idle']);
});

test.each<[what: string, own: object, hide: (rig: Rig, stop: () => void) => void]>([
  ['a page that is hidden', {}, () => setVisible(false)],
  ['a component that has gone', {}, (_rig, stop) => stop()],
  ['a query that is disabled', {}, observeDisabled],
])('%s probes nothing', async (what, own, hide) => {
  const rig = openRig(9000, { maxPauseMs: 6000 });
  const { stop } = observe(rig, own);
  await rig.time.advance(8000);
  if (what.includes('disabled')) stop();
  hide(rig, stop);
  const before = rig.server.times().length;
  await rig.time.advance(50_000);
  expect(rig.server.times()).toHaveLength(before);
});

function observeDisabled(rig: Rig): void {
  observe(rig, { enabled: false });
}

test('a page that is seen again probes at once, if that was due', async () => {
  const rig = openRig(9000, { maxPauseMs: 6000 });
  const { status } = observe(rig, { refetchOnWindowFocus: false });
  await rig.time.advance(8000);
  setVisible(false);
  await rig.time.advance(192_000);
  expect(status()).toBe('error');
  setVisible(true);
  await rig.time.advance(0);
  expect(status()).toBe('success');
});

test('a query that was only prefetched probes nothing', async () => {
  const rig = openRig(9000, { maxPauseMs: 6000 });
  const queryFn = () => rig.steady.json<string>(url);
  await Promise.all([
    rig.client.prefetchQuery({ queryKey: ['item'], queryFn }),
    rig.time.advance(60_000),
  ]);
  expect(rig.server.times().filter((at) => at > 6000)).toEqual([]);
});

test.each([
  ['with whenBack: leave', { whenBack: 'leave' }, 503],
  ['that always answers 500', {}, 500],
] as const)('a query %s probes nothing', async (_what, policy, status) => {
  const rig = createRig({ health: {}, policy: { maxPauseMs: 6000, ...policy } });
  rig.server.plan('/items/1', ...down(100).map(() => status));
  observe(rig);
  await rig.time.advance(15_000);
  const before = rig.server.times().length;
  await rig.time.advance(200_000);
  expect(rig.server.times()).toHaveLength(before);
});

test('so do ten queries in one page: one of them at a time', async () => {
  const rig = createRig({ health: {}, policy: { maxPauseMs: 6000 } });
  for (let id = 0; id < 10; id++) {
    rig.server.plan(`/items/${id}`, ...down(100));
    observe(rig, {
      queryKey: ['item', id],
      queryFn: () => rig.steady.json<string>(`http://api.example/items/${id}`),
    });
  }
  await rig.time.advance(20_000);
  const before = rig.server.times().length;
  await rig.time.advance(300_000);
  expect(rig.server.times().slice(before)).toHaveLength(10);
  for (let id = 0; id < 10; id++) rig.server.unplan(`/items/${id}`);
  await rig.time.advance(32_000);
  const statuses = rig.client
    .getQueryCache()
    .getAll()
    .map(({ state }) => state.status);
  expect(new Set(statuses)).toEqual(new Set(['success']));
});

test('a query that shows a fallback goes on probing, too', async () => {
  const rig = openRig(9000, { maxPauseMs: 6000 });
  const shown = rig.steady.queryPolicy({ fallback: fallback('from before') });
  const observer = new QueryObserver(rig.client, {
    queryKey: ['item'],
    queryFn: () => rig.steady.json<string>(url),
    ...shown,
  });
  observer.subscribe(() => {});
  await rig.time.advance(8000);
  expect(observer.getCurrentResult().data).toBe('from before');
  await rig.time.advance(52_000);
  expect(observer.getCurrentResult().data).toMatch(/^GET/);
});

test('a query that the user has cancelled stays so until its server is back', async () => {
  const rig = openRig(20_000, { maxPauseMs: 6000 });
  observe(rig);
  const { Watcher, last } = watchQuery(rig, ['item']);
  rig.show(<Watcher />);
  await rig.time.advance(1000);
  act(() => last().cancel());
  await rig.time.advance(0);
  expect(last().status).toBe('failed');
  const before = rig.server.times().length;
  await rig.time.advance(60_000);
  expect(rig.server.times()).toHaveLength(before);
});

/** How apps report failures: each counts those that it was told of. */
const reporters = ['onError', 'onSettled', 'an effect', 'an event', 'errorUpdateCount'] as const;
const causes = [503, 'network', 'hang'] as const;
const loads = ['first load', 'refresh', 'fallback'] as const;

test.each(causes.flatMap((cause) => loads.map((load) => [cause, load] as const)))(
  'an outage (%s, %s) is reported once, however often the page probes',
  async (cause, load) => {
    const counts = new Map<string, number>();
    const count = (reporter: (typeof reporters)[number]) => () =>
      void counts.set(reporter, (counts.get(reporter) ?? 0) + 1);
    const onSettled = (_data: unknown, error: unknown) => {
      if (error) count('onSettled')();
    };
    const rig = createRig(
      { health: {}, policy: { maxPauseMs: 6000 } },
      ({ defaultOptions }) =>
        new QueryClient({
          defaultOptions,
          queryCache: new QueryCache({ onError: count('onError'), onSettled }),
        }),
    );
    const cache = rig.client.getQueryCache();
    cache.subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error') count('an event')();
    });
    const own = load === 'fallback' ? rig.steady.queryPolicy({ fallback: fallback('saved') }) : {};
    function Item() {
      const { error, data } = useQuery({
        queryKey: ['item'],
        queryFn: () => rig.steady.json<string>(url),
        ...own,
      });
      useEffect(() => {
        if (error) count('an effect')();
      }, [error]);
      return data;
    }
    if (load === 'refresh') rig.client.setQueryData(['item'], 'old');
    rig.server.plan('/items/1', ...Array.from({ length: 100 }, () => cause));
    rig.show(<Item />);
    await rig.time.advance(200_000);
    const sent = rig.server.times().length;
    expect(sent).toBeGreaterThan(6);
    const query = cache.find({ queryKey: ['item'] });
    counts.set('errorUpdateCount', query?.state.errorUpdateCount ?? -1);
    const expected = load === 'fallback' ? 0 : 1;
    expect(reporters.map((reporter) => [reporter, counts.get(reporter) ?? 0])).toEqual(
      reporters.map((reporter) => [reporter, expected]),
    );
    rig.server.unplan('/items/1');
    await rig.time.advance(45_000);
    expect(query?.state).toMatchObject({ status: 'success', data: `GET /items/1 ${sent + 1}` });
  },
);

test('a probe that gets another answer than that of an outage is reported: it is news', async () => {
  const errors: string[] = [];
  const rig = createRig(
    { health: {}, policy: { maxPauseMs: 6000 } },
    ({ defaultOptions }) =>
      new QueryClient({
        defaultOptions,
        queryCache: new QueryCache({ onError: ({ message }) => void errors.push(message) }),
      }),
  );
  rig.server.plan('/items/1', ...down(10), 404, 404);
  observe(rig);
  await rig.time.advance(300_000);
  expect(errors).toEqual(['The server answered 503.', 'The server answered 404.']);
});
