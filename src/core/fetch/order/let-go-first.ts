import type { Clock } from '../../lib/clock.ts';
import { createAlarm } from '../../lib/timer.ts';
import type { PausedAttempt, Waiting } from '../../operation/environment.ts';
import type { Operation } from '../../operation/operation.ts';

/** How often it is checked whether the others have gone. */
const checkMs = 50;

/** How such a wait ended: it may be sent, its time was up, or it is no longer wanted. */
type WaitEnd = 'sent' | 'expired' | 'dropped';

/**
 * Waits while others go first, at most until `endAt`, and shows the wait on its operation.
 *
 * @param isFirm - "Try now" does not end the wait, because going first would do harm.
 * @param waits - The waits of the instance, which end with it.
 */
export function letGoFirst(
  clock: Clock,
  operation: Operation,
  isBehind: () => boolean,
  endAt: number,
  isFirm: boolean,
  waits?: Set<Waiting>,
): Promise<WaitEnd> {
  return new Promise((resolve) => {
    const end = (result: WaitEnd): void => {
      if (!operation.pauses.list.includes(paused)) return;
      setAlarm(Infinity);
      waits?.delete(paused);
      operation.resume(paused, result);
      resolve(result);
    };
    const paused: PausedAttempt = {
      pause: { reason: 'queued', retryAt: undefined },
      go: () => !isFirm && end('sent'),
      renew() {},
      expire: () => end('expired'),
      drop: () => end('dropped'),
    };
    const check = (): void => {
      const now = clock.now();
      if (!isBehind()) end('sent');
      else if (now >= endAt) end('expired');
      else setAlarm(now + checkMs);
    };
    const setAlarm = createAlarm(clock, check);
    waits?.add(paused);
    operation.pause(paused);
    check();
  });
}
