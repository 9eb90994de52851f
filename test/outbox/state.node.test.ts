import { expect, test } from 'vitest';
import { Refresh } from '../../src/outbox/state.ts';
import { createVirtualClock } from '../core/origin/virtual-clock.ts';
import { settle } from './rig.ts';

/** What is loaded takes until the test says so. */
function rig() {
  const clock = createVirtualClock();
  const ends: (() => void)[] = [];
  const refresh = new Refresh(clock, () => new Promise<void>((end) => void ends.push(end)));
  return {
    request: () => refresh.request(),
    dispose: () => refresh.dispose(),
    clock,
    loads: () => ends.length,
    async end() {
      ends.at(-1)?.();
      await settle();
    },
  };
}

test('what is asked for while it is loaded is loaded once more, ten times as long afterwards', async () => {
  const { request, clock, loads, end } = rig();
  request();
  request();
  expect(loads()).toBe(1);
  clock.advance(500);
  await end();
  clock.advance(4999);
  expect(loads()).toBe(1);
  clock.advance(1);
  expect(loads()).toBe(2);
});

test('what took a moment is not loaded again for 100 ms', async () => {
  const { request, clock, loads, end } = rig();
  request();
  await end();
  request();
  clock.advance(99);
  expect(loads()).toBe(1);
  clock.advance(1);
  expect(loads()).toBe(2);
});

test('a machine that slept for a night while it was loaded sees it again after 10 s', async () => {
  const { request, clock, loads, end } = rig();
  request();
  clock.sleep(8 * 3_600_000);
  await end();
  request();
  clock.advance(9999);
  expect(loads()).toBe(1);
  clock.advance(1);
  expect(loads()).toBe(2);
});

test('after its end it loads nothing, and leaves no timer', async () => {
  const { request, dispose, clock, loads, end } = rig();
  request();
  dispose();
  await end();
  request();
  expect(loads()).toBe(1);
  expect(clock.pending()).toBe(0);
});
