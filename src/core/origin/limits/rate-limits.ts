import type { Clock, Random } from '../../lib/clock.ts';
import type { TabMessage } from '../../tabs/leader.ts';
import type { Place } from '../ask.ts';
import { RateLimit } from './rate-limit.ts';

/** A future time as it is; `-Infinity` for a past one. */
const ahead = (at: number, now: number): number => (now < at ? at : -Infinity);

/** The facts of a request that a limit checks. */
type Limited = Pick<Place, 'limitScope' | 'resource' | 'isOther'>;

/** The rate limits that a server has announced or shown, by scope. Scopes that are refused together share one. */
export class RateLimits {
  readonly known: Map<string, RateLimit> = new Map();
  readonly #together: RefusedTogether = new RefusedTogether();
  /** The limit of the scopes that were refused together. */
  #shared: RateLimit | undefined;
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
    this.#ownOf(scope).pause(this.#clock.now(), retryAfterMs, cause);
    this.#post({ kind: 'limit', scope, forMs: retryAfterMs, remaining: 0 });
  }

  /**
   * Records a 429 to a request sent at `sentAt`, with its Retry-After if it had one. `resource`: the URL that it was
   * sent to, where others of its scope may have limits of their own.
   */
  refuse(
    scope: string,
    sentAt: number,
    retryAfterMs: number | undefined,
    cause?: unknown,
    resource?: string,
  ): void {
    const now = this.#clock.now();
    const isUntold = retryAfterMs === undefined;
    const isNewMember = isUntold && this.#regroup(scope, sentAt);
    const limit = isUntold ? this.#of(scope) : this.#ownOf(scope);
    const leastMs = retryAfterMs ?? (limit.remaining <= 0 ? Math.max(0, limit.resetAt - now) : 0);
    const pauseMs = limit.pace.refuse(now, sentAt, leastMs);
    limit.pause(now, Math.max(leastMs, pauseMs), cause, isUntold ? undefined : resource);
    if (pauseMs === 0 && !isNewMember) return;
    const leftMs = pauseMs || limit.pausedUntil - now;
    this.#post({ kind: 'pace', scope, isUntold, ...limit.pace.toMessage(leftMs) });
  }

  /** Records any other answer to a request sent at `sentAt`. */
  accept(scope: string, sentAt: number, resource?: string): void {
    const limit = this.known.get(scope);
    if (!limit) return;
    limit.accept(this.#clock.now(), sentAt, resource);
    if (this.#isShared(scope)) this.#together.accept(scope);
  }

  /** Applies a RateLimit header. Requests in flight are subtracted, because the server may not have counted them. */
  allow(scope: string, remaining: number, underWay: number, resetInMs: number): void {
    const limit = this.#ownOf(scope);
    limit.allow(this.#clock.now(), remaining - underWay, resetInMs);
    if (remaining > underWay) limit.pace.release();
    this.#post({ kind: 'limit', scope, forMs: resetInMs, remaining });
  }

  /** Handles a message of another tab about a limit, or about a request that it has sent. */
  receive(message: Extract<TabMessage, { readonly kind: 'limit' | 'pace' }>): void {
    const now = this.#clock.now();
    if (message.kind === 'pace') return this.#receivePace(now, message);
    const limit = this.#ownOf(message.scope);
    const forMs = limit.adviceFor(now, message.forMs);
    if (forMs === 0) return;
    limit.allow(now, message.remaining, forMs);
    if (message.remaining <= 0) limit.pace.yield(now, forMs, this.#random);
  }

  /** Counts a request of this tab. `countWaiting` returns how many more wait for the scope. */
  spend(scope: string, countWaiting: (scope: string) => number): void {
    const limit = this.known.get(scope);
    if (!limit) return;
    limit.spend(this.#clock.now(), () => this.#countWaiting(limit, countWaiting), this.#random);
    const isLimited = limit.pace.gapMs > 0 || limit.remaining < Infinity;
    if (isLimited) this.#post({ kind: 'pace', scope, isUntold: false, ...limit.pace.toMessage(0) });
  }

  /** When a scope that shares a limit was refused, if what others requested before that goes first. */
  behindFrom(scope: string): number {
    return this.#isShared(scope) ? this.#together.behindFrom(scope) : -Infinity;
  }

  /** The latest failure that has paused a scope. */
  causeOf(scope: string): unknown {
    return this.known.get(scope)?.cause;
  }

  /** Until when a request waits; `-Infinity` if it need not. */
  until(place: Limited): number {
    const limit = this.#limitOf(place);
    return limit ? ahead(limit.dueAt(), this.#clock.now()) : -Infinity;
  }

  /** The same without the jitter that spreads requests after a pause. */
  leastUntil(place: Limited): number {
    const limit = this.#limitOf(place);
    if (!limit) return -Infinity;
    const now = this.#clock.now();
    return ahead(Math.max(limit.leastUntil, limit.pace.leastUntil(now)), now);
  }

  /** Whether its URL is another one than that to which the limit of its scope was told. */
  isOther({ limitScope, resource }: Limited): boolean {
    return resource !== undefined && resource !== this.known.get(limitScope)?.only;
  }

  /** When the first pause of these scopes ends, for display; undefined without a pause. @default all scopes */
  pausedUntil(scopes: Iterable<string> = this.known.keys()): number | undefined {
    const now = this.#clock.now();
    const ends = [...scopes].map((scope) => this.known.get(scope)?.pausedUntil ?? 0);
    const first = Math.min(...ends.filter((at) => at > now));
    return first < Infinity ? first : undefined;
  }

  /**
   * Counts a refusal without a time, which may show that its scope shares a limit with others, or has one of its own.
   *
   * @returns whether it shares one from now on.
   */
  #regroup(scope: string, sentAt: number): boolean {
    const now = this.#clock.now();
    // The request was sent all the same, or before the limit was known.
    if (this.known.get(scope)?.holds(now)) return false;
    this.#dropOver(now);
    const isMember = this.#isShared(scope);
    const together = this.#together.refuse(scope, sentAt, now);
    if (!together) {
      if (isMember) this.known.delete(scope);
      return false;
    }
    if (isMember || (!this.#shared && together.length === 0)) return false;
    const joining = this.#shared ? [scope] : together;
    this.#shared ??= this.#create(now, together.length);
    for (const one of joining) this.known.set(one, this.#shared);
    return true;
  }

  /** The limit that holds a request back. One of another URL alone does not. */
  #limitOf(place: Limited): RateLimit | undefined {
    const { limitScope, isOther = this.isOther(place) } = place;
    const limit = this.known.get(limitScope);
    return isOther && limit?.isOfOne ? undefined : limit;
  }

  #isShared(scope: string): boolean {
    return this.#shared !== undefined && this.known.get(scope) === this.#shared;
  }

  /** The limit of one scope alone, as the server has told it. */
  #ownOf(scope: string): RateLimit {
    if (this.#isShared(scope)) this.known.delete(scope);
    this.#together.forget(scope);
    return this.#of(scope);
  }

  #countWaiting(limit: RateLimit, countWaiting: (scope: string) => number): number {
    let waiting = 0;
    for (const [scope, one] of this.known) if (one === limit) waiting += countWaiting(scope);
    return waiting;
  }

  #receivePace(now: number, message: Extract<TabMessage, { readonly kind: 'pace' }>): void {
    const { scope, pauseMs, isUntold } = message;
    if (isUntold) this.#regroup(scope, -Infinity);
    const limit = this.#of(scope);
    if (pauseMs === 0) limit.take(now);
    else limit.pause(now, limit.adviceFor(now, pauseMs));
    limit.pace.receive(now, message, this.#random);
  }

  #of(scope: string): RateLimit {
    const known = this.known.get(scope);
    if (known) return known;
    const limit = this.#create(this.#clock.now());
    this.known.set(scope, limit);
    return limit;
  }

  #dropOver(now: number): void {
    if (this.#shared?.isOver(now)) this.#shared = undefined;
    for (const [old, limit] of this.known) if (limit.isOver(now)) this.known.delete(old);
  }

  #create(now: number, sharedBy?: number): RateLimit {
    // A new limit is the occasion to drop those that are over.
    this.#dropOver(now);
    // One draw for all overlapping pauses keeps requests in order across scopes.
    if (![...this.known.values()].some((limit) => limit.holds(now))) this.#share = this.#random();
    return new RateLimit(now, () => this.#share, sharedBy);
  }
}

/** How many scopes that are refused within this time share one limit, at least. */
const leastTogether = 3;
const togetherMs = 1000;
/** A scope that was refused goes behind the others that share its limit, until so many answers have come. */
const turnsOfOthers = 10;
/** One that is refused again after that, and this often, has a limit of its own. */
const mostInRow = 2;
/** Refusals are forgotten after this time. */
const forgetMs = 60_000;

/** The refusals of a scope since its last answer. */
interface Refused {
  readonly at: number;
  /** The number of answers before the last refusal. */
  readonly answers: number;
  /** How often it was refused after the turns of others. */
  readonly inRow: number;
}

/**
 * Finds out which scopes share a limit, by the refusals that name no time. A scope that was never refused shares none,
 * so it is never held back for others.
 */
export class RefusedTogether {
  readonly #refused: Map<string, Refused> = new Map();
  /** The number of answers to all scopes that share a limit. */
  #answers = 0;

  /**
   * Records a refusal of a request sent at `sentAt`. @returns the scopes that were refused together with it; none if
   * they are too few to share a limit, undefined if it has one of its own.
   */
  refuse(scope: string, sentAt: number, now: number): readonly string[] | undefined {
    const all = this.#refused;
    const before = all.get(scope);
    const isAgain = !!before && sentAt >= before.at && this.behindFrom(scope) === -Infinity;
    const inRow = (before?.inRow ?? 0) + (isAgain ? 1 : 0);
    all.set(scope, { at: now, answers: this.#answers, inRow });
    const together: string[] = [];
    for (const [one, last] of all) {
      if (now - last.at >= forgetMs) all.delete(one);
      else if (now - last.at < togetherMs && last.inRow < mostInRow) together.push(one);
    }
    if (inRow >= mostInRow) return undefined;
    return together.length < leastTogether ? [] : together;
  }

  /** Records an answer to a scope that shares a limit. */
  accept(scope: string): void {
    this.#answers++;
    this.forget(scope);
  }

  /** Forgets the refusals of a scope: it was answered, or its server names a time for it. */
  forget(scope: string): void {
    this.#refused.delete(scope);
  }

  /** When it was refused, if what was requested before that goes first; otherwise `-Infinity`. */
  behindFrom(scope: string): number {
    const refused = this.#refused.get(scope);
    return refused && this.#answers < refused.answers + turnsOfOthers ? refused.at : -Infinity;
  }
}
