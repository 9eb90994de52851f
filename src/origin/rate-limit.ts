import type { Clock, Random } from '../lib/clock.ts';
import { Pace, type TabPace } from '../policy/pace.ts';
import type { Word } from '../tabs/leader.ts';

/** Another tab says that a pause of this one is longer, or that it starts again: it is believed for no longer. */
const adviceMs = 14_000;
/** Refused attempts are sent within this share of the pause after its end, and at most `latestMs` after it. */
const lateShare = 0.1;
const latestMs = 30_000;
/** Attempts that waited for the end of a pause are sent within `spreadMs` after it, with a gap between these two. */
const spreadMs = 1000;
const longestGapMs = 400;
const shortestGapMs = 20;

/** Of a time that is over, nothing waits. */
const ahead = (at: number, now: number): number => (now < at ? at : -Infinity);

/** What holds for one scope: a pause, what is left of a window, and the pace that was learned. */
class RateLimit {
  pausedUntil: number = -Infinity;
  /** The same as it was told: without what is added, so that not all go at once. */
  toldUntil: number = -Infinity;
  remaining: number = Infinity;
  resetAt: number = -Infinity;
  readonly pace: Pace;
  #pausedAt = -Infinity;
  #sentAt = -Infinity;
  /** When another tab first spoke of it, of late. */
  #advisedAt = -Infinity;
  readonly #shareOf: () => number;

  /** @param shareOf - Where in the time after a pause this tab goes: not all tabs at once. */
  constructor(now: number, shareOf: () => number) {
    this.pace = new Pace(now);
    this.#shareOf = shareOf;
  }

  /** The next one may go then. */
  dueAt(): number {
    return Math.max(this.pausedUntil, this.pace.nextAt);
  }

  /** A pause or a window still holds. */
  holds(now: number): boolean {
    return now < Math.max(this.pausedUntil, this.resetAt);
  }

