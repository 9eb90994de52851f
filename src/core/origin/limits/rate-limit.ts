import type { Random } from '../../lib/clock.ts';
import { Pace } from '../../policy/pace.ts';

/** Messages of other tabs can extend a pause by this at most. */
const adviceMs = 14_000;
/** Refused attempts are sent within this share of the pause after its end, and at most `latestMs` after it. */
const lateShare = 0.1;
const latestMs = 30_000;
/** Attempts that waited for the end of a pause are sent within `spreadMs` after it, with a gap between these two. */
const spreadMs = 1000;
const longestGapMs = 400;
const shortestGapMs = 20;

/** The limit of one scope: a pause, the rest of a window, and the learned pace. */
export class RateLimit {
  pausedUntil: number = -Infinity;
  /** The end of the pause as the server gave it, without the jitter that spreads requests after it. */
  leastUntil: number = -Infinity;
  remaining: number = Infinity;
  resetAt: number = -Infinity;
  /** The failure that has paused it; undefined where another tab has told of it. */
  cause: unknown;
  readonly pace: Pace;
  /** The only URL that it was told to; undefined where it was told to several, or to none. */
  only: string | undefined;
  #isOfAll = false;
  /** A request to another URL is to show whether the pause holds there, too, or has shown that it does not. */
  #trial: 'under way' | 'accepted' | undefined;
  #pausedAt = 0;
  #sentAt = -Infinity;
  /** When the first of the recent messages of other tabs arrived. */
  #advisedAt = -Infinity;
  readonly #shareOf: () => number;

  /** @param shareOf - The random place of this tab in the time after a pause, so that tabs do not send together. */
  constructor(now: number, shareOf: () => number, sharedBy?: number) {
    this.pace = new Pace(now, sharedBy);
    this.#shareOf = shareOf;
  }

  /** When the next request may be sent. */
  dueAt(): number {
    return Math.max(this.pausedUntil, this.pace.nextAt);
  }

  /** Whether a pause or a window is still in force. */
  holds(now: number): boolean {
    return now < Math.max(this.pausedUntil, this.resetAt);
  }

  /** Whether it no longer has any effect. */
  isOver(now: number): boolean {
    const paused = this.pausedUntil + spreadMs;
    const advised = this.#advisedAt + 2 * adviceMs;
    return now >= Math.max(paused, advised, this.resetAt) && this.pace.isOver(now);
  }

  /** Whether other URLs pass, because the pause was told to one alone: one of them is tried first. */
  get isOfOne(): boolean {
    return this.only !== undefined && this.#trial !== 'under way';
  }

  /** @param resource - The one URL that it is told to. @default all of its scope */
  pause(now: number, ms: number, cause?: unknown, resource?: string): void {
    this.only ??= resource;
    this.#isOfAll ||= resource === undefined || resource !== this.only;
    if (this.#isOfAll) this.only = undefined;
    this.#trial = undefined;
    this.cause = cause ?? this.cause;
    const lateMs = Math.min(ms * lateShare, latestMs) * this.#shareOf();
    this.#pausedAt = now;
    this.leastUntil = Math.max(this.leastUntil, now + ms);
    this.pausedUntil = Math.max(this.pausedUntil, now + Math.round(ms + lateMs));
  }

  /** Records an answer, other than a refusal, to a request sent at `sentAt`. */
  accept(now: number, sentAt: number, resource?: string): void {
    this.pace.accept(now, sentAt);
    if (sentAt <= this.#pausedAt) return;
    // A request that a user forced during the pause was accepted, so the pause is over.
    if (this.only === undefined || resource === this.only)
      this.pausedUntil = this.leastUntil = -Infinity;
    else this.#trial = 'accepted';
  }

  /** Records how many requests the window has left. Within a window the number only falls: answers may overtake. */
  allow(now: number, remaining: number, resetInMs: number): void {
    const isSameWindow = now < this.resetAt && now + resetInMs <= this.resetAt + 1000;
    this.remaining = isSameWindow ? Math.min(this.remaining, remaining) : remaining;
    this.resetAt = now + resetInMs;
    this.#pauseAtNone(now);
  }

  /** Counts a request that this tab or another one has sent. */
  take(now: number): void {
    if (now >= this.resetAt) this.remaining = Infinity;
    this.remaining--;
    this.#pauseAtNone(now);
  }

  /** Counts a request of this tab. If it is the first after a pause, the waiting ones are spread over time. */
  spend(now: number, countWaiting: () => number, random: Random): void {
    const waiting = this.pausedUntil > this.#sentAt ? countWaiting() : 0;
    if (waiting > 0) {
      const gapMs = spreadMs / (waiting + 1);
      this.pace.spread(now, Math.min(longestGapMs, Math.max(shortestGapMs, gapMs)));
    }
    this.#sentAt = now;
    if (this.holds(now)) this.#trial ??= 'under way';
    const dueAt = Math.min(now, this.dueAt());
    this.take(now);
    this.pace.spend(now, dueAt, random);
  }

  /** How much of a duration from another tab is trusted. */
  adviceFor(now: number, ms: number): number {
    if (now >= this.#advisedAt + 2 * adviceMs) this.#advisedAt = now;
    return Math.max(0, Math.min(ms, this.#advisedAt + adviceMs - now));
  }

  #pauseAtNone(now: number): void {
    if (this.remaining <= 0) this.pause(now, this.resetAt - now);
  }
}
