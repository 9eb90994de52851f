import { useQueries } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { observe } from '../fetch/observe.ts';
import { createRig, type Rig, setOnline, setVisible } from './rig.tsx';

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

/** A plain mutation, which React Query pauses while it is offline, and which takes so long then. */
function mutate(rig: Rig, afterMs: number, isDone: () => Promise<void> = () => Promise.resolve()) {
  rig.server.plan('/m', { afterMs });
  const mutationFn = () => rig.steady.json('http://api.example/m', { method: 'POST' });
  const options = { mutationFn, onSuccess: isDone, retry: 1, retryDelay: 1000 };
  return observe(rig.client.getMutationCache().build(rig.client, options).execute(undefined));
}

const queriesOf = (rig: Rig): number[] =>
  rig.server.sent.filter(({ request }) => request.startsWith('GET')).map(({ at }) => at);

/** With draws of 0.5, twenty in a second. */
const inTurn = (from: number): number[] => Array.from({ length: count }, (_, i) => from + 50 * i);

test('thirty queries that waited for the network do not come back in one moment', async () => {
  const rig = createRig();
  setOnline(false);
  showMany(rig);
  await rig.time.advance(5000);
  expect(rig.server.times()).toEqual([]);
  setOnline(true);
  await rig.time.advance(20_000);
  expect(rig.server.times()).toEqual(inTurn(5000));
});

test('thirty that failed, whose tab was hidden in their wait, do not come back in one moment', async () => {
  const rig = createRig();
  for (let index = 0; index < count; index++) rig.server.plan(`/${index}`, 503);
  showMany(rig);
  await rig.time.advance(100);
  setVisible(false);
  await rig.time.advance(60_000);
  expect(rig.server.sent.length).toBe(count);
  setVisible(true);
  await rig.time.advance(20_000);
  expect(rig.server.times().slice(count)).toEqual(inTurn(60_100));
});

test('thirty that are shown for the first time go at once', async () => {
  const rig = createRig();
  showMany(rig);
  await rig.time.advance(0);
  expect(rig.server.times()).toEqual(Array.from({ length: count }, () => 0));
});

test('thirty that are stale when the network is back do not come back in one moment', async () => {
  const rig = createRig();
  showMany(rig);
  await rig.time.advance(1000);
  setOnline(false);
  await rig.time.advance(4000);
  setOnline(true);
  await rig.time.advance(20_000);
  expect(rig.server.times().slice(count)).toEqual(inTurn(5000));
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

  test('go in turn within three seconds of waking, though their timers have 24 s to go', async () => {
    const rig = createRig();
    await sleepWhileWaiting(rig);
    await rig.time.advance(30_000);
    const again = rig.server.times().slice(count);
    expect(again[0]).toBe(3_603_000);
    expect(again.length).toBe(count);
    expect(new Set(again).size).toBe(count);
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
    expect([again[0], again.length]).toEqual([3_612_000, count]);
    expect(new Set(again).size).toBe(count);
  });
});

