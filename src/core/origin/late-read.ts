import { discard } from '../lib/discard.ts';
import type { Clock } from '../lib/clock.ts';
import { type Alarm, startAlarm } from '../lib/timer.ts';

/** How long a read may be unanswered after it was given up. */
const mostMs = 50_000;

/** A read whose time limit is over, as it is under way. */
interface GivenUp {
  /** Its method and URL. */
  readonly name: string;
  /** Equal for the reads whose answers it may have. */
  readonly identity: string;
  readonly begun: Promise<Response>;
  /** Aborts it. */
  readonly wire: AbortController;
  /** Called when it has a good answer. */
  readonly onAnswer: () => void;
  /** Called when it takes no connection any more. */
  readonly onEnd: () => void;
}

/**
 * A read of a query that was given up because it is late, and not aborted. Its good answer is that of the next attempt,
 * and shows that the origin is slow, and not down.
 */
export class LateRead {
  readonly given: GivenUp;
  /** Resolves with its good answer, or with undefined if it ends without one. */
  readonly answer: Promise<Response | undefined>;
  /** Its good answer, once it has one. */
  response: Response | undefined;
  /** Those of its origin that are not over. */
  readonly #all: Set<LateRead>;
  readonly #setAlarm: Alarm;

  constructor(clock: Clock, all: Set<LateRead>, given: GivenUp) {
    this.given = given;
    this.#all = all;
    all.add(this);
    this.#setAlarm = startAlarm(clock, mostMs, () => this.abort());
    this.answer = new Promise((resolve) => {
      const receive = (response: Response): void => {
        // The transport may ignore that it was aborted.
        if (!response.ok || !all.has(this)) {
          discard(response);
          return this.abort();
        }
        this.response = response;
        this.#release();
        given.onAnswer();
        resolve(response);
      };
      given.wire.signal.addEventListener('abort', () => resolve(undefined));
      void given.begun.then(receive, () => this.abort());
    });
  }

  /** Whether its answer may still be used. */
  get isOpen(): boolean {
    return this.#all.has(this);
  }

  /** @returns its answer, once. */
  take(): Response | undefined {
    return this.response && this.#all.delete(this) ? this.response : undefined;
  }

  /** Aborts it, unless it is over. */
  abort(): void {
    if (!this.#all.delete(this)) return;
    this.#release();
    this.given.wire.abort();
  }

  #release(): void {
    this.#setAlarm(Infinity);
    this.given.onEnd();
  }
}
