import { between, type Random } from '../lib/clock.ts';

/** Pacing ends this long after the last refusal. */
const forgetMs = 60_000;
/** The pause after the first refusal, and the first gap between requests. */
const firstPauseMs = 250;
/** The first gap when the refusal says how long to wait: the server's counter starts again after that. */
const firstGapAfterPauseMs = 100;
/** Each further pause without any change is longer by this factor, up to the maximum. */
const longerPause = 2;
const longestPauseMs = 15_000;
/**
 * The fifth pause is shorter, so that it ends when React Query would send its last retry: 7 s after the first
 * refusal.
 */
const fifthPauseMs = 3000;
/** Each answer shrinks the gap by this factor: fast while the rate is being found, slowly once it is known. */
const keptToFind = 0.8;
const keptToFollow = 0.99;
/** The pace never exceeds this multiple of the rate of answers since the pause. */
const mostAhead = 2;
/** One measurement grows the gap by at most this factor. */
const mostLonger = 2;
/** A shorter gap counts as none. */
const leastGapMs = 5;
/** Each gap varies by this share. */
const jitter = 0.25;
/** After a request of another tab, this one waits this many gaps, plus up to as many again. */
const turnsOfOthers = 3;
/** However busy the other tabs are, this tab sends one request within this time. */
const longestYieldMs = 30_000;

/** The message about the pace to other tabs: a request was sent or, if `pauseMs` is more than 0, refused. */
export interface TabPace {
  readonly gapMs: number;
  readonly pauseMs: number;
  readonly isFound: boolean;
}

/** The requests that were sent between two refusals. */
interface Round {
  readonly from: number;
  readonly forMs: number;
  readonly gapMs: number;
  readonly taken: number;
}

/**
 * The rate at which requests go to a server that has refused some for its rate limit.
 *
 * The number of requests that a server accepted between two refusals, divided by that time, is its rate,
 * whether it counts by a bucket, a window or what is in flight. From there the pace grows by a hundredth with
 * each answer, until the next refusal. A server that has refused nothing is not paced.
 */
export class Pace {
  /** The time between two requests, in milliseconds; 0 for no pacing. */
  gapMs = 0;
  /** The earliest time of the next request. */
  nextAt = 0;
  #refusedAt = -Infinity;
  /** When the gap was last set. */
  #setAt = -Infinity;
  #resumedAt = 0;
  #pauseMs = 0;
  /** How many requests were accepted since the last refusal. */
  #taken = 0;
  /** The start of that measurement, moved later by any time in which no request waited. */
  #sinceAt = 0;
  #round: Round | undefined;
  /** The rate is known: from here the pace only follows the answers. */
  #isFound = false;
  /** When this tab last sent a request. */
  #wentAt: number;

  readonly #sharedBy: number;

  /** @param sharedBy - How many endpoints were refused together: each alone would begin with a gap of its own. */
  constructor(now: number, sharedBy = 1) {
    this.#sharedBy = sharedBy;
    this.#wentAt = now;
  }