  /** Nothing of it matters any more. */
  isOver(now: number): boolean {
    const keptUntil = Math.max(this.pausedUntil + spreadMs, this.#advisedAt + 2 * adviceMs);
    return now >= keptUntil && this.pace.isOver(now) && !this.holds(now);
  }

  pause(now: number, ms: number): void {
    const lateMs = Math.min(ms * lateShare, latestMs) * this.#shareOf();
    this.#pausedAt = now;
    this.toldUntil = Math.max(this.toldUntil, now + ms);
    this.pausedUntil = Math.max(this.pausedUntil, now + Math.round(ms + lateMs));
  }

  /** What was sent then is answered, and not refused. */
  accept(now: number, sentAt: number): void {
    this.pace.accept(now, sentAt);
    // A user has pressed, and the pause is over sooner than was said.
    if (sentAt > this.#pausedAt) this.pausedUntil = this.toldUntil = -Infinity;
  }

  /** So many are left until then. An answer that was overtaken gives nothing back. */
  allow(now: number, remaining: number, resetInMs: number): void {
    const isSameWindow = now < this.resetAt && now + resetInMs <= this.resetAt + 1000;
    this.remaining = isSameWindow ? Math.min(this.remaining, remaining) : remaining;
    this.resetAt = now + resetInMs;
    this.#pauseAtNone(now);
  }

  /** One of those that are left has gone, from here or from another tab. */
  take(now: number): void {
    if (now >= this.resetAt) this.remaining = Infinity;
    this.remaining--;
    this.#pauseAtNone(now);
  }

  /** One goes from here, and so many more wait for it. Where a pause has just ended, they do not go at once. */
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

  /** For so long what another tab says is believed. */
  adviceFor(now: number, ms: number): number {
    if (now >= this.#advisedAt + 2 * adviceMs) this.#advisedAt = now;
    return Math.max(0, Math.min(ms, this.#advisedAt + adviceMs - now));
  }

  #pauseAtNone(now: number): void {
    if (this.remaining <= 0) this.pause(now, this.resetAt - now);
  }
}

/** How many requests a server takes, as it has said or shown, by what that speaks for. */
export class RateLimits {
  readonly known: Map<string, RateLimit> = new Map();
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #say: (word: Word) => void;
  #share = 0;

  /** @param say - Tells the other tabs. */
  constructor(clock: Clock, random: Random, say: (word: Word) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#say = say;
  }

  /** A Retry-After. */
  pause(scope: string, retryAfterMs: number): void {
    this.#of(scope).pause(this.#clock.now(), retryAfterMs);
    this.#say({ kind: 'limit', scope, forMs: retryAfterMs, remaining: 0 });
  }

  /** A 429 for what was sent then; with how long to wait where it says that. */
  refuse(scope: string, sentAt: number, retryAfterMs: number | undefined): void {
    const limit = this.#of(scope);
    const now = this.#clock.now();
    const toldMs = retryAfterMs ?? (limit.remaining <= 0 ? limit.resetAt - now : 0);
    const pauseMs = limit.pace.refuse(now, sentAt, Math.max(0, toldMs));
    limit.pause(now, Math.max(toldMs, pauseMs));
    if (pauseMs > 0) this.#say({ kind: 'pace', scope, ...limit.pace.toMessage(pauseMs) });
  }

  /** Any other answer to what was sent then. */
  accept(scope: string, sentAt: number): void {
    this.known.get(scope)?.accept(this.#clock.now(), sentAt);
  }

  /** What RateLimit says is left, less what is under way and may not be counted yet. */
  allow(scope: string, remaining: number, underWay: number, resetInMs: number): void {
    const limit = this.#of(scope);
    limit.allow(this.#clock.now(), remaining - underWay, resetInMs);
    if (remaining > underWay) limit.pace.release();
    this.#say({ kind: 'limit', scope, forMs: resetInMs, remaining });
  }

  /** What another tab says that it was told, that it has sent, or that it was refused. */
  receive(word: Extract<Word, { readonly kind: 'limit' | 'pace' }>): void {
    const limit = this.#of(word.scope);
    const now = this.#clock.now();
    if (word.kind === 'pace') return this.#hear(limit, now, word);
    const forMs = limit.adviceFor(now, word.forMs);
    if (forMs === 0) return;
    limit.allow(now, word.remaining, forMs);
    if (word.remaining <= 0) limit.pace.yield(now, forMs, this.#random);
  }

  /** One goes. `countWaiting`: how many more wait for this. */
  spend(scope: string, countWaiting: (scope: string) => number): void {
    const limit = this.known.get(scope);
    if (!limit) return;
    limit.spend(this.#clock.now(), countWaiting(scope), this.#random);
    const isLimited = limit.pace.gapMs > 0 || limit.remaining < Infinity;
    if (isLimited) this.#say({ kind: 'pace', scope, ...limit.pace.toMessage(0) });
  }

  /** Requests wait until then; `-Infinity` when none has to. */
  until(scope: string): number {
    return ahead(this.known.get(scope)?.dueAt() ?? -Infinity, this.#clock.now());
  }

  /** The same without what is added to a pause, so that not all go at once. */
  leastUntil(scope: string): number {
    const limit = this.known.get(scope);
    const now = this.#clock.now();
    return limit ? ahead(Math.max(limit.toldUntil, limit.pace.leastUntil(now)), now) : -Infinity;
  }

  /** When the first pause of these ends, or of all, which may be shown; undefined where there is none, or only a pace. */
  pausedUntil(scopes: Iterable<string> = this.known.keys()): number | undefined {
    const now = this.#clock.now();
    const ends = [...scopes].map((scope) => this.known.get(scope)?.pausedUntil ?? -Infinity);
    const first = Math.min(...ends.filter((at) => at > now));
    return first < Infinity ? first : undefined;
  }

  #hear(limit: RateLimit, now: number, told: TabPace): void {
    if (told.pauseMs === 0) limit.take(now);
    else limit.pause(now, limit.adviceFor(now, told.pauseMs));
    limit.pace.receive(now, told, this.#random);
  }

  #of(scope: string): RateLimit {
    const known = this.known.get(scope);
    if (known) return known;
    const now = this.#clock.now();
    // They come with answers: what is over is cleared with the next that is new.
    for (const [old, limit] of this.known) if (limit.isOver(now)) this.known.delete(old);
    // Drawn once for all pauses that overlap: so what was asked for first goes first.
    if (![...this.known.values()].some((limit) => limit.holds(now))) this.#share = this.#random();
    const limit = new RateLimit(now, () => this.#share);
    this.known.set(scope, limit);
    return limit;
  }
}
