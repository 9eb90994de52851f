import type { Clock, Random } from '../lib/clock.ts';
import { Pace, type TabPace } from '../policy/pace.ts';

/** How many requests a server takes, as it has said or shown, by what that speaks for. */
export interface RateLimits {
  /** What is known, by what it speaks for. */
  readonly known: ReadonlyMap<string, Readonly<RateLimit>>;
  /** A Retry-After. */
  readonly pause: (scope: string, retryAfterMs: number) => void;
  /** A 429 for what was sent then; with how long to wait where it says that. */
  readonly refuse: (scope: string, sentAt: number, retryAfterMs: number | undefined) => TabPace;
  /** Any other answer to what was sent then. */
  readonly accept: (scope: string, sentAt: number) => void;
  /** What RateLimit says is left, less what is under way and may not be counted yet. */
  readonly allow: (scope: string, remaining: number, resetInMs: number) => void;
  /** What another tab says that it was told. */
  readonly advise: (scope: string, remaining: number, resetInMs: number) => void;
  /** One of those that are left goes. @returns what other tabs are told; undefined where there is no limit. */
  readonly spend: (scope: string) => TabPace | undefined;
  /** Another tab has sent one, or was refused one. */
  readonly hear: (scope: string, told: TabPace) => void;
  /** Requests wait until then; `-Infinity` when none has to. */
  readonly until: (scope: string) => number;
  /** The same without what is added to a pause, so that not all go at once. */
  readonly leastUntil: (scope: string) => number;
  /** The same of a pause alone, whose end may be shown: not of the pace after it. */
  readonly pausedUntil: (scope: string) => number;
  /** When the first pause of these ends, or of all; undefined where there is none, or only a pace. */
  readonly promisedAt: (scopes?: readonly string[]) => number | undefined;
  /** When the first of these ends, or the first pause of all; `Infinity` when there is none. */
  readonly nextAt: (scopes?: readonly string[]) => number;
  /** Where a pause is over, those who wait do not go at once. */
  readonly spread: (countOf: (scope: string) => number) => void;
}

/** What other tabs say pauses nothing for longer, nor again within as long: it is advice. */
const adviceMs = 14_000;
/** Refused attempts are sent within this share of the pause after its end, and at most `latestMs` after it. */
const lateShare = 0.1;
const latestMs = 30_000;
/** Attempts that waited for the end of a pause are sent within `spreadMs` after it, with a gap between these two. */
const spreadMs = 1000;
const longestGapMs = 400;
const shortestGapMs = 20;

/** What holds for one scope. */
interface RateLimit {
  pausedUntil: number;
  /** The same as it was said: without what is added, so that not all go at once. */
  toldUntil: number;
  /** When that was said. */
  pausedAt: number;
  remaining: number;
  resetAt: number;
  /** When another tab first spoke of it, of late. */
  advisedAt: number;
  /** It was paused when that was asked last. */
  wasPaused: boolean;
  readonly pace: Pace;
}

const unlimited = {
  pausedUntil: -Infinity,
  toldUntil: -Infinity,
  pausedAt: -Infinity,
  remaining: Infinity,
  resetAt: -Infinity,
  advisedAt: -Infinity,
  wasPaused: false,
};

