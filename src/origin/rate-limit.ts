import type { Clock, Random } from '../lib/clock.ts';

/** What a server has said about how many requests it takes, by what it speaks for. */
export interface RateLimits {
  /** What is known, by what it speaks for. */
  readonly known: ReadonlyMap<string, Readonly<RateLimit>>;
  /** A Retry-After. */
  readonly pause: (scope: string, retryAfterMs: number) => void;
  /** What RateLimit says is left, less what is under way and may not be counted yet. */
  readonly allow: (scope: string, remaining: number, resetInMs: number) => void;
  /** What another tab says that it was told. */
  readonly advise: (scope: string, remaining: number, resetInMs: number) => void;
  /** One of those that are left goes. */
  readonly spend: (scope: string) => void;
  /** Requests wait until then; `-Infinity` when none has to. */
  readonly until: (scope: string) => number;
  /** When the first of these ends, or of all; `Infinity` when there is none. */
  readonly nextAt: (scopes?: readonly string[]) => number;
  /** What has had to wait, and no longer has to since this was asked last. */
  readonly ended: () => readonly string[];
}

/** However long a server asks for, others than the one it told wait no longer for its sake. */
const longestMs = 60_000;
/** What was told to wait goes within this share of the pause after it. */
const spreadShare = 0.1;
/** What other tabs say pauses nothing for longer, nor again within as long: it is advice. */
const adviceMs = 14_000;

/** What holds for one scope. */
interface RateLimit {
  pausedUntil: number;
  remaining: number;
  resetAt: number;
  /** When another tab first spoke of it, of late. */
  advisedAt: number;
  /** It had to wait when that was asked last. */
  wasPaused: boolean;
}

const unlimited: RateLimit = {
  pausedUntil: -Infinity,
  remaining: Infinity,
  resetAt: -Infinity,
  advisedAt: -Infinity,
  wasPaused: false,
};

export function createRateLimits(clock: Clock, random: Random): RateLimits {
  const limits = new Map<string, RateLimit>();
  /** Where in the time after a pause this tab goes: not all tabs at once. */
  let share = 0;

  const until: RateLimits['until'] = (scope) => {
    const { pausedUntil } = limits.get(scope) ?? unlimited;
    return pausedUntil > -Infinity && clock.now() < pausedUntil ? pausedUntil : -Infinity;
  };
  const of = (scope: string): RateLimit => {
    const known = limits.get(scope);
    if (known) return known;
    const now = clock.now();
    const holds = ({ pausedUntil, resetAt }: RateLimit): boolean =>
      now < Math.max(pausedUntil, resetAt);
    // They come with answers: what is over is cleared with the next that is new.
    for (const [old, limit] of limits) {
      const isOver = !limit.wasPaused && now >= limit.advisedAt + 2 * adviceMs;
      if (isOver && !holds(limit)) limits.delete(old);
    }
    // Drawn once for all pauses that overlap: so what was asked for first goes first.
    if (![...limits.values()].some(holds)) share = random();
    const opened = { ...unlimited };
    limits.set(scope, opened);
    return opened;
  };
  const pauseFor = (limit: RateLimit, ms: number): void => {
    const pauseMs = Math.round(Math.min(ms, longestMs) * (1 + share * spreadShare));
    limit.pausedUntil = Math.max(limit.pausedUntil, clock.now() + pauseMs);
  };
  const pauseAtNone = (limit: RateLimit): void => {
    if (limit.remaining <= 0) pauseFor(limit, limit.resetAt - clock.now());
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
  return {
    known: limits,
    pause: (scope, retryAfterMs) => pauseFor(of(scope), retryAfterMs),
    allow,
    advise(scope, remaining, resetInMs) {
      const limit = of(scope);
      const now = clock.now();
      if (now >= limit.advisedAt + 2 * adviceMs) limit.advisedAt = now;
      const leftMs = limit.advisedAt + adviceMs - now;
      if (leftMs > 0) allow(scope, remaining, Math.min(resetInMs, leftMs));
    },
    spend(scope) {
      const limit = limits.get(scope);
      if (!limit) return;
      if (clock.now() >= limit.resetAt) limit.remaining = Infinity;
      limit.remaining--;
      pauseAtNone(limit);
    },
    until,
    nextAt: (scopes = [...limits.keys()]) =>
      Math.min(Infinity, ...scopes.map(until).filter((at) => at > 0)),
    ended() {
      const over: string[] = [];
      for (const [scope, limit] of limits) {
        const isPaused = until(scope) > 0;
        if (limit.wasPaused && !isPaused) over.push(scope);
        limit.wasPaused = isPaused;
      }
      return over;
    },
  };
}
