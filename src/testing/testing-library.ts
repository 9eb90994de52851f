import { type FakeTimers, stepToNextTimer, watchTimers } from './fake-timers.ts';

/**
 * How often Testing Library must ask for time before it passes, once something has happened. Each
 * time it asks, one turn of the event loop has gone by (in React's `act`): this is twice what a
 * request that MSW answers takes.
 */
const patience = 4;

/**
 * Makes `findBy*`, `waitFor` and user-event work on virtual time. They know fake timers only by the
 * global `jest`, and without it hang for ever.
 *
 * They advance in steps of 50 ms, and wait neither for promises nor for requests in between: what
 * was due in the middle of a step would find a later time. So time passes here only when nothing
 * has happened lately (the number of timers is the sign), and never beyond the next timer.
 *
 * @returns what takes it away again.
 */
export function installJest(vi: FakeTimers): () => void {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'jest');
  const haveTimersChanged = watchTimers(vi);
  let pauses = patience;

  const advanceTimersByTime = (ms: number): void => {
    // A `waitFor` that begins is a change as well: its timeout is one more timer.
    if (haveTimersChanged()) pauses = patience;
    if (pauses > 0) {
      pauses -= 1;
      vi.advanceTimersByTime(0);
    } else {
      stepToNextTimer(vi, ms);
    }
    if (haveTimersChanged()) pauses = patience;
  };

  Object.defineProperty(globalThis, 'jest', {
    value: { advanceTimersByTime },
    configurable: true,
    writable: true,
  });
  return () => {
    if (before) Object.defineProperty(globalThis, 'jest', before);
    else Reflect.deleteProperty(globalThis, 'jest');
  };
}
