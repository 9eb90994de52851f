import { composePersister, watchConnectivity } from 'steadfetch';
import { QueryClient, useQuery } from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { createRig, type Rig, setOnline, setVisible } from './rig.tsx';

function Products({ rig, own = {} }: { readonly rig: Rig; readonly own?: object }) {
  const { status, fetchStatus } = useQuery({
    queryKey: ['products'],
    queryFn: ({ signal }) => rig.steady.json<string>('/products', { signal }),
    ...own,
  });
  return <p>{`${status} ${fetchStatus}`}</p>;
}

describe('the persister does not change the network mode', () => {
  test.each<[string, (rig: Rig) => object]>([
    ['the default options', () => ({})],
    ['queryPolicy', (rig) => rig.steady.queryPolicy({})],
  ])('%s: offline, nothing is sent until the network is back', async (_name, own) => {
    const rig = createRig();
    setOnline(false);
    rig.show(<Products rig={rig} own={own(rig)} />);
    await rig.time.advance(60_000);
    expect(rig.server.sent).toEqual([]);
    expect(screen.getByText('pending paused')).toBeDefined();
    setOnline(true);
    await rig.time.settle();
    expect(rig.server.times()).toEqual([60_000]);
    expect(screen.getByText('success idle')).toBeDefined();
  });

  test.each([
    ['offlineFirst', [0]],
    ['always', [0, 500, 1500, 3500]],
  ] as const)('a query that says %s has it', async (networkMode, times) => {
    const rig = createRig();
    rig.server.plan('/products', 503, 503, 503, 503);
    setOnline(false);
    rig.show(<Products rig={rig} own={{ networkMode }} />);
    await rig.time.advance(60_000);
    expect(rig.server.times()).toEqual(times);
  });

  test("with a persister of the app's it is offlineFirst, as React Query has it", async () => {
    const rig = createRig({ connectivity: watchConnectivity() });
    rig.server.plan('/products', 503, 503, 503, 503);
    setOnline(false);
    const own = composePersister(rig.steady, (queryFn, context) => queryFn(context));
    rig.show(<Products rig={rig} own={own} />);
    await rig.time.advance(60_000);
    expect(rig.server.times()).toEqual([0]);
    expect(screen.getByText('pending paused')).toBeDefined();
  });

  test('a client whose default is another has it', async () => {
    const rig = createRig(
      {},
      ({ defaultOptions: { queries, mutations } }) =>
        new QueryClient({
          defaultOptions: { queries: { ...queries, networkMode: 'offlineFirst' }, mutations },
        }),
    );
    setOnline(false);
    rig.show(<Products rig={rig} />);
    await rig.time.settle();
    expect(rig.server.times()).toEqual([0]);
  });
});

test('offline within a wait: it is paused at its end, and goes on with the same operation', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 503, 503, 503, 503);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(100);
  setOnline(false);
  await rig.time.advance(9900);
  expect(screen.getByText('pending paused')).toBeDefined();
  expect(rig.server.times()).toEqual([0]);
  setOnline(true);
  await rig.time.advance(60_000);
  expect(rig.server.times()).toEqual([0, 10_000, 11_000, 13_000]);
  const attempts = rig.events.filter(({ type }) => type === 'attempt:start');
  expect(attempts.map(({ operation }) => operation.attempt)).toEqual([1, 2, 3, 4]);
  expect(new Set(attempts.map(({ operation }) => operation.id)).size).toBe(1);
});

test('hidden within a wait: it is paused at its end, until the tab is seen again', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 200);
  rig.show(<Products rig={rig} own={{ refetchOnWindowFocus: false }} />);
  await rig.time.advance(100);
  setVisible(false);
  await rig.time.advance(9900);
  expect(rig.server.times()).toEqual([0]);
  setVisible(true);
  await rig.time.advance(1);
  expect(rig.server.times()).toEqual([0, 10_000]);
});

test('time spent paused is paused time, which does not count against the deadline', async () => {
  const rig = createRig({ policy: { deadlineMs: 3500 } });
  rig.server.plan('/products', 503, 503, 503, 503);
  rig.show(<Products rig={rig} />);
  setOnline(false);
  await rig.time.advance(60_000);
  setOnline(true);
  await rig.time.advance(60_000);
  expect(rig.server.times()).toEqual([0, 60_000, 61_000, 63_000]);
  expect(screen.getByText('error idle')).toBeDefined();
});
