import type { Clock } from '../policy/clock.ts';

/** Trips when failures follow one another that would hardly do so by chance. */
export interface StreakOptions {
  /**
   * The chance, at the origin's usual failure rate, below which consecutive failures are an outage.
   * @default 0.002
   */
  readonly maxChance?: number | undefined;
}

/** Trips by a ratio over a window, as known from elsewhere: it hardly ever sees enough calls in a slow tab. */
export interface RatioOptions {
  /** From 0 to 1. */
  readonly failureRatio: number;
  /** The window, in milliseconds. */
  readonly samplingDurationMs: number;
  /** No trip with fewer calls than these in the window. */
  readonly minimumCalls: number;
}

/** Says when an origin is taken for down. */
export interface TripRule {
  /** @returns whether it is down. */
  readonly fail: (weight: number) => boolean;
  readonly succeed: () => void;
  /** The share of attempts that fail when all is well, as far as it is known. */
  readonly usualRate: () => number;
  /** What has been counted led to a trip, and is done with. */
  readonly clear: () => void;
}

/** How much of the usual failure rate is kept at a failure, and, because few are seen, at a success. */
const keptAtFailure = 0.9;
const keptAtSuccess = 0.97;
/** The least that it is taken for. */
const leastRate = 0.04;

/**
 * `n` failures in a row trip when p^n ≤ maxChance, p being the usual failure rate (a moving
 * average, without the present streak): two in a healthy origin, four in one that fails every fifth
 * call. So it is fast for a tab with one call in five seconds, and not false for a busy one.
 */
export function createStreakRule({ maxChance = 0.002 }: StreakOptions = {}): TripRule {
  let usualRate = 0;
  let streak = 0;
  return {
    fail: (weight) => Math.max(usualRate, leastRate) ** (streak += weight) <= maxChance,
    usualRate: () => usualRate,
    succeed() {
      const kept = keptAtFailure ** streak;
      usualRate = (usualRate * kept + 1 - kept) * keptAtSuccess;
      streak = 0;
    },
    clear() {
      streak = 0;
    },
  };
}

export function createRatioRule(
  clock: Clock,
  { failureRatio, samplingDurationMs, minimumCalls }: RatioOptions,
): TripRule {
  let calls: { readonly at: number; readonly failed: boolean }[] = [];
  const count = (failed: boolean): void => {
    const now = clock.now();
    calls.push({ at: now, failed });
    // On both sides: a clock that was set back would keep them.
    calls = calls.filter(({ at }) => Math.abs(now - at) < samplingDurationMs);
  };
  return {
    fail() {
      count(true);
      const failures = calls.filter(({ failed }) => failed).length;
      return calls.length >= minimumCalls && failures / calls.length >= failureRatio;
    },
    succeed: () => count(false),
    usualRate: () => 0,
    clear() {
      calls = [];
    },
  };
}

/** The rule that the options of a circuit ask for; `false` is one that never trips. */
export function ruleOf(
  clock: Clock,
  options: StreakOptions | RatioOptions | false | undefined,
): TripRule {
  if (options === false) return createStreakRule({ maxChance: -1 });
  return options && 'failureRatio' in options
    ? createRatioRule(clock, options)
    : createStreakRule(options);
}
