import type { Clock, Random } from '../lib/clock.ts';

/** What a server has said about how many requests it takes at one endpoint. */
interface RateLimit {
  /** A Retry-After. */
  readonly pause: (retryAfterMs: number) => void;
  /** What RateLimit says is left, less what is under way and may not be counted yet. */
  readonly allow: (remaining: number, resetInMs: number) => void;
  /** One of those that are left goes. */
  readonly spend: () => void;
  /** Requests wait until then; `-Infinity` when none has to. */
  readonly until: () => number;
  /** Nothing that was said holds any more. */
  readonly isOver: () => boolean;
}

/** However long a server asks for, others than the one it told wait no longer for its sake. */
const longestMs = 60_000;

/** What was told to wait goes within this share of the pause after it. */
const spreadShare = 0.1;

/** What other tabs say pauses nothing for longer, nor again within as long: it is advice. */
const adviceMs = 14_000;

/** `share`: where in the time after a pause this tab goes, from 0 to 1: not all tabs at once. */
function createRateLimit(clock: Clock, share: number): RateLimit {
  let pausedUntil = -Infinity;
  let remaining = Infinity;
  let resetAt = -Infinity;

  const pause = (ms: number): void => {
    const now = clock.now();
    const until = now + Math.round(Math.min(ms, longestMs) * (1 + share * spreadShare));
    if (until <= pausedUntil) return;
    pausedUntil = until;
  };
  const check = (): void => {
    if (remaining <= 0) pause(resetAt - clock.now());
  };
  return {
    pause,
    allow(left, resetInMs) {
      const now = clock.now();
      const at = now + resetInMs;
      // An answer that was overtaken gives nothing back.
      const isSameWindow = now < resetAt && at <= resetAt + 1000;
      remaining = isSameWindow ? Math.min(remaining, left) : left;
      resetAt = at;
      check();
    },
    spend() {
      if (clock.now() >= resetAt) remaining = Infinity;
      remaining--;
      check();
    },
    until: () => (clock.now() < pausedUntil ? pausedUntil : -Infinity),
    isOver: () => clock.now() >= Math.max(pausedUntil, resetAt),
  };
}

/** The limits of an origin, by what they speak for. */
export interface RateLimits {
  readonly of: (scope: string) => RateLimit;
  /** `-Infinity` when nothing has to wait. */
  readonly until: (scope: string) => number;
  readonly spend: (scope: string) => void;
  /** What another tab says that it was told. */
  readonly advise: (scope: string, remaining: number, resetInMs: number) => void;
  /** When the first of these ends, or of all; `Infinity` when there is none. */
  readonly nextAt: (scopes?: readonly string[]) => number;
  /** What has had to wait, and no longer has to since this was asked last. */
  readonly ended: () => readonly string[];
}

export function createRateLimits(clock: Clock, random: Random): RateLimits {
  const limits = new Map<string, RateLimit>();
  const paused = new Set<string>();
  /** Drawn once for all pauses that overlap: so what was asked for first goes first. */
  let share = 0;

  const until = (scope: string): number => limits.get(scope)?.until() ?? -Infinity;
  const of = (scope: string): RateLimit => {
    const known = limits.get(scope);
    if (known) return known;
    // They come with answers: what is over is cleared with the next that is new.
    for (const [old, { isOver }] of limits) if (isOver()) limits.delete(old);
    if (limits.size === 0) share = random();
    const limit = createRateLimit(clock, share);
    limits.set(scope, limit);
    return limit;
  };
  /** When a scope was first advised on, of late. */
  const advisedAt = new Map<string, number>();

  return {
    of,
    advise(scope, remaining, resetInMs) {
      const now = clock.now();
      for (const [old, at] of advisedAt) if (now - at >= 2 * adviceMs) advisedAt.delete(old);
      const at = advisedAt.get(scope) ?? now;
      advisedAt.set(scope, at);
      const leftMs = at + adviceMs - now;
      if (leftMs > 0) of(scope).allow(remaining, Math.min(resetInMs, leftMs));
    },
    until,
    spend: (scope) => limits.get(scope)?.spend(),
    nextAt(scopes) {
      const times = (scopes ?? [...limits.keys()]).map(until).filter((at) => at > 0);
      return Math.min(Infinity, ...times);
    },
    ended() {
      if (limits.size === 0) return [];
      for (const scope of limits.keys()) if (until(scope) > 0) paused.add(scope);
      const over = [...paused].filter((scope) => until(scope) < 0);
      for (const scope of over) paused.delete(scope);
      return over;
    },
  };
}
