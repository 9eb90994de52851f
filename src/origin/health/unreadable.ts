import type { Clock } from '../../lib/clock.ts';
import { everything } from '../wait-queue.ts';
import { forgetMs, type OriginHealth } from './health.ts';

/** How to find out whether an origin answers at all, also where its answers may not be read. */
export interface Reach {
  /** A connectivity check was answered by it after this time. */
  readonly wasReached: (sinceMs: number) => boolean;
  /** Asks it once for any answer. */
  readonly ask: () => Promise<boolean>;
}

/**
 * Finds origins whose answers the page may not read. In an outage in which every attempt was rejected, the
 * server is gone, or is one of these: so it is asked for any answer, once for an outage, and once a minute where
 * nothing has been answered since.
 */
export class Unreadable {
  readonly #clock: Clock;
  readonly #health: OriginHealth;
  readonly #reach: Reach | undefined;
  readonly #onFound: () => void;
  /** When it was found to answer although the page may not read it. */
  #foundAt = -Infinity;
  #askedAt = -Infinity;
  #answeredAt = -Infinity;

  constructor(clock: Clock, health: OriginHealth, reach: Reach | undefined, onFound: () => void) {
    this.#clock = clock;
    this.#health = health;
    this.#reach = reach;
    this.#onFound = onFound;
  }

  /** The origin answers, and this endpoint only with what the page may not read, as far as is known. */
  has(endpoint: string): boolean {
    const isKnown = this.#clock.now() - this.#foundAt < forgetMs;
    return isKnown && this.#health.answeredSentAt(endpoint) < this.#foundAt;
  }

  /** An attempt has had an answer that the page may read. */
  recordAnswer(): void {
    this.#answeredAt = this.#clock.now();
  }

  /** An attempt has failed: it was rejected, or not. */
  recordFailure(endpoint: string, sentAt: number, isRejected: boolean): void {
    if (!isRejected) this.#foundAt = -Infinity;
    const down = this.#health.down().find(({ scope }) => [everything, endpoint].includes(scope));
    if (!isRejected || !down?.isRejected) return;
    if (this.#reach?.wasReached(sentAt)) return this.#find();
    const { downSince = 0 } = down;
    const now = this.#clock.now();
    const isAskedNow = now - this.#askedAt < forgetMs && this.#answeredAt < this.#askedAt;
    if (this.#askedAt >= downSince || isAskedNow) return;
    this.#askedAt = now;
    void this.#reach?.ask().then((isAnswered) => isAnswered && this.#find());
  }

  #find(): void {
    this.#foundAt = this.#clock.now();
    this.#onFound();
  }
}