export function createRateLimits(clock: Clock, random: Random): RateLimits {
  const limits = new Map<string, RateLimit>();
  /** Where in the time after a pause this tab goes: not all tabs at once. */
  let share = 0;

  /** The next one may go then. */
  const dueAtOf = ({ pausedUntil: at, pace }: RateLimit): number => Math.max(at, pace.nextAt);
  const ahead = (at: number): number => (clock.now() < at ? at : -Infinity);
  const pausedUntil: RateLimits['pausedUntil'] = (scope) =>
    ahead((limits.get(scope) ?? unlimited).pausedUntil);
  const until: RateLimits['until'] = (scope) => {
    const limit = limits.get(scope);
    return limit ? ahead(dueAtOf(limit)) : -Infinity;
  };
  const of = (scope: string): RateLimit => {
    const known = limits.get(scope);
    if (known) return known;
    const now = clock.now();
    const holds = (limit: RateLimit): boolean => now < Math.max(limit.pausedUntil, limit.resetAt);
    // They come with answers: what is over is cleared with the next that is new.
    for (const [old, limit] of limits) {
      const isOver =
        !limit.wasPaused && now >= limit.advisedAt + 2 * adviceMs && limit.pace.isOver(now);
      if (isOver && !holds(limit)) limits.delete(old);
    }
    // Drawn once for all pauses that overlap: so what was asked for first goes first.
    if (![...limits.values()].some(holds)) share = random();
    const opened = { ...unlimited, pace: new Pace(now) };
    limits.set(scope, opened);
    return opened;
  };
  const pauseFor = (limit: RateLimit, ms: number): void => {
    const lateMs = Math.min(ms * lateShare, latestMs) * share;
    const now = clock.now();
    limit.pausedAt = now;
    limit.toldUntil = Math.max(limit.toldUntil, now + ms);
    limit.pausedUntil = Math.max(limit.pausedUntil, now + Math.round(ms + lateMs));
  };
  const pauseAtNone = (limit: RateLimit): void => {
    if (limit.remaining <= 0) pauseFor(limit, limit.resetAt - clock.now());
  };
  /** One of those that are left has gone, from here or from another tab. */
  const take = (limit: RateLimit): void => {
    if (clock.now() >= limit.resetAt) limit.remaining = Infinity;
    limit.remaining--;
    pauseAtNone(limit);
  };
  const allow: RateLimits['allow'] = (scope, remaining, resetInMs) => {
    const limit = of(scope);
    const now = clock.now();
    const resetAt = now + resetInMs;
    // An answer that was overtaken gives nothing back.
    const isSameWindow = now < limit.resetAt && resetAt <= limit.resetAt + 1000;
    limit.remaining = isSameWindow ? Math.min(limit.remaining, remaining) : remaining;
    limit.resetAt = resetAt;
    pauseAtNone(limit);
  };
  /** For so long what another tab says is believed. */
  const adviceFor = (limit: RateLimit, ms: number): number => {
    const now = clock.now();
    if (now >= limit.advisedAt + 2 * adviceMs) limit.advisedAt = now;
    return Math.max(0, Math.min(ms, limit.advisedAt + adviceMs - now));
  };
  const firstEnd = (
    scopes = [...limits.keys()] as readonly string[],
    endOf = pausedUntil,
  ): number => Math.min(Infinity, ...scopes.map(endOf).filter((at) => at > 0));
  return {
    known: limits,
    pause: (scope, retryAfterMs) => pauseFor(of(scope), retryAfterMs),
    refuse(scope, sentAt, retryAfterMs) {
      const limit = of(scope);
      const now = clock.now();
      const toldMs = retryAfterMs ?? (limit.remaining <= 0 ? limit.resetAt - now : 0);
      const pauseMs = limit.pace.refuse(now, sentAt, Math.max(0, toldMs));
      pauseFor(limit, Math.max(toldMs, pauseMs));
      return limit.pace.told(pauseMs);
    },
    accept(scope, sentAt) {
      const limit = limits.get(scope);
      limit?.pace.accept(clock.now(), sentAt);
      // A user has pressed, and the pause is over sooner than was said.
      if (limit && sentAt > limit.pausedAt) limit.pausedUntil = limit.toldUntil = -Infinity;
    },
    hear(scope, told) {
      const limit = of(scope);
      if (told.pauseMs === 0) take(limit);
      else pauseFor(limit, adviceFor(limit, told.pauseMs));
      limit.pace.hear(clock.now(), told, random);
    },
    allow(scope, remaining, resetInMs) {
      allow(scope, remaining, resetInMs);
      if (remaining > 0) of(scope).pace.release();
    },
    advise(scope, remaining, resetInMs) {
      const limit = of(scope);
      const forMs = adviceFor(limit, resetInMs);
      if (forMs === 0) return;
      allow(scope, remaining, forMs);
      if (remaining <= 0) limit.pace.yield(clock.now(), forMs, random);
    },
    spend(scope) {
      const limit = limits.get(scope);
      if (!limit) return undefined;
      const now = clock.now();
      take(limit);
      limit.pace.spend(now, Math.min(now, dueAtOf(limit)), random);
      const isLimited = limit.pace.gapMs > 0 || limit.remaining < Infinity;
      return isLimited ? limit.pace.told(0) : undefined;
    },
    until,
    leastUntil(scope) {
      const limit = limits.get(scope);
      return limit
        ? ahead(Math.max(limit.toldUntil, limit.pace.leastUntil(clock.now())))
        : -Infinity;
    },
    pausedUntil,
    promisedAt(scopes) {
      const at = firstEnd(scopes);
      return at < Infinity ? at : undefined;
    },
    nextAt: (scopes) => firstEnd(scopes, scopes && until),
    spread(countOf) {
      for (const [scope, limit] of limits) {
        const isPaused = pausedUntil(scope) > 0;
        const count = limit.wasPaused && !isPaused ? countOf(scope) : 0;
        if (count > 1)
          limit.pace.spread(
            clock.now(),
            Math.min(longestGapMs, Math.max(shortestGapMs, spreadMs / count)),
          );
        limit.wasPaused = isPaused;
      }
    },
  };
}
