import type { Clock } from '../../src/index.ts';
import { createEventQueue, type SimEvent } from './event-queue.ts';

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

/** How many events one turn of Node's event loop runs; each is followed by its microtasks. */
const eventsPerTurn = 256;

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
        let isOver = false;
        const step = (): void => {
          if (isOver) return;
          try {
            let event = queue.peek();
            while (event && !event.run) {
              queue.take();
              event = queue.peek();
            }
            if (!event || event.atMs >= untilMs) {
              isOver = true;
              nowMs = Math.max(nowMs, untilMs);
              resolve();
              return;
            }
            queue.take();
            nowMs = event.atMs;
            event.run?.();
          } catch (error) {
            isOver = true;
            reject(error);
          }
        };
        // Node empties its queue of microtasks between two immediates: so all that follows from an
        // event has happened, at its time, before the next one.
        const turn = (): void => {
          if (isOver) return;
          for (let i = 0; i < eventsPerTurn; i++) setImmediate(step);
          setImmediate(turn);
        };
        turn();
      }),
  };
}
