import { useQueries } from '@tanstack/react-query';
import { describe, expect, test, vi } from 'vitest';
import { createRig, type Rig, setOnline, setVisible } from '../rig.tsx';

const count = 30;

function createMany(rig: Rig, prefix = '') {
  return function Many() {
    useQueries({
      queries: Array.from({ length: count }, (_, index) => ({
        queryKey: [prefix, index],
        queryFn: () => rig.steady.json(`http://api.example/${prefix}${index}`),
      })),
    });
    return null;
  };
}

function showMany(rig: Rig): void {
  const Many = createMany(rig);
  rig.show(<Many />);
}

const atOnce = (at: number): number[] => Array.from({ length: count }, () => at);

test('thirty queries that waited for the network go as soon as it is back, and none of them is paused then', async () => {
  const rig = createRig();
  setOnline(false);
  showMany(rig);
  await rig.time.advance(5000);
  expect(rig.server.times()).toEqual([]);
  const statuses = new Set<string>();
  rig.client.getQueryCache().subscribe(({ query }) => statuses.add(query.state.fetchStatus));
  setOnline(true);
  await rig.time.advance(20_000);
  expect(rig.server.times()).toEqual(atOnce(5000));
  expect([...statuses]).toEqual(['fetching', 'idle']);
});

test('thirty that failed, whose tab was hidden for a minute in their wait, go as soon as it is seen', async () => {
  const rig = createRig();
  for (let index = 0; index < count; index++) rig.server.plan(`/${index}`, 503);
  showMany(rig);
  await rig.time.advance(100);
  setVisible(false);
  await rig.time.advance(60_000);
  expect(rig.server.sent.length).toBe(count);
  setVisible(true);
  await rig.time.advance(20_000);
  expect(rig.server.times().slice(count)).toEqual(atOnce(60_100));
});

test('thirty that are shown for the first time go at once', async () => {
  const rig = createRig();
  showMany(rig);
  await rig.time.advance(0);
  expect(rig.server.times()).toEqual(atOnce(0));
});

test('thirty that are stale when the network is back go at once', async () => {
  const rig = createRig();
  showMany(rig);
  await rig.time.advance(1000);
  setOnline(false);
  await rig.time.advance(4000);
  setOnline(true);
  await rig.time.advance(20_000);
  expect(rig.server.times().slice(count)).toEqual(atOnce(5000));
});

describe('queries that wait for a retry while the machine sleeps for an hour', () => {
  async function sleepWhileWaiting(rig: Rig, isLeft = false): Promise<void> {
    for (let index = 0; index < count; index++)
      rig.server.plan(`/${index}`, { status: 503, headers: { 'retry-after': '25' } });
    const Many = createMany(rig);
    const { unmount } = rig.show(<Many />);
    await rig.time.advance(1000);
    if (isLeft) unmount();
    // The wall clock goes on without the timers.
    vi.setSystemTime(rig.time.now() + 3_600_000);
  }

  test('go within three seconds of waking, though their timers have 24 s to go', async () => {
    const rig = createRig();
    await sleepWhileWaiting(rig);
    await rig.time.advance(30_000);
    const again = rig.server.times().slice(count);
    expect(again).toEqual(atOnce(3_603_000));
  });

  test('do not, where nobody waits for them any more', async () => {
    const rig = createRig();
    await sleepWhileWaiting(rig, true);
    await rig.time.advance(20_000);
    expect(rig.server.sent.length).toBe(count);
  });

  test('wait for the tab, where it is hidden, and go when it is seen', async () => {
    const rig = createRig();
    await sleepWhileWaiting(rig);
    setVisible(false);
    await rig.time.advance(10_000);
    expect(rig.server.sent.length).toBe(count);
    setVisible(true);
    await rig.time.advance(10_000);
    const again = rig.server.times().slice(count);
    expect(again).toEqual(atOnce(3_612_000));
  });
});
