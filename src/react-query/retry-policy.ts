import { maxTimerMs, type Random, systemClock, systemRandom } from '../lib/clock.ts';
import { checkNames } from '../lib/input/check.ts';
import { reportOf } from '../operation/error-info.ts';
import { decide, type Decision } from '../policy/decide.ts';
import type { RetryReason } from '../policy/operation.ts';
import { definePolicy, type PolicyOptions, presets } from '../policy/options.ts';
import { isServer } from './instance.ts';
import type { RetryPair } from './steadfetch.ts';

/** Options of {@link retryPolicy}: those of a policy that need nothing but `retry` and `retryDelay`. */
export interface RetryPolicyOptions extends Pick<
  PolicyOptions,
  | 'backoff'
  | 'baseMs'
  | 'factor'
  | 'capMs'
  | 'maxRetries'
  | 'deadlineMs'
  | 'maxRetryAfterMs'
  | 'shouldRetry'
> {
  /** The source of jitter. @default Math.random */
  readonly random?: Random | undefined;
  /** The time, in epoch milliseconds. @default Date.now */
  readonly now?: (() => number) | undefined;
}

const names: readonly (keyof RetryPolicyOptions)[] = [
  'backoff',
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
  readonly previousBackoffMs: number;
}

/** So many queries that wait for a retry are told apart. */
const maxGranted = 500;

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
  const { random = systemRandom, now = () => systemClock.now(), ...given } = options;
  if (process.env.NODE_ENV !== 'production') checkNames('retryPolicy', options, names);
  const policy = definePolicy('retryPolicy', presets.interactive, given);
  /** In the order in which they were granted. */
  const granted = new Set<Granted>();
  let latest:
    | { readonly failureCount: number; readonly error: unknown; readonly decision: Decision }
    | undefined;

  /**
   * React Query names no query. Of those whose attempt may have failed now, it is taken for the one that began last:
   * so the deadline of no query ends early.
   */
  const takeGranted = (failureCount: number, nowMs: number): Granted | undefined => {
    let found: Granted | undefined;
    for (const one of granted) {
      const isPossible = one.failureCount === failureCount && one.retryAt <= nowMs;
      if (isPossible && (!found || one.startedAt >= found.startedAt)) found = one;
      // Its query is gone.
      if (nowMs > one.retryAt + policy.deadlineMs) granted.delete(one);
    }
    if (found) granted.delete(found);
    return found;
  };

  const decideOn = (failureCount: number, error: unknown): Decision => {
    const nowMs = now();
    const { failure } = reportOf(error, nowMs);
    const before = takeGranted(failureCount, nowMs);
    const { startedAt = nowMs, retriedFor = [], previousBackoffMs } = { ...before };
    const operation = {
      id: 0,
      kind: 'query',
      method: 'GET',
      url: undefined,
      keyed: false,
      idempotent: true,
      attempt: failureCount + 1,
      startedAt,
      retriedFor,
      previousBackoffMs,
      pausedMs: 0,
    } as const;
    const decision = decide(failure, operation, policy, { nowMs, random, isForeign: true });
    if (decision.kind === 'retry') {
      const { retryAt, reason, backoffMs } = decision;
      granted.add({
        failureCount: failureCount + 1,
        startedAt,
        retryAt,
        retriedFor: [...retriedFor, reason],
        previousBackoffMs: backoffMs,
      });
      if (granted.size > maxGranted)
        for (const one of [...granted].slice(0, 1)) granted.delete(one);
    }
    return decision;
  };

  return {
    retryDelay(failureCount, error) {
      const decision = decideOn(failureCount, error);
      latest = { failureCount, error, decision };
      // Where this would stop, and the `retry` of a query goes on, it goes on at React Query's pace.
      const delayMs = decision.kind === 'retry' ? decision.delayMs : 1000 * 2 ** failureCount;
      return Math.min(delayMs, maxTimerMs);
    },
    // React Query asks it right after `retryDelay`, about the same failure.
    retry(failureCount, error) {
      const isSame = latest?.failureCount === failureCount && Object.is(latest.error, error);
      const { kind } = isSame && latest ? latest.decision : decideOn(failureCount, error);
      latest = undefined;
      return kind === 'retry' && !isServer();
    },
  };
}
