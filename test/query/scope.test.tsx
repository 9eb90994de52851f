import { hydrate, QueryClient, useQuery } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { observe } from '../fetch/observe.ts';
import { createOrderRig, type Send } from './order-rig.tsx';
import { type Rig, setOnline, setVisible } from './rig.tsx';

const scope = { id: 'orders' };

/** Sends to the path that is its variables. */
const send: Send = (path, { fetch }) => fetch(path as string, { method: 'POST' });

/** The first of the scope takes so long. */
const firstMs = 5000;

function createScopeRig() {
  const rig = createOrderRig();
  rig.server.plan('/1', { afterMs: firstMs });
  const options = rig.steady.mutationOptions({ mutationFn: send, scope });
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

describe.each(events)('when %s while mutations of ours are queued in a scope', (_, set) => {
  test('queries are fetched again at once, and the row goes on in its order', async () => {
    const rig = createScopeRig();
    showQuery(rig);
    await rig.time.advance(100);
    rig.queue('/1', '/2', '/3');
    rig.server.plan('/2', { afterMs: 500 });
    for (const ms of [1000, 3000, 1200]) {
      await rig.time.advance(ms);
      set(false);
      set(true);
      await rig.time.advance(0);
    }
    expect(rig.server.times('/q')).toEqual([0, 1100, 4100, 5300]);
    await rig.time.advance(10_000);
    expect(rig.server.times('/1')).toEqual([100]);
    expect(rig.server.times('/2')).toEqual([5100]);
    expect(rig.server.times('/3')).toEqual([5600]);
  });

  test('so are those of a client in which no query is ours, also for the first two', async () => {
    const rig = createOrderRig({}, () => new QueryClient());
    let count = 0;
    const Query = () => {
      useQuery({ queryKey: ['q'], queryFn: () => ++count });
      return null;
    };
    rig.show(<Query />);
    await rig.time.advance(100);
    rig.server.plan('/1', { afterMs: firstMs });
    const onMutate = async () => {};
    const options = rig.steady.mutationOptions({ mutationFn: send, scope, onMutate });
    for (const path of ['/1', '/2']) rig.submit(options, path);
    await rig.time.advance(1000);
    set(false);
    set(true);
    await rig.time.advance(0);
    expect(count).toBe(2);
    await rig.time.advance(firstMs);
    expect(rig.server.times()).toEqual([100, 5100]);
  });

  test('a plain one behind them is waited for, as React Query has it', async () => {
    const rig = createScopeRig();
    showQuery(rig);
    await rig.time.advance(100);
    rig.queue('/1', '/2');
    rig.server.plan('/2', { afterMs: 500 });
    rig.server.plan('/plain', { afterMs: 500 });
    rig.queuePlain();
    await rig.time.advance(1000);
    set(false);
    set(true);
    await rig.time.advance(20_000);
    expect(rig.server.times('/plain')).toEqual([5600]);
    expect(rig.server.times('/q')).toEqual([0, 6100]);
  });

  test('the one that fails tells who has sent it, and nobody else', async () => {
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

  test('once the instance is disposed, React Query waits for them again', async () => {
    const rig = createScopeRig();
    showQuery(rig);
    await rig.time.advance(100);
    const row = rig.queue('/1', '/2');
    expect(row.map((one) => Object.hasOwn(one, 'continue'))).toEqual([false, true]);
    await rig.time.advance(900);
    rig.steady.dispose();
    row.push(...rig.queue('/3'));
    expect(row.map((one) => Object.hasOwn(one, 'continue'))).toEqual([false, false, false]);
    await rig.time.advance(100);
    set(false);
    set(true);
    await rig.time.advance(20_000);
    expect(rig.server.times('/3')).toEqual([5100]);
    expect(rig.server.times('/q')).toEqual([0, 5100]);
  });
});

describe('in a hidden tab', () => {
  test('each of a scope is sent when the one before has ended', async () => {
    const rig = createScopeRig();
    rig.queue('/1', '/2', '/3');
    rig.server.plan('/2', 503, { afterMs: 500 });
    await rig.time.advance(100);
    setVisible(false);
    await rig.time.advance(20_000);
    expect(rig.server.times('/2')).toEqual([5000, 5500]);
    expect(rig.server.times('/3')).toEqual([6000]);
  });

  test('also behind a plain one', async () => {
    const rig = createScopeRig();
    rig.queue('/first');
    await rig.time.advance(0);
    rig.server.plan('/plain', { afterMs: 500 });
    rig.queuePlain();
    rig.queue('/2');
    setVisible(false);
    await rig.time.advance(1000);
    expect(rig.server.times('/2')).toEqual([500]);
  });
});

describe('mutations of ours that come from a storage', () => {
  function createRestored() {
    const rig = createScopeRig();
    const mutationKey = ['order'];
    rig.client.setMutationDefaults(
      mutationKey,
      rig.steady.mutationOptions({ mutationKey, mutationFn: send }),
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

  test('are waited for when the network is back, and once they are queued not again', async () => {
    const rig = createRestored();
    showQuery(rig);
    await rig.time.advance(50);
    setOnline(false);
    rig.restore('/1', '/2');
    await rig.time.advance(50);
    setOnline(true);
    await rig.time.advance(1000);
    expect(rig.server.times('/1')).toEqual([100]);
    expect(rig.server.times('/q')).toEqual([0]);
    setVisible(false);
    setVisible(true);
    await rig.time.advance(0);
    expect(rig.server.times('/q')).toEqual([0, 1100]);
    await rig.time.advance(20_000);
    expect(rig.server.times('/2')).toEqual([5100]);
  });
});
