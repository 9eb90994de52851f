import { type Clock, maxTimerMs } from './clock.ts';

/** Sets the one timer of an alarm to a time, in epoch milliseconds. A new time replaces the old; `Infinity` is none. */
export type Alarm = (at: number) => void;

/** @param ring - Called at the time, or early for a time that is far away. It then sets the alarm again. */
export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let timer: unknown;
  let due = Infinity;
  return (at) => {
    if (at === due) return;
    clock.clearTimeout(timer);
    due = at;
    if (at === Infinity) return;
    timer = clock.setTimeout(
      () => {
        due = Infinity;
        ring();
      },
      // A timer cannot hold a longer wait: it rings early.
      Math.min(Math.max(0, at - clock.now()), maxTimerMs),
    );
  };
}
