import type { Clock } from '../../src/index.ts';
import { createEventQueue, type SimEvent } from './event-queue.ts';
import { takeSteps } from './turns.ts';

/** A stretch of virtual time in which real, asynchronous code runs. */
export interface Simulation {
  /** Milliseconds since the start; not always whole. */
  readonly nowMs: () => number;
  readonly at: (atMs: number, run: () => void) => SimEvent;
  /** The clock of the code under test: an epoch of its own, whole milliseconds. */
  readonly clock: Clock;
  /** Runs everything that is due before a time. */
  readonly run: (untilMs: number) => Promise<void>;
}

/** 2024-01-01T00:00:00Z: as large as real times are, so that nothing works only near zero. */
const epochMs = 1_704_067_200_000;

export function createSimulation(): Simulation {
  const queue = createEventQueue();
  let nowMs = 0;
  let lastOrder = 0;

  const at: Simulation['at'] = (atMs, run) => {
    const event = { atMs: Math.max(atMs, nowMs), order: ++lastOrder, run };
    queue.add(event);
    return event;
  };

  return {
    nowMs: () => nowMs,
    at,
    clock: {
      now: () => epochMs + Math.floor(nowMs),
      // As timers are: no shorter than a millisecond, in whole ones.
      setTimeout: (callback, delayMs) => at(nowMs + Math.max(1, Math.trunc(delayMs)), callback),
      clearTimeout(handle) {
        if (handle) (handle as SimEvent).run = undefined;
      },
    },
    run: (untilMs) =>
      new Promise((resolve, reject) => {
        // All that follows from an event has happened, at its time, before the next one.
        takeSteps(() => {
          try {
            let event = queue.peek();
            while (event && !event.run) {
              queue.take();
              event = queue.peek();
            }
            if (!event || event.atMs >= untilMs) {
              nowMs = Math.max(nowMs, untilMs);
              resolve();
              return false;
            }
            queue.take();
            nowMs = event.atMs;
            event.run?.();
            return true;
          } catch (error) {
            reject(error);
            return false;
          }
        });
      }),
  };
}
