import type { Clock } from '../../lib/clock.ts';
import { originOf } from '../../lib/input/url.ts';
import type { Operation } from '../../operation/operation.ts';
import { createAlarm } from '../../lib/timer.ts';
import type { PausedAttempt, Waiting } from '../../operation/environment.ts';

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

/** Whether writes that had to wait are about to be sent to this origin, or are under way. */
type WriteSource = (origin: string) => boolean;

/** The longest wait of a read, so that a server that does not answer cannot keep the screen from loading. */
const longestMs = 5000;

/**
 * The writes that had to wait, and are not answered yet. They go before reads, because a read that overtakes them would
 * show the user the state before the change.
 */
export class WaitingWrites {
  readonly #clock: Clock;
  readonly #sources: Set<WriteSource> = new Set();
  /** The operations that have waited for the longest time already. */
  readonly #passed: WeakSet<Operation> = new WeakSet();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds a source of writes. @returns a function that removes it, when its writes are answered or are not sent. */
  addSource(source: WriteSource): () => void {
    this.#sources.add(source);
    return () => void this.#sources.delete(source);
  }

  /** Whether a write to its origin goes before this operation. */
  isAheadOf(operation: Operation): boolean {
    const { at } = operation.route;
    if (!at || this.#passed.has(operation)) return false;
    const origin = originOf(at.url ?? '');
    for (const source of this.#sources) if (source(origin)) return true;
    return false;
  }

  /** Whether any write waits, wherever it goes. */
  isAny(): boolean {
    return this.#sources.size > 0;
  }

  /**
   * Waits until no write goes before this operation, once, and only for a while. @returns false if the time was up. If the
   * operation was dropped, its phase says so.
   */
  async letGoFirst(operation: Operation): Promise<boolean> {
    const isBehind = (): boolean => this.isAheadOf(operation);
    const endAt = this.#clock.now() + longestMs;
    const end = await letGoFirst(this.#clock, operation, isBehind, endAt, false);
    if (end === 'expired') this.#passed.add(operation);
    return end !== 'expired';
  }
}
