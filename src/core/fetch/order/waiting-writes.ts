import type { Clock } from '../../lib/clock.ts';
import { originOf } from '../../lib/input/url.ts';
import type { Operation } from '../../operation/operation.ts';
import { letGoFirst } from './let-go-first.ts';

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
    const origin = originOf(at.sent.url ?? '');
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
