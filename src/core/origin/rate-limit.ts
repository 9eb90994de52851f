import type { Clock, Random } from '../lib/clock.ts';
import { Pace, type TabPace } from '../policy/pace.ts';
import type { TabMessage } from '../tabs/leader.ts';

/** Messages of other tabs can extend a pause by this at most. */
const adviceMs = 14_000;
/** Refused attempts are sent within this share of the pause after its end, and at most `latestMs` after it. */
const lateShare = 0.1;
const latestMs = 30_000;
/** Attempts that waited for the end of a pause are sent within `spreadMs` after it, with a gap between these two. */
const spreadMs = 1000;
const longestGapMs = 400;
const shortestGapMs = 20;

/** A future time as it is; `-Infinity` for a past one. */
const ahead = (at: number, now: number): number => (now < at ? at : -Infinity);

/** The limit of one scope: a pause, the rest of a window, and the learned pace. */
class RateLimit {
  pausedUntil: number = -Infinity;
  /** The end of the pause as the server gave it, without the jitter that spreads requests after it. */
  leastUntil: number = -Infinity;
  remaining: number = Infinity;
  resetAt: number = -Infinity;
  /** The failure that has paused it; undefined where another tab has told of it. */
  cause: unknown;
  readonly pace: Pace;
  #pausedAt = -Infinity;
  #sentAt = -Infinity;
  /** When the first of the recent messages of other tabs arrived. */
  #advisedAt = -Infinity;
  readonly #shareOf: () => number;

