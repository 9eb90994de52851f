import { type Clock, maxTimerMs } from './clock.ts';

/** One timer for whatever comes next; set anew, it forgets the time before. */
export type Alarm = (at: number) => void;

/** @param ring may be called early: then there is nothing to do yet, and it sets the alarm again. */
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
      // A longer wait than a timer holds is looked at again, and goes on.
      Math.min(Math.max(0, at - clock.now()), maxTimerMs),
    );
  };
}
