import { expect, test, vi } from 'vitest';
import { createStore } from '../../../src/core/lib/store.ts';

test('a listener is called after every change, and not when nothing changed', () => {
  const store = createStore(1);
  const seen: number[] = [];
  store.subscribe(() => seen.push(store.getState()));
  store.set(2);
  store.set(2);
  store.set(3);
  expect(seen).toEqual([2, 3]);
});

test('NaN is the same as NaN, so nobody is told again', () => {
  const store = createStore(NaN);
  const listener = vi.fn<() => void>();
  store.subscribe(listener);
  store.set(NaN);
  expect(listener).not.toHaveBeenCalled();
});

test('a listener that unsubscribes is not called again, nor twice unsubscribed', () => {
  const store = createStore(0);
  const listener = vi.fn<() => void>();
  const stop = store.subscribe(listener);
  store.set(1);
  stop();
  stop();
  store.set(2);
  expect(listener).toHaveBeenCalledTimes(1);
});

test('a listener that unsubscribes itself and its neighbour disturbs none of the others', () => {
  const store = createStore(0);
  const called: string[] = [];
  const stopFirst = store.subscribe(() => {
    called.push('first');
    stopFirst();
    stopSecond();
  });
  const stopSecond = store.subscribe(() => called.push('second'));
  store.subscribe(() => called.push('third'));
  store.set(1);
  store.set(2);
  expect(called).toEqual(['first', 'third', 'third']);
});

test('a change made by a listener is seen by all, and the last state stands', () => {
  const store = createStore(0);
  const seen: number[] = [];
  store.subscribe(() => store.set(2));
  store.subscribe(() => seen.push(store.getState()));
  store.set(1);
  expect(store.getState()).toBe(2);
  expect(seen).toEqual([2, 2]);
});

test('a listener that throws keeps nobody else from being told, nor breaks who made the change', () => {
  const report = vi.fn<(error: unknown) => void>();
  vi.stubGlobal('reportError', report);
  const store = createStore(0);
  const listener = vi.fn<() => void>();
  const mistake = new Error('a mistake of a watcher');
  store.subscribe(() => {
    throw mistake;
  });
  store.subscribe(listener);
  expect(() => store.set(1)).not.toThrow();
  expect(listener).toHaveBeenCalledTimes(1);
  // It surfaces all the same.
  expect(report.mock.calls).toEqual([[mistake]]);
  vi.unstubAllGlobals();
});
