import { reportOf } from '../../operation/error-info.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import type { Operations } from '../../operation/operations.ts';
import { Owner } from '../../operation/owner.ts';
import { warn } from '../../lib/input/warn.ts';
import { type Clock, maxTimerMs } from '../../lib/clock.ts';
import { delayOfReactQuery } from '../../policy/backoff.ts';
import type { PolicyOptions } from '../../policy/options.ts';
import type { FailureLedger } from './failure-ledger.ts';
import { isServer } from '../instance.ts';
import { markAsUsed, warnOfUnrepeatable } from '../misuse.ts';
import type { RetryPair } from '../steadfetch.ts';
import { emitChange } from '../mutation/record.ts';
import type { OverdueRetries } from './refetch.ts';

/** What decisions on failures in React Query stand on. */
export interface RetryPairContext {
  readonly clock: Clock;
  readonly operations: Operations;
  readonly ledger: FailureLedger;
  readonly overdue: OverdueRetries;
}

/**
 * `retry` and `retryDelay` as two views of one decision.
 *
 * React Query calls `retryDelay` first, on every failure, then `retry`. A throw in either hangs
 * the query for ever, and a delay that no timer can hold is a hot loop; so neither throws, and the
 * delay is always within [0, 2^31 - 1].
 */
export function createRetryPair(
  context: RetryPairContext,
  kind: 'query' | 'mutation',
  policy: PolicyOptions | undefined,
): RetryPair {
  const { ledger, overdue } = context;
  const begin = (failureCount: number, error: unknown, nowMs: number): Operation =>
    (kind === 'query' ? beginQuery : beginMutation)(context, policy, failureCount, error, nowMs);
  return {
    retryDelay(failureCount, error) {
      const operation = ledger.claim(failureCount, error, false, begin);
      const { decision, failedAt = 0 } = operation.errors;
      if (process.env.NODE_ENV !== 'production') warnOfUnrepeatable(context.operations, operation);
      // Where the app's own `retry` goes on, its retries are all the query has: they reach as far as with React Query
      // alone, also where we would stop, or where a probe would use them up.
      const isRetry = decision?.kind === 'retry';
      const isOwn = !isRetry || operation.given.endsWithOwner;
      const leastMs = isOwn ? delayOfReactQuery(failureCount) : 0;
      const delayMs = Math.min(Math.max(isRetry ? decision.delayMs : 0, leastMs), maxTimerMs);
      if (isRetry && kind === 'query') overdue.expectRetry(failedAt + delayMs);
      operation.errors.waitUntil(failedAt + delayMs);
      return delayMs;
    },
    // A policy of the call cannot make a server retry, either.
    retry: (failureCount, error) =>
      ledger.claim(failureCount, error, true, begin).errors.decision?.kind === 'retry' &&
      !isServer(),
  };
}

/** The persister has not seen this query: it was replaced, or the server has begun the fetch. */
function beginQuery(
  { operations }: RetryPairContext,
  policy: PolicyOptions | undefined,
  failureCount: number,
): Operation {
  if (process.env.NODE_ENV !== 'production') markAsUsed(operations);
  if (process.env.NODE_ENV !== 'production' && failureCount > 0) {
    warn(
      operations,
      'persister',
      `A query is retried without Steadfetch's persister, so its attempts, start and waits are not ` +
        `known, and it cannot show its status. Wrap your own persister: spread composePersister(steady, yours) into the options.`,
    );
  }
  return operations.begin('query', { policy, attempt: failureCount + 1 });
}

/** Which mutation a plain one is, nothing tells. */
const plainOwner = new (class extends Owner {
  override onChange(): void {
    emitChange();
  }
})();

/** The operation of a plain mutation is that of the request that failed, if the request was ours. */
function beginMutation(
  { operations, ledger }: RetryPairContext,
  policy: PolicyOptions | undefined,
  failureCount: number,
  error: unknown,
  nowMs: number,
): Operation {
  const sent = operationOf(reportOf(error, nowMs));
  const attempt = failureCount + 1;
  const isItsOwn = sent?.attempt === attempt && sent.phase.kind === 'sending';
  const isNext = ({ attempt: known, phase: { kind } }: Operation): boolean =>
    kind !== 'ended' && known === (kind === 'waiting' ? failureCount : attempt);
  const operation = isItsOwn
    ? sent
    : (ledger.resume(isNext) ?? operations.begin('mutation', { attempt }));
  operation.becomeMutation(policy);
  operation.attend(plainOwner);
  return operation;
}
