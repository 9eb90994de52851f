import type { Clock } from '../../lib/clock.ts';
import { everything } from '../wait-queue.ts';
import { forgetMs, type OriginHealth } from './health.ts';

/** Finds out whether an origin answers at all, even if the page may not read its answers. */
export interface Reach {
  /** Whether it has answered a connectivity check after this time. */
  readonly wasReached: (sinceMs: number) => boolean;
  /** Sends one request, to which any answer counts. */
  readonly check: () => Promise<boolean>;
}

/**
 * Detects origins whose answers the page may not read. An outage in which `fetch` rejected every attempt means that
 * the server is gone, or that CORS hides its answers. One check finds out: once per outage, and at most once a minute
 * until something is answered.
 */
export class Unreadable {
  readonly #clock: Clock;
  readonly #health: OriginHealth;
  readonly #reach: Reach | undefined;
  readonly #onFound: () => void;
  /** When a check was answered during such an outage. */
  #foundAt = -Infinity;
  #checkedAt = -Infinity;
  #answeredAt = -Infinity;

  constructor(clock: Clock, health: OriginHealth, reach: Reach | undefined, onFound: () => void) {
    this.#clock = clock;
    this.#health = health;
    this.#reach = reach;
    this.#onFound = onFound;
  }

  /** Whether the origin answers, but the page may not read the answers of this endpoint. */
  has(endpoint: string): boolean {
    const isKnown = this.#clock.now() - this.#foundAt < forgetMs;
    return isKnown && (this.#health.of(endpoint)?.answeredSentAt ?? -Infinity) < this.#foundAt;
  }

  /** Records an answer that the page may read. */
  recordAnswer(): void {
    this.#answeredAt = this.#clock.now();
  }

  /** Records a failure. `isRejected`: `fetch` rejected, so there is no answer to read. */
  recordFailure(endpoint: string, sentAt: number, isRejected: boolean): void {
    if (!isRejected) {
      this.#foundAt = -Infinity;
      return;
    }
    const down = this.#health.down().find(({ scope }) => [everything, endpoint].includes(scope));
    if (!down?.isRejected) return;
    if (this.#reach?.wasReached(sentAt)) return this.#find();
    const now = this.#clock.now();
    const isRecent = now - this.#checkedAt < forgetMs && this.#answeredAt < this.#checkedAt;
    if (isRecent || this.#checkedAt >= (down.outage?.since ?? 0)) return;
    this.#checkedAt = now;
    void this.#reach?.check().then((isAnswered) => isAnswered && this.#find());
  }

  #find(): void {
    this.#foundAt = this.#clock.now();
    this.#onFound();
  }
}
