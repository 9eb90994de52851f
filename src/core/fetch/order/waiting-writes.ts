import type { Clock } from '../../lib/clock.ts';
import { originOf } from '../../lib/input/url.ts';
import type { Operation } from '../../operation/operation.ts';
import { letGoFirst } from './let-go-first.ts';

/** Says whether it is about to send writes to this origin that had to wait, or has sent them. */
type WriteSource = (origin: string) => boolean;

/** A read waits for no longer: what a user sees is not kept back by a server that does not answer. */
const longestMs = 5000;

/**
 * The writes that had to wait, and are not answered. Once the cause of their wait is gone they go first: a read that
 * overtakes them would show that what a user has done is undone.
 */
export class WaitingWrites {
  readonly #clock: Clock;
  readonly #sources: Set<WriteSource> = new Set();
  /** They have waited long enough. */
  readonly #passed: WeakSet<Operation> = new WeakSet();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Writes wait there. @returns what says that they were answered, or are not sent. */
  addSource(source: WriteSource): () => void {
    this.#sources.add(source);
    return () => void this.#sources.delete(source);
  }

  /** Whether a write to the origin of this operation goes before it. */
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
   * Waits until none goes before this operation, for a while at most, and once. @returns whether that was worth it.
   * Any other end is read from its phase.
   */
  async letGoFirst(operation: Operation): Promise<boolean> {
    const isBehind = (): boolean => this.isAheadOf(operation);
    const endAt = this.#clock.now() + longestMs;
    const end = await letGoFirst(this.#clock, operation, isBehind, endAt, false);
    if (end === 'expired') this.#passed.add(operation);
    return end !== 'expired';
  }
}
