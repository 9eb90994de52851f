import { beforeEach, expect, test, vi } from 'vitest';
import { letGoFirst } from '../../../src/core/fetch/order/waiting-writes.ts';
import { systemClock } from '../../../src/core/lib/clock.ts';
import type { PausedAttempt } from '../../../src/core/operation/environment.ts';
import type { Operation } from '../../../src/core/operation/operation.ts';
import { Pauses } from '../../../src/core/operation/parts/pauses.ts';
import { fakeTime, observe } from './observe.ts';

beforeEach(fakeTime);

/** An attempt that waits for a second for others to go first, and what a press on Try now does. */
function waitFor(isFirm: boolean) {
  const pauses = new Pauses();
  const shown: string[] = [];
  const operation = {
    pauses,
    pause(paused: PausedAttempt) {
      pauses.add(paused, Date.now());
      shown.push(paused.pause.reason);
    },
    resume(paused: PausedAttempt, result: string) {
      pauses.remove(paused, Date.now());
      shown.push(result);
    },
  } as unknown as Operation;
  const end = observe(letGoFirst(systemClock, operation, () => true, Date.now() + 1000, isFirm));
  return { end, shown, press: () => pauses.each('go') };
}

test('Try now ends the wait of a read behind writes, and shows that it is sent', async () => {
  const { end, shown, press } = waitFor(false);
  press();
  await vi.advanceTimersByTimeAsync(0);
  expect([end.value, shown]).toEqual(['sent', ['queued', 'sent']]);
});

test('Try now does not end the wait of a write that would undo another one, and prolongs it by nothing', async () => {
  const { end, shown, press } = waitFor(true);
  await vi.advanceTimersByTimeAsync(900);
  press();
  await vi.advanceTimersByTimeAsync(99);
  expect([end.state, shown]).toEqual(['pending', ['queued']]);
  await vi.advanceTimersByTimeAsync(1);
  expect([end.value, shown]).toEqual(['expired', ['queued', 'expired']]);
});
