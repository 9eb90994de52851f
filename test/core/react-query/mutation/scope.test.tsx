import { mutationOptions } from 'steadfetch';
import { hydrate, useQuery } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { observe } from '../../fetch/observe.ts';
import { createOrderRig, type Send } from '../order-rig.tsx';
import { type Rig, setOnline, setVisible } from '../rig.tsx';

const scope = { id: 'orders' };

/** Sends to the path that is its variables. */
const send: Send = (path, { fetch }) => fetch(path as string, { method: 'POST' });

/** The first of the scope takes so long. */
const firstMs = 5000;

function createScopeRig() {
  const rig = createOrderRig();
  rig.server.plan('/1', { afterMs: firstMs });
  const options = mutationOptions(rig.steady, { mutationFn: send, scope });
  const plain = {
    mutationFn: () => rig.steady.fetch('/plain', { method: 'POST' }),
    scope,
  };
  return {
    ...rig,
    queue: (...paths: string[]) => paths.map((path) => rig.submit(options, path)),
    queuePlain: () => rig.submit(plain),
  };
}

function showQuery(rig: Rig): void {
  const Query = () => {
    useQuery({ queryKey: ['q'], queryFn: () => rig.steady.json('/q') });
    return null;
  };
  rig.show(<Query />);
}

const events = [
  ['the network is back', setOnline],
  ['the tab is seen', setVisible],
] as const;

describe.each(events)('when %s while mutations are queued in a scope', (_, set) => {
  test('React Query waits for the row before it fetches again, and the row goes on in its order', async () => {
    const rig = createScopeRig();
    showQuery(rig);
    await rig.time.advance(100);
    rig.queue('/1', '/2', '/3');
    rig.server.plan('/2', { afterMs: 500 });
    rig.server.plan('/3', { afterMs: 500 });
    await rig.time.advance(1000);
    set(false);
    set(true);
    await rig.time.advance(20_000);
    expect(rig.server.times('/1')).toEqual([100]);
    expect(rig.server.times('/2')).toEqual([5100]);
    expect(rig.server.times('/3')).toEqual([5600]);
    expect(rig.server.times('/q')).toEqual([0, 6100]);
  });

  test('one of ours that is alone holds up no refetch', async () => {
    const rig = createScopeRig();
    showQuery(rig);
    await rig.time.advance(100);
    rig.queue('/1');
    await rig.time.advance(1000);
    set(false);
    set(true);
    await rig.time.advance(20_000);
    expect(rig.server.times('/q')).toEqual([0, 1100]);
  });

  test('the one that fails tells who has sent it, and the row goes on', async () => {
    // An unhandled rejection fails the test.
    const rig = createScopeRig();
    showQuery(rig);
    await rig.time.advance(100);
    rig.server.plan('/2', 400);
    const row = rig.queue('/1', '/2', '/3');
    await rig.time.advance(1000);
    set(false);
    set(true);
    await rig.time.advance(20_000);
    expect(row.map(({ state }) => state.status)).toEqual(['success', 'error', 'success']);
    expect(rig.server.times('/3')).toEqual([5100]);
  });

  test('a plain one behind them is sent in its turn', async () => {
    const rig = createScopeRig();
    await rig.time.advance(100);
    rig.queue('/1', '/2');
    rig.server.plan('/2', { afterMs: 500 });
    rig.queuePlain();
    await rig.time.advance(1000);
    set(false);
    set(true);
    await rig.time.advance(20_000);
    expect(rig.server.times('/plain')).toEqual([5600]);
  });
});

// Before 5.104.2 React Query starts nothing in a hidden tab that was queued.
const isFloor = process.env['EXPECTED_REACT_QUERY'] === '5.89.0';

describe('in a hidden tab', () => {
  test('each of a scope is sent when the one before has ended, or when the tab is seen', async () => {
    const rig = createScopeRig();
    showQuery(rig);
    rig.queue('/1', '/2', '/3');
    rig.server.plan('/2', 503, { afterMs: 500 });
    await rig.time.advance(100);
    setVisible(false);
    await rig.time.advance(9900);
    setVisible(true);
    await rig.time.advance(10_000);
    expect(rig.server.times('/2')).toEqual(isFloor ? [10_000, 10_500] : [5000, 5500]);
    expect(rig.server.times('/3')).toEqual(isFloor ? [11_000] : [6000]);
  });
});

describe('mutations of ours that come from a storage', () => {
  function createRestored() {
    const rig = createScopeRig();
    const mutationKey = ['order'];
    rig.client.setMutationDefaults(
      mutationKey,
      mutationOptions(rig.steady, { mutationKey, mutationFn: send }),
    );
    const restore = (variables: string) => ({
      mutationKey,
      scope,
      state: {
        variables,
        status: 'pending' as const,
        isPaused: true,
        submittedAt: 0,
        context: undefined,
        data: undefined,
        error: null,
        failureCount: 0,
        failureReason: null,
      },
    });
    return {
      ...rig,
      restore: (...paths: string[]) =>
        hydrate(rig.client, { mutations: paths.map(restore), queries: [] }),
    };
  }

  test('are sent by resumePausedMutations, which resolves when all have ended', async () => {
    const rig = createRestored();
    showQuery(rig);
    await rig.time.advance(100);
    rig.restore('/1', '/2');
    rig.server.plan('/2', { afterMs: 500 });
    const resumed: ReturnType<typeof observe>[] = [];
    act(() => void resumed.push(observe(rig.client.resumePausedMutations())));
    await rig.time.advance(5499);
    expect(rig.server.times('/2')).toEqual([5100]);
    expect(resumed).toEqual([{ state: 'pending' }]);
    await rig.time.advance(1);
    expect(resumed[0]?.state).toBe('resolved');
  });

  test('are waited for when the network is back', async () => {
    const rig = createRestored();
    showQuery(rig);
    await rig.time.advance(50);
    setOnline(false);
    rig.restore('/1', '/2');
    await rig.time.advance(50);
    setOnline(true);
    await rig.time.advance(20_000);
    expect(rig.server.times('/1')).toEqual([100]);
    expect(rig.server.times('/2')).toEqual([5100]);
    expect(rig.server.times('/q')).toEqual([0, 5100]);
  });
});