  /** @param shareOf - The random place of this tab in the time after a pause, so that tabs do not send together. */
  constructor(now: number, shareOf: () => number) {
    this.pace = new Pace(now);
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
    const keptUntil = Math.max(this.pausedUntil + spreadMs, this.#advisedAt + 2 * adviceMs);
    return now >= keptUntil && this.pace.isOver(now) && !this.holds(now);
  }

  pause(now: number, ms: number, cause?: unknown): void {
    this.cause = cause ?? this.cause;
    const lateMs = Math.min(ms * lateShare, latestMs) * this.#shareOf();
    this.#pausedAt = now;
    this.leastUntil = Math.max(this.leastUntil, now + ms);
    this.pausedUntil = Math.max(this.pausedUntil, now + Math.round(ms + lateMs));
  }

  /** Records an answer, other than a refusal, to a request sent at `sentAt`. */
  accept(now: number, sentAt: number): void {
    this.pace.accept(now, sentAt);
    // A request that a user forced during the pause was accepted, so the pause is over.
    if (sentAt > this.#pausedAt) this.pausedUntil = this.leastUntil = -Infinity;
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
  spend(now: number, waiting: number, random: Random): void {
    if (waiting > 0 && this.pausedUntil > this.#sentAt) {
      const gapMs = spreadMs / (waiting + 1);
      this.pace.spread(now, Math.min(longestGapMs, Math.max(shortestGapMs, gapMs)));
    }
    this.#sentAt = now;
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

/** The rate limits that a server has announced or shown, by scope. */
export class RateLimits {
  readonly known: Map<string, RateLimit> = new Map();
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #post: (message: TabMessage) => void;
  #share = 0;

  /** @param post - Sends a message to the other tabs. */
  constructor(clock: Clock, random: Random, post: (message: TabMessage) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#post = post;
  }

  /** Pauses a scope for a Retry-After. */
  pause(scope: string, retryAfterMs: number, cause?: unknown): void {
    this.#of(scope).pause(this.#clock.now(), retryAfterMs, cause);
    this.#post({ kind: 'limit', scope, forMs: retryAfterMs, remaining: 0 });
  }

  /** Records a 429 to a request sent at `sentAt`, with its Retry-After if it had one. */
  refuse(scope: string, sentAt: number, retryAfterMs: number | undefined, cause?: unknown): void {
    const limit = this.#of(scope);
    const now = this.#clock.now();
    const leastMs = retryAfterMs ?? (limit.remaining <= 0 ? limit.resetAt - now : 0);
    const pauseMs = limit.pace.refuse(now, sentAt, Math.max(0, leastMs));
    limit.pause(now, Math.max(leastMs, pauseMs), cause);
    if (pauseMs > 0) this.#post({ kind: 'pace', scope, ...limit.pace.toMessage(pauseMs) });
  }

  /** Records any other answer to a request sent at `sentAt`. */
  accept(scope: string, sentAt: number): void {
    this.known.get(scope)?.accept(this.#clock.now(), sentAt);
  }

  /** Applies a RateLimit header. Requests in flight are subtracted, because the server may not have counted them. */
  allow(scope: string, remaining: number, underWay: number, resetInMs: number): void {
    const limit = this.#of(scope);
    limit.allow(this.#clock.now(), remaining - underWay, resetInMs);
    if (remaining > underWay) limit.pace.release();
    this.#post({ kind: 'limit', scope, forMs: resetInMs, remaining });
  }

  /** Handles a message of another tab about a limit, or about a request that it has sent. */
  receive(message: Extract<TabMessage, { readonly kind: 'limit' | 'pace' }>): void {
    const limit = this.#of(message.scope);
    const now = this.#clock.now();
    if (message.kind === 'pace') return this.#receivePace(limit, now, message);
    const forMs = limit.adviceFor(now, message.forMs);
    if (forMs === 0) return;
    limit.allow(now, message.remaining, forMs);
    if (message.remaining <= 0) limit.pace.yield(now, forMs, this.#random);
  }

  /** Counts a request of this tab. `countWaiting` returns how many more wait for the scope. */
  spend(scope: string, countWaiting: (scope: string) => number): void {
    const limit = this.known.get(scope);
    if (!limit) return;
    limit.spend(this.#clock.now(), countWaiting(scope), this.#random);
    const isLimited = limit.pace.gapMs > 0 || limit.remaining < Infinity;
    if (isLimited) this.#post({ kind: 'pace', scope, ...limit.pace.toMessage(0) });
  }

  /** The latest failure that has paused a scope. */
  causeOf(scope: string): unknown {
    return this.known.get(scope)?.cause;
  }

  /** Until when requests wait; `-Infinity` if none has to. */
  until(scope: string): number {
    return ahead(this.known.get(scope)?.dueAt() ?? -Infinity, this.#clock.now());
  }

  /** The same without the jitter that spreads requests after a pause. */
  leastUntil(scope: string): number {
    const limit = this.known.get(scope);
    const now = this.#clock.now();
    if (!limit) return -Infinity;
    return ahead(Math.max(limit.leastUntil, limit.pace.leastUntil(now)), now);
  }

  /** When the first pause of these scopes ends, for display; undefined without a pause. @default all scopes */
  pausedUntil(scopes: Iterable<string> = this.known.keys()): number | undefined {
    const now = this.#clock.now();
    const ends = [...scopes].map((scope) => this.known.get(scope)?.pausedUntil ?? -Infinity);
    const first = Math.min(...ends.filter((at) => at > now));
    return first < Infinity ? first : undefined;
  }

  #receivePace(limit: RateLimit, now: number, pace: TabPace): void {
    if (pace.pauseMs === 0) limit.take(now);
    else limit.pause(now, limit.adviceFor(now, pace.pauseMs));
    limit.pace.receive(now, pace, this.#random);
  }

  #of(scope: string): RateLimit {
    const known = this.known.get(scope);
    if (known) return known;
    const now = this.#clock.now();
    // A new limit is the occasion to drop those that are over.
    for (const [old, limit] of this.known) if (limit.isOver(now)) this.known.delete(old);
    // One draw for all overlapping pauses keeps requests in order across scopes.
    if (![...this.known.values()].some((limit) => limit.holds(now))) this.#share = this.#random();
    const limit = new RateLimit(now, () => this.#share);
    this.known.set(scope, limit);
    return limit;
  }
}
