import type { Clock } from '../../../lib/clock.ts';
import { type LimitContext, TimeLimit } from '../../../lib/timer.ts';

/** Receives the progress of a request before its headers. */
export interface Progress {
  /** A part of it was sent: the limit for its headers starts anew. */
  readonly recordProgress: () => void;
}

/** The time limit of an attempt. It limits silence, never work: only time in which the server owes something counts. */
export class Silence implements Progress {
  /** The time limit for its headers, in milliseconds. */
  headersMs: number;
  /** The longest silence within its body, in milliseconds. */
  idleMs: number;
  readonly #clock: Clock;
  readonly #limit: TimeLimit;
  readonly #onEnd: () => void;
  /** Awaited while no body is read: the headers, or a reader of the body. */
  #awaited: 'nothing' | 'headers' | 'reader' = 'nothing';
  /** How many reads of its body are under way. */
  #reads = 0;
  /** Since when the server, or a reader, is awaited, in epoch milliseconds. */
  #since = 0;
  /** When the request was handed to its transport, or a part of it or of its answer last moved. */
  #movedAt = 0;

  /**
   * @param onEnd - Called after too long a silence.
   * @param slept - Receives the time that the device slept, which does not count.
   */
  constructor(
    context: LimitContext,
    headersMs: number,
    idleMs: number,
    onEnd: () => void,
    slept: ConstructorParameters<typeof TimeLimit>[2],
  ) {
    this.headersMs = headersMs;
    this.idleMs = idleMs;
    this.#clock = context.clock;
    this.#limit = new TimeLimit(context, this, slept);
    this.#onEnd = onEnd;
  }

  /** Its limit starts now, because the request has a connection. */
  awaitHeaders(): void {
    this.#await('headers');
  }

  /** Its limit counts from when the request was sent, because that never had to wait. */
  awaitHeadersSinceSent(): void {
    this.#await('headers', 0);
  }

  /** It waits for a connection, or its headers have come. */
  awaitNothing(): void {
    this.#await('nothing');
  }

  /** The rest of the body waits for a reader. */
  awaitReader(): void {
    this.#await('reader');
  }

  /** Changes the limit for its headers. */
  setHeadersLimit(headersMs: number): void {
    this.headersMs = headersMs;
    if (this.#awaited === 'headers') this.#restart(this.#since);
  }

  /** Lengthens the limit for its headers. @returns whether it did: they are awaited, and had less time. */
  extendHeaders(headersMs: number): boolean {
    if (this.#awaited !== 'headers' || headersMs <= this.headersMs) return false;
    this.setHeadersLimit(headersMs);
    return true;
  }

  /** Lets the body be silent for any time. */
  allowQuiet(): void {
    this.idleMs = Infinity;
  }

  recordProgress(): void {
    this.#movedAt = this.#clock.now();
  }

  /** @returns whether no other read is under way. */
  beginRead(): boolean {
    if (this.#reads++ > 0) return false;
    this.#restart();
    return true;
  }

  endRead(): void {
    if (--this.#reads === 0) this.#restart();
  }

  /** Ends it: nothing more is awaited. */
  end(): void {
    this.#awaited = 'nothing';
    this.#limit.stop();
  }

  /** Called by its timer. There may have been progress since that was set. */
  expire(): void {
    const now = this.#clock.now();
    const leftMs = this.#leftMs(now);
    if (leftMs > 0) this.#limit.restart(leftMs, now);
    else this.#onEnd();
  }

  #await(awaited: 'nothing' | 'headers' | 'reader', since?: number): void {
    this.#awaited = awaited;
    this.#restart(since);
  }

  /** @param since - Since when it counts. @default now */
  #restart(since?: number): void {
    const now = this.#clock.now();
    this.#since = since ?? now;
    this.#limit.restart(Math.max(0, this.#leftMs(now)), now);
  }

  #leftMs(now: number): number {
    const isBody = this.#reads > 0 || this.#awaited === 'reader';
    const limitMs = this.#awaited === 'headers' ? this.headersMs : isBody ? this.idleMs : Infinity;
    return Math.max(this.#since, this.#movedAt) + limitMs - now;
  }
}
