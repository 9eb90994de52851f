import { virtualTime, type VirtualTime } from 'steadfetch/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createWaits } from '../../src/testing/waits.ts';

let time: VirtualTime;
beforeEach(() => {
  time = virtualTime(vi);
});
afterEach(() => time.restore());

/** A signal, and how many listeners it has. */
function countedSignal() {
  const controller = new AbortController();
  const { signal } = controller;
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  return {
    controller,
    signal,
    listenerCount: () => added.mock.calls.length - removed.mock.calls.length,
  };
}

test('a wait without a delay sets no timer', () => {
  void createWaits().wait(new AbortController().signal);
  expect(vi.getTimerCount()).toBe(0);
});

test('nothing is left of a wait that is over, aborted or ended', async () => {
  const waits = createWaits();
  const [over, aborted, ended] = [countedSignal(), countedSignal(), countedSignal()];

  const first = waits.wait(over.signal, 100);
  expect(over.listenerCount()).toBe(1);
  expect(vi.getTimerCount()).toBe(1);
  await time.advance(100);
  expect(await first).toBe(true);

  const second = waits.wait(aborted.signal, 100);
  aborted.controller.abort();
  expect(await second).toBe(false);

  const third = waits.wait(ended.signal, 100);
  waits.endAll();
  expect(await third).toBe(false);

  expect([over, aborted, ended].map(({ listenerCount }) => listenerCount())).toEqual([0, 0, 0]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a request that was aborted before does not wait', async () => {
  expect(await createWaits().wait(AbortSignal.abort(), 100)).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});
