import { backoffDelay, type BackoffType, type Random } from '../../src/index.ts';
import { createEventQueue } from '../engine/event-queue.ts';

/** What AWS's experiment counts. */
export interface Contention {
  /** Writes that were tried. */
  readonly calls: number;
  /** When the last client was done. */
  readonly timeMs: number;
}

/** backoffDelay rounds down to whole units: with waits from 5 ms on, they must be smaller than one. */
const unitsPerMs = 1000;
const base = 5 * unitsPerMs;
const cap = 2000 * unitsPerMs;

/** The first wait of AWS's formula doubles its base already; a decorrelated one starts from it. */
const first = (backoff: BackoffType): number => (backoff === 'decorrelated' ? base : 2 * base);

/** The time of one way between a client and the server: |N(10, 2)| ms (Box and Muller, 1958). */
function hopMs(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return Math.abs(10 + 2 * radius * Math.cos(2 * Math.PI * random()));
}

/**
 * M. Brooker's experiment ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015): clients
 * that all start at once, and each want to write one row under an optimistic lock: read its version, write
 * with it, and start again after a wait if somebody else has written meanwhile. `undefined` does
 * not wait. The waits are Steadfetch's own.
 */
export function contend(
  clients: number,
  backoff: BackoffType | undefined,
  random: Random,
): Contention {
  const queue = createEventQueue();
  let order = 0;
  let nowMs = 0;
  let version = 0;
  let calls = 0;
  const after = (delayMs: number, run: () => void): void =>
    queue.add({ atMs: nowMs + delayMs, order: ++order, run });
  const hop = (run: () => void): void => after(hopMs(random), run);

  const tryToWrite = (retry: number, previous: number | undefined): void => {
    hop(() => {
      const read = version;
      hop(() => {
        calls++;
        hop(() => {
          const isWritten = version === read;
          if (isWritten) version++;
          hop(() => {
            if (isWritten) return;
            if (!backoff) return tryToWrite(1, undefined);
            // AWS caps a decorrelated wait after the draw, where ours caps its range: outside, then.
            const capMs = backoff === 'decorrelated' ? Infinity : cap;
            const input = { backoff, baseMs: first(backoff), factor: 2, capMs, retry };
            const drawn = backoffDelay({ ...input, previousBackoffMs: previous }, random);
            const delay = Math.min(cap, drawn);
            after(delay / unitsPerMs, () => tryToWrite(retry + 1, delay));
          });
        });
      });
    });
  };

  for (let client = 0; client < clients; client++) tryToWrite(1, undefined);
  for (let event = queue.take(); event; event = queue.take()) {
    nowMs = event.atMs;
    event.run?.();
  }
  return { calls, timeMs: nowMs };
}
