import { maxTimerMs, type Random, systemNow, systemRandom } from '../lib/clock.ts';
import { callApp, isBoolean } from '../lib/input/callback.ts';
import { checkNames } from '../lib/input/check.ts';
import { mark, policyAlone, used } from '../lib/input/warn.ts';
import { type Foreign, readForeign } from '../operation/parts/foreign-error.ts';
import { delayOfReactQuery } from '../policy/backoff.ts';
import { isOwed, mostRetries, retryAfterJitter, spreadWait, whyRetry } from '../policy/decide.ts';
import type { OperationFacts, RetryReason } from '../policy/operation.ts';
import {
  definePolicy,
  retryDefaults,
  type Policy,
  type PolicyOptions,
  presets,
} from '../policy/options.ts';
import { type Failure, type FailureDetails, failures } from '../policy/outcome.ts';
import { isServer } from './instance.ts';
import type { RetryPair } from './steadfetch.ts';

/** Options of {@link retryPolicy}: those of a policy that need nothing but `retry` and `retryDelay`. */
export interface RetryPolicyOptions extends Pick<
  PolicyOptions,
  'baseMs' | 'factor' | 'capMs' | 'maxRetries' | 'deadlineMs' | 'maxRetryAfterMs' | 'shouldRetry'
> {
  /** The source of jitter. @default Math.random */
  readonly random?: Random | undefined;
  /** The time, in epoch milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined;
}

const names: readonly (keyof RetryPolicyOptions)[] = [
  'baseMs',
  'factor',
  'capMs',
  'maxRetries',
  'deadlineMs',
  'maxRetryAfterMs',
  'shouldRetry',
  'random',
  'now',
];

/** A retry that was granted and whose attempt has not failed yet, as far as is known. */
interface Granted {
  readonly failureCount: number;
  readonly startedAt: number;
  readonly retryAt: number;
  readonly retriedFor: readonly RetryReason[];
}

type Used = Pick<Policy, keyof typeof retryDefaults | 'shouldRetry'>;

/** So many queries that wait for a retry are told apart. */
const maxGranted = 500;

function readFailure(error: unknown, nowMs: number): Failure & FailureDetails {
  try {
    return readForeign(error as Foreign, nowMs).failure;
  } catch {
    // A getter of the error threw: then nothing is known.
    return failures.error;
  }
}

/**
 * `retry` and `retryDelay` for the queries of a `QueryClient`, and nothing else: jittered exponential backoff,
 * Retry-After, a deadline, and no retry of what another attempt cannot mend. The failure is read from the error of
 * any client: `fetch` (a thrown `Response`), axios, ky, ofetch, tRPC, graphql-request, Apollo, urql, or a `cause`.
 *
 * It is for queries: a mutation may be done twice by a retry. On a server nothing is retried, as React Query has it.
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * import { QueryClient } from '@tanstack/react-query';
 * import { retryPolicy } from 'steadfetch/policy';
 *
 * export const queryClient = new QueryClient({ defaultOptions: { queries: retryPolicy() } });
 * ```
 */
export function retryPolicy(options: RetryPolicyOptions = {}): RetryPair {
  const { random = systemRandom, now = systemNow, ...own } = options;
  if (process.env.NODE_ENV !== 'production') {
    checkNames('retryPolicy', options, names);
    definePolicy('retryPolicy', presets.interactive, own);
  }
  // An option that is no number, or is negative, counts as not given, so that no delay is NaN.
  const given = Object.entries(own).filter(
    ([, value]) => typeof value === 'function' || (value as number) >= 0,
  );
  const delays = new RetryDelays({ ...retryDefaults, ...Object.fromEntries(given) }, random, now);
  return {
    retryDelay(failureCount, error) {
      if (process.env.NODE_ENV !== 'production') mark(policyAlone, used);
      // Where this would stop, and the `retry` of a query goes on, it goes on at React Query's pace.
      const delayMs = delays.decide(failureCount, error) ?? delayOfReactQuery(failureCount);
      return Math.min(delayMs, maxTimerMs);
    },
    retry: (failureCount, error) =>
      delays.takeDecided(failureCount, error) !== undefined && !isServer(),
  };
}

/** Decides how long to wait before the next attempt of a query. */
class RetryDelays {
  readonly #policy: Used;
  readonly #random: Random;
  readonly #now: () => number;
  /** In the order in which they were granted. */
  readonly #granted: Set<Granted> = new Set();
  #latest:
    | {
        readonly failureCount: number;
        readonly error: unknown;
        readonly delayMs: number | undefined;
      }
    | undefined;

  constructor(policy: Used, random: Random, now: () => number) {
    this.#policy = policy;
    this.#random = random;
    this.#now = now;
  }

  /** The wait before the next attempt, in milliseconds, as `decide` has it; undefined where none follows. */
  decide(failureCount: number, error: unknown): number | undefined {
    const delayMs = this.#delayAfter(failureCount, error);
    this.#latest = { failureCount, error, delayMs };
    return delayMs;
  }

  /** The same once more: React Query calls `retry` right after `retryDelay`, about the same failure. */
  takeDecided(failureCount: number, error: unknown): number | undefined {
    const latest = this.#latest;
    this.#latest = undefined;
    const isSame = latest?.failureCount === failureCount && Object.is(latest.error, error);
    return isSame ? latest.delayMs : this.#delayAfter(failureCount, error);
  }

  #delayAfter(failureCount: number, error: unknown): number | undefined {
    const { shouldRetry, deadlineMs } = this.#policy;
    const nowMs = this.#now();
    const failure = readFailure(error, nowMs);
    const operation = factsOf(failureCount, nowMs, this.#take(failureCount, nowMs));
    const { startedAt, retriedFor } = operation;
    const wanted = shouldRetry && callApp(() => shouldRetry(failure, operation), isBoolean);
    const reason = whyRetry(failure) ?? (wanted ? 'should-retry' : undefined);
    if (!reason || this.#isOver(failure, operation, reason, wanted)) return undefined;
    const delayMs = this.#spread(failureCount, failure);
    const isLate = !isOwed(operation, { deadlineMs }) && delayMs > startedAt + deadlineMs - nowMs;
    if (isLate) return undefined;
    this.#granted.add({
      failureCount: failureCount + 1,
      startedAt,
      retryAt: nowMs + delayMs,
      retriedFor: [...retriedFor, reason],
    });
    return delayMs;
  }

  #isOver(
    { kind, retryAfterMs = 0 }: Failure & FailureDetails,
    { attempt, retriedFor }: OperationFacts,
    reason: RetryReason,
    wanted: boolean | undefined,
  ): boolean {
    const { maxRetries, maxRetryAfterMs } = this.#policy;
    const most = mostRetries[reason] ?? maxRetries;
    const isSpent = !wanted && retriedFor.filter((one) => one === reason).length >= most;
    const isUnwanted = kind === 'aborted' || wanted === false;
    return isUnwanted || isSpent || attempt > maxRetries || retryAfterMs > maxRetryAfterMs;
  }

  /** A draw each: a server that asks for a wait spreads those who waited. */
  #spread(failureCount: number, { retryAfterMs = 0 }: FailureDetails): number {
    const { baseMs, factor, capMs } = this.#policy;
    const backoffMs = Math.min(capMs, baseMs * factor ** failureCount);
    return Math.max(
      spreadWait(backoffMs, this.#random),
      Math.floor(retryAfterMs * (1 + retryAfterJitter * this.#random())),
    );
  }

  /**
   * React Query names no query. Of those whose attempt may have failed now, it is taken for the one that began last:
   * so the deadline of no query ends early.
   */
  #take(failureCount: number, nowMs: number): Granted | undefined {
    const all = this.#granted;
    let found: Granted | undefined;
    for (const one of all) {
      const isPossible = one.failureCount === failureCount && one.retryAt <= nowMs;
      if (isPossible && (!found || one.startedAt >= found.startedAt)) found = one;
      // Its query is gone.
      if (nowMs > one.retryAt + this.#policy.deadlineMs || all.size > maxGranted) all.delete(one);
    }
    if (found) all.delete(found);
    return found;
  }
}

const factsOf = (
  failureCount: number,
  nowMs: number,
  { startedAt = nowMs, retriedFor = [] }: Partial<Granted> = {},
): OperationFacts => ({
  id: 0,
  kind: 'query',
  method: 'GET',
  url: undefined,
  keyed: false,
  idempotent: true,
  attempt: failureCount + 1,
  startedAt,
  retriedFor,
  previousBackoffMs: undefined,
  pausedMs: 0,
});