  /** Whether everything known about the rate is too old to use. */
  isOver(now: number): boolean {
    return now >= Math.max(this.#refusedAt, this.#setAt) + forgetMs;
  }

  /** The earliest time of any request after a refusal. */
  leastUntil(now: number): number {
    return now < this.#refusedAt + forgetMs ? this.nextAt : -Infinity;
  }

  /**
   * A request sent at `sentAt` was refused. @returns how long to wait, in milliseconds; 0 if the refusal adds
   * nothing new.
   */
  refuse(now: number, sentAt: number, retryAfterMs: number): number {
    // A request sent before the last refusal shows only that several were in flight.
    if (sentAt < this.#refusedAt) {
      if (this.gapMs === 0) this.#set(now, firstGapAfterPauseMs);
      return 0;
    }
    if (now >= this.#refusedAt + forgetMs) {
      this.#pauseMs = firstPauseMs;
      this.gapMs = retryAfterMs > 0 ? 0 : firstPauseMs / this.#sharedBy;
      this.#sinceAt = now;
      this.#round = undefined;
      this.#isFound = false;
    } else {
      const longerMs = longerPause * this.#pauseMs;
      const isFifth = longerMs === firstPauseMs * longerPause ** 4;
      this.#pauseMs = isFifth ? fifthPauseMs : Math.min(longestPauseMs, longerMs);
      this.#round = {
        from: this.#refusedAt,
        forMs: now - this.#sinceAt,
        gapMs: this.gapMs || firstPauseMs,
        taken: this.#taken,
      };
      this.#measure(now);
    }
    this.#refusedAt = now;
    this.#taken = 0;
    const pauseMs = Math.max(retryAfterMs, this.#pauseMs);
    this.#resumedAt = now + pauseMs;
    return pauseMs;
  }

  /** A request sent at `sentAt` was not refused. */
  accept(now: number, sentAt: number): void {
    const round = this.#round;
    if (sentAt < this.#refusedAt) {
      // A late answer belongs to the round before.
      if (!round || sentAt < round.from) return;
      this.#round = { ...round, taken: round.taken + 1 };
      return this.#measure(this.#refusedAt);
    }
    this.#taken++;
    if (now < this.#resumedAt) return;
    const kept = this.#isFound ? keptToFollow : keptToFind;
    const leastMs = (now - this.#resumedAt) / (mostAhead * this.#taken);
    const gapMs = Math.min(this.gapMs, Math.max(kept * this.gapMs, leastMs));
    this.gapMs = gapMs < leastGapMs ? 0 : gapMs;
  }

  /** The server reports its remaining quota: requests go without pacing. */
  release(): void {
    this.gapMs = 0;
    this.#isFound = false;
  }

  /** Several requests wait for the end of a pause: they must not go all at once. */
  spread(now: number, gapMs: number): void {
    if (this.gapMs > 0 && !this.isOver(now)) return;
    this.#set(now, gapMs);
    this.#isFound = true;
  }

  /** A request that was due at `dueAt` is sent. */
  spend(now: number, dueAt: number, random: Random): void {
    if (this.isOver(now)) this.gapMs = 0;
    // A late timer does not delay the next request.
    const from = now - dueAt < this.gapMs ? dueAt : now;
    // Time in which no request waited says nothing about the rate.
    this.#sinceAt += from - dueAt;
    this.#wentAt = now;
    this.nextAt = Math.round(from + this.gapMs * between(random, 1 - jitter, 1 + jitter));
  }

  /** The message about the pace for other tabs. */
  toMessage(pauseMs: number): TabPace {
    return { gapMs: this.gapMs, pauseMs, isFound: this.#isFound };
  }

  /** Another tab sent a request, or was refused. */
  receive(now: number, { gapMs, pauseMs, isFound }: TabPace, random: Random): void {
    if (gapMs > 0) {
      this.#set(now, gapMs);
      this.#isFound = isFound;
    }
    if (pauseMs > 0) {
      this.#refusedAt = this.#sinceAt = now;
      this.#resumedAt = now + pauseMs;
      this.#pauseMs = pauseMs;
      this.#taken = 0;
      this.#round = undefined;
    } else this.accept(now, now);
    if (this.gapMs > 0) this.yield(now, pauseMs, random);
  }

  /** Lets another tab go first, after a pause of `pauseMs`. */
  yield(now: number, pauseMs: number, random: Random): void {
    if (this.gapMs === 0) this.#set(now, firstGapAfterPauseMs);
    const gapMs = pauseMs > 0 ? Math.max(this.gapMs, firstPauseMs) : this.gapMs;
    const nextAt = now + pauseMs + gapMs * between(random, 1, 1 + turnsOfOthers);
    this.nextAt = Math.min(Math.round(nextAt), this.#wentAt + longestYieldMs);
  }

  #set(now: number, gapMs: number): void {
    this.gapMs = gapMs;
    this.#setAt = now;
  }

  #measure(at: number): void {
    const { forMs, gapMs, taken } = this.#round as Round;
    if (taken === 0) return;
    this.#isFound = true;
    this.#sinceAt = Math.max(this.#sinceAt, at);
    this.gapMs = this.#pauseMs = Math.min(forMs / taken, mostLonger * gapMs);
  }
}