describe('behind a plain mutation, which React Query resumes first and waits for', () => {
  test('thirty queries that waited for the network', async () => {
    const rig = createRig();
    setOnline(false);
    showMany(rig);
    const mutation = mutate(rig, 3000);
    await rig.time.advance(5000);
    setOnline(true);
    await rig.time.advance(2999);
    expect(queriesOf(rig)).toEqual([]);
    await rig.time.advance(20_000);
    expect(mutation.state).toBe('resolved');
    expect(queriesOf(rig)).toEqual(inTurn(8000));
  });

  test('thirty, where the first of all to be sent is asked for meanwhile', async () => {
    const rig = createRig();
    setOnline(false);
    showMany(rig);
    mutate(rig, 3000);
    await rig.time.advance(5000);
    setOnline(true);
    await rig.time.advance(1000);
    const queryFn = () => rig.steady.json('http://api.example/first');
    void rig.client.fetchQuery({ queryKey: ['first'], queryFn });
    await rig.time.advance(20_000);
    expect(queriesOf(rig)).toEqual([6000, ...inTurn(8000)]);
  });

  test('thirty that are known, and wait for the network', async () => {
    const rig = createRig();
    showMany(rig);
    await rig.time.advance(100);
    setOnline(false);
    mutate(rig, 3000);
    act(() => void rig.client.invalidateQueries());
    await rig.time.advance(4900);
    setOnline(true);
    await rig.time.advance(20_000);
    expect(queriesOf(rig).slice(count)).toEqual(inTurn(8000));
  });

  test('thirty that are stale when the network is back', async () => {
    const rig = createRig();
    showMany(rig);
    await rig.time.advance(100);
    setOnline(false);
    mutate(rig, 3000);
    await rig.time.advance(4900);
    setOnline(true);
    await rig.time.advance(20_000);
    expect(queriesOf(rig).slice(count)).toEqual(inTurn(8000));
  });

  test('thirty that are stale when the tab is seen again', async () => {
    const rig = createRig();
    showMany(rig);
    await rig.time.advance(100);
    rig.server.plan('/m', 503);
    mutate(rig, 3000);
    await rig.time.advance(0);
    setVisible(false);
    await rig.time.advance(4900);
    setVisible(true);
    await rig.time.advance(20_000);
    expect(rig.server.times('/m')).toEqual([100, 5000]);
    expect(queriesOf(rig).slice(count)).toEqual(inTurn(8000));
  });

  test('whose callbacks take longer than its request', async () => {
    const rig = createRig();
    showMany(rig);
    await rig.time.advance(100);
    setOnline(false);
    mutate(rig, 3000, () => new Promise((resolve) => setTimeout(resolve, 1000)));
    await rig.time.advance(4900);
    setOnline(true);
    await rig.time.advance(20_000);
    expect(queriesOf(rig).slice(count)).toEqual(inTurn(8000));
  });

  test('thirty that are shown for the first time meanwhile go at once', async () => {
    const rig = createRig();
    const [Many, More] = [createMany(rig), createMany(rig, 'more')];
    const { rerender } = rig.show(<Many />);
    await rig.time.advance(100);
    setOnline(false);
    mutate(rig, 3000);
    await rig.time.advance(4900);
    setOnline(true);
    await rig.time.advance(1000);
    rerender(rig.wrap(<More />));
    await rig.time.advance(0);
    expect(queriesOf(rig).slice(count)).toEqual(Array.from({ length: count }, () => 6000));
  });

  test('thirty that are asked for again long after it go at once', async () => {
    const rig = createRig();
    showMany(rig);
    await rig.time.advance(100);
    setOnline(false);
    mutate(rig, 3000);
    await rig.time.advance(4900);
    setOnline(true);
    await rig.time.advance(60_000);
    act(() => void rig.client.invalidateQueries());
    await rig.time.advance(0);
    expect(queriesOf(rig).slice(2 * count)).toEqual(Array.from({ length: count }, () => 65_000));
  });

  test('that is removed: thirty that are asked for again go at once', async () => {
    const rig = createRig();
    showMany(rig);
    await rig.time.advance(100);
    setOnline(false);
    mutate(rig, 60_000);
    await rig.time.advance(4900);
    setOnline(true);
    await rig.time.advance(1000);
    rig.client.getMutationCache().clear();
    await rig.time.advance(1000);
    act(() => void rig.client.invalidateQueries());
    await rig.time.advance(0);
    expect(queriesOf(rig).slice(count)).toEqual(Array.from({ length: count }, () => 7000));
  });
});

test('behind mutations of ours in a scope, thirty queries that are stale when the tab is seen again', async () => {
  const rig = createRig();
  showMany(rig);
  await rig.time.advance(100);
  const mutationFn = () => new Promise((resolve) => setTimeout(resolve, 5000));
  const options = rig.steady.mutationOptions({ mutationFn, scope: { id: 'row' } });
  for (let index = 0; index < 2; index++)
    observe(rig.client.getMutationCache().build(rig.client, options).execute());
  await rig.time.advance(900);
  setVisible(false);
  setVisible(true);
  await rig.time.advance(20_000);
  // Each takes 5 s.
  expect(rig.server.times().slice(count)).toEqual(inTurn(10_100));
});
