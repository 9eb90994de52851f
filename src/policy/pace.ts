import { between, type Random } from '../lib/clock.ts';

/** After so long without a refusal nothing is paced. */
const forgetMs = 60_000;
/** The pause after the first refusal, and how far apart requests go after it. */
const firstPauseMs = 250;
/** The same where the refusal says how long to wait: its server counts again from there. */
const firstGapAfterPauseMs = 100;
/** A pause in which nothing has changed is followed by one that is longer by this factor, up to this. */
const longerPause = 2;
const longestPauseMs = 15_000;
/** The fifth one is this: so it ends when React Query would ask for the last time, 7 s after the first refusal. */
const fifthPauseMs = 3000;
/** Each answer makes the gap shorter: to find the rate at first, and to follow it later. */
const keptToFind = 0.8;
const keptToFollow = 0.99;
/** Never more than so many times as fast as answers have come since the pause. */
const mostAhead = 2;
/** One measurement makes the gap longer by no more than this factor. */
const mostLonger = 2;
/** A gap that is shorter is none. */
const leastGapMs = 5;
/** Requests go so much earlier or later than the gap says. */
const jitter = 0.25;
/** After a request of another tab this one lets so many gaps pass, and up to so many more. */
const turnsOfOthers = 3;
/** However busy other tabs are, one request of this tab goes within so long. */
const longestYieldMs = 30_000;

/** What one tab tells the others: one of its requests has gone or, where `pauseMs` is more than 0, was refused. */
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
 * How fast requests go to a server that has refused some for its rate limit.
 *
 * Between two refusals a server has taken as many as it does, so their number and that time are its rate,
 * however it counts: by a bucket, a window, or what is under way. From there the pace grows by a hundredth
 * with each answer, until the next refusal. A server that has refused nothing is not paced.
 */
export class Pace {
  /** How far apart requests go; 0: as they come. */
  gapMs = 0;
  /** The next one goes no earlier. */
  nextAt = 0;
  #refusedAt = -Infinity;
  /** When the gap was set last. */
  #setAt = -Infinity;
  #resumedAt = 0;
  #pauseMs = 0;
  /** How many were taken since the last refusal. */
  #taken = 0;
  /** Since when that is measured, later by the time in which nothing waited. */
  #sinceAt = 0;
  #round: Round | undefined;
  /** From here the pace only follows the answers. */
  #isFound = false;
  /** When one of this tab went. */
  #wentAt: number;

  constructor(now: number) {
    this.#wentAt = now;
  }

  /** Nothing is known that still holds. */
  isOver(now: number): boolean {
    return now >= Math.max(this.#refusedAt, this.#setAt) + forgetMs;
  }

  /** No request goes before this, after a refusal. */
  leastUntil(now: number): number {
    return now < this.#refusedAt + forgetMs ? this.nextAt : -Infinity;
  }

  /** A request that was sent then is refused. @returns how long to wait, in milliseconds; 0 where that is known. */
  refuse(now: number, sentAt: number, retryAfterMs: number): number {
    // A request that was sent before the last refusal came shows only that several were sent at once.
    if (sentAt < this.#refusedAt) {
      if (this.gapMs === 0) this.#set(now, firstGapAfterPauseMs);
      return 0;
    }
    if (now >= this.#refusedAt + forgetMs) {
      this.#pauseMs = firstPauseMs;
      this.gapMs = retryAfterMs > 0 ? 0 : firstPauseMs;
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

  /** A request that was sent then is answered, and not refused. */
  accept(now: number, sentAt: number): void {
    const round = this.#round;
    if (sentAt < this.#refusedAt) {
      // An answer that comes late belongs to the time before.
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

  /** So many are left, as the server says: requests go as they come. */
  release(): void {
    this.gapMs = 0;
    this.#isFound = false;
  }

  /** Several wait for the end of a pause: they do not go at once. */
  spread(now: number, gapMs: number): void {
    if (this.gapMs > 0 && !this.isOver(now)) return;
    this.#set(now, gapMs);
    this.#isFound = true;
  }

  /** One goes, that might have gone at `dueAt`. */
  spend(now: number, dueAt: number, random: Random): void {
    if (this.isOver(now)) this.gapMs = 0;
    // A timer that is late makes the next one no later.
    const from = now - dueAt < this.gapMs ? dueAt : now;
    // Where none waited for its turn, the time says nothing of how many are taken.
    this.#sinceAt += from - dueAt;
    this.#wentAt = now;
    this.nextAt = Math.round(from + this.gapMs * between(random, 1 - jitter, 1 + jitter));
  }

  /** The message about it for other tabs. */
  told(pauseMs: number): TabPace {
    return { gapMs: this.gapMs, pauseMs, isFound: this.#isFound };
  }

  /** Another tab has sent one, or was refused one. */
  hear(now: number, { gapMs, pauseMs, isFound }: TabPace, random: Random): void {
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

  /** Another tab goes first, after so long. */
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
