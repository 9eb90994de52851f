import type { Clock } from '../lib/clock.ts';
import { originOf } from '../lib/input/url.ts';
import { createAlarm } from '../lib/timer.ts';
import type { PausedAttempt } from '../operation/environment.ts';
import type { Operation } from '../operation/operation.ts';
import type { Pause } from '../origin/wait-queue.ts';

/** A write that had to wait: it is sent, or would be as soon as its origin lets it. */
interface WaitingWrite {
  readonly origin: string;
  /** Nothing but its turn keeps it back. */
  readonly isFree: () => boolean;
}

/** Says whether it is about to send writes to this origin that had to wait. */
type WriteSource = (origin: string) => boolean;

/** A read waits for no longer: what a user sees is not kept back by a server that does not answer. */
const longestMs = 5000;
/** Whether they are answered is looked at so often. */
const checkMs = 50;

/**
 * The writes that had to wait, and are not answered. Once the cause of their wait is gone they go first: a read that
 * overtakes them would show that what a user has done is undone.
 */
export class WaitingWrites {
  readonly #clock: Clock;
  readonly #writes: Set<WaitingWrite> = new Set();
  readonly #sources: Set<WriteSource> = new Set();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A write waits. @returns what says that it was answered, or is not sent. */
  begin(url: string, isFree: () => boolean): () => void {
    const write = { origin: originOf(url), isFree };
    this.#writes.add(write);
    return () => void this.#writes.delete(write);
  }

  /** What keeps writes elsewhere. @returns what removes it. */
  addSource(source: WriteSource): () => void {
    this.#sources.add(source);
    return () => void this.#sources.delete(source);
  }

  /** Whether a write to the origin of this operation goes before it. */
  isAheadOf({ route: { at } }: Operation): boolean {
    if (!at) return false;
    const origin = originOf(at.sent.url ?? '');
    for (const write of this.#writes) if (write.origin === origin && write.isFree()) return true;
    for (const source of this.#sources) if (source(origin)) return true;
    return false;
  }

  /** Whether any write waits, wherever it goes. */
  isAny(): boolean {
    return this.#writes.size + this.#sources.size > 0;
  }

  /** Waits until none goes before this operation, for a while at most. Its end is not told: look at its phase. */
  letGoFirst(operation: Operation): Promise<void> {
    return new Promise((resolve) => new Behind(this, this.#clock, operation, resolve).begin());
  }
}

/** A read that lets writes go first. */
class Behind implements PausedAttempt {
  readonly pause: Pause = { reason: 'queued', retryAt: undefined };
  readonly #writes: WaitingWrites;
  readonly #clock: Clock;
  readonly #operation: Operation;
  readonly #onEnd: () => void;
  #stop = (): void => {};

  constructor(writes: WaitingWrites, clock: Clock, operation: Operation, onEnd: () => void) {
    this.#writes = writes;
    this.#clock = clock;
    this.#operation = operation;
    this.#onEnd = onEnd;
  }

  begin(): void {
    const endAt = this.#clock.now() + longestMs;
    const setAlarm = createAlarm(this.#clock, () => {
      const now = this.#clock.now();
      if (now >= endAt || !this.#writes.isAheadOf(this.#operation)) this.go();
      else setAlarm(now + checkMs);
    });
    this.#stop = () => setAlarm(Infinity);
    setAlarm(this.#clock.now() + checkMs);
    this.#operation.pause(this);
  }

  go(): void {
    this.#end('sent');
  }
  renew(): void {}
  expire(): void {
    this.go();
  }
  drop(): void {
    this.#end('dropped');
  }

  #end(result: 'sent' | 'dropped'): void {
    if (!this.#operation.pauses.list.includes(this)) return;
    this.#stop();
    this.#operation.resume(this, result);
    this.#onEnd();
  }
}
