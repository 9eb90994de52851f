import { inDevelopment } from '../lib/development.ts';
import { maxTimerMs, type Random, systemNow, systemRandom } from '../lib/clock.ts';
import { callApp, isBoolean } from '../lib/input/callback.ts';
import { checkNames } from '../lib/input/check.ts';
import { mark, policyAlone, used } from '../lib/input/warn.ts';
import { type Foreign, readForeign } from '../operation/error-info.ts';
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

/** Options of {@link retryPolicy}: the options of a policy that need only `retry` and `retryDelay`. */
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

/** A retry that was granted. Its attempt has not failed yet, as far as is known. */
interface Granted {
  readonly failureCount: number;
  readonly startedAt: number;
  readonly retryAt: number;
  readonly retriedFor: readonly RetryReason[];
}

type Used = Pick<Policy, keyof typeof retryDefaults | 'shouldRetry'>;

/** How many queries that wait for a retry are remembered. */
const maxGranted = 500;

/**
 * Finds the query that has failed, and removes it. React Query does not name it. Of the queries whose attempt may have
 * failed now, the one that began last is chosen, so that no deadline ends early.
 *
 * @param all - The queries that wait for a retry, in the order in which it was granted.
 */
function takeGranted(
  all: Set<Granted>,
  deadlineMs: number,
  failureCount: number,
  nowMs: number,
): Granted | undefined {
  let found: Granted | undefined;
  for (const one of all) {
    const isPossible = one.failureCount === failureCount && one.retryAt <= nowMs;
    if (isPossible && (!found || one.startedAt >= found.startedAt)) found = one;
    // The query is gone.
    if (nowMs > one.retryAt + deadlineMs || all.size > maxGranted) all.delete(one);
  }
  if (found) all.delete(found);
  return found;
}

function readFailure(error: unknown, nowMs: number): Failure & FailureDetails {
  try {
    const { failure } = readForeign(error as Foreign, nowMs);
    // Of a fetch that it has cancelled itself, React Query asks nothing. Any other abort is of a request within it.
    if (failure.kind !== 'aborted') return failure;
  } catch {
    // A getter of the error threw: then nothing is known.
  }
  return failures.error;
}

/**
 * `retry` and `retryDelay` for the queries of a `QueryClient`, and nothing else: jittered exponential backoff,
 * Retry-After, a deadline, and no retry where another attempt cannot help. The failure is read from the error of
 * any client: `fetch` (a thrown `Response`), axios, ky, ofetch, tRPC, graphql-request, Apollo, urql, or a `cause`.
 *
 * Use it for queries: a retry may do a mutation twice. On a server nothing is retried, as with React Query alone.
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
  inDevelopment(() => {
    checkNames('retryPolicy', options, names);
    definePolicy('retryPolicy', presets.interactive, own);
  });
  // An option that is no number, or is negative, counts as not given, so that no delay is NaN.
  const given = Object.entries(own).filter(
    ([, value]) => typeof value === 'function' || (value as number) >= 0,
  );
  const { baseMs, factor, capMs, maxRetries, deadlineMs, maxRetryAfterMs, shouldRetry }: Used = {
    ...retryDefaults,
    ...Object.fromEntries(given),
  };
  const granted = new Set<Granted>();
  let latest:
    | {
        readonly failureCount: number;
        readonly error: unknown;
        readonly delayMs: number | undefined;
      }
    | undefined;

  const isAtEnd = (
    reason: RetryReason,
    retriedFor: readonly RetryReason[],
    wanted: boolean | undefined,
  ): boolean =>
    wanted === undefined
      ? retriedFor.filter((one) => one === reason).length >= (mostRetries[reason] ?? maxRetries)
      : !wanted;

  /** The wait before the next attempt, in milliseconds, by the same rules as `decide`; undefined if none follows. */
  const decideDelay = (failureCount: number, error: unknown): number | undefined => {
    const nowMs = now();
    const failure = readFailure(error, nowMs);
    const { retryAfterMs = 0 } = failure;
    const { startedAt = nowMs, retriedFor = [] } = {
      ...takeGranted(granted, deadlineMs, failureCount, nowMs),
    };
    const operation: OperationFacts = {
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
    };
    const wanted = shouldRetry && callApp(() => shouldRetry(failure, operation), isBoolean);
    const reason = whyRetry(failure) ?? (wanted ? 'should-retry' : undefined);
    // Two draws: one for the backoff, one that spreads the retries after a Retry-After.
    const backoffMs = Math.min(capMs, baseMs * factor ** failureCount);
    const delayMs = Math.max(
      spreadWait(backoffMs, random),
      Math.floor(retryAfterMs * (1 + retryAfterJitter * random())),
    );
    const isOver = !reason || isAtEnd(reason, retriedFor, wanted);
    const isLate = !isOwed(operation, { deadlineMs }) && delayMs > startedAt + deadlineMs - nowMs;
    const isTooLong = failureCount >= maxRetries || retryAfterMs > maxRetryAfterMs;
    if (isOver || isLate || isTooLong) return undefined;
    granted.add({
      failureCount: failureCount + 1,
      startedAt,
      retryAt: nowMs + delayMs,
      retriedFor: [...retriedFor, reason],
    });
    return delayMs;
  };

  return {
    retryDelay(failureCount, error) {
      inDevelopment(() => mark(policyAlone, used));
      const delayMs = decideDelay(failureCount, error);
      latest = { failureCount, error, delayMs };
      // If this policy stops but the query's own `retry` continues, it continues at React Query's pace.
      return Math.min(delayMs ?? delayOfReactQuery(failureCount), maxTimerMs);
    },
    // React Query calls it right after `retryDelay`, about the same failure.
    retry(failureCount, error) {
      const isSame = latest?.failureCount === failureCount && Object.is(latest.error, error);
      const delayMs = isSame ? latest?.delayMs : decideDelay(failureCount, error);
      latest = undefined;
      return delayMs !== undefined && !isServer();
    },
  };
}
