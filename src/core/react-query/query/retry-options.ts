import { inDevelopment } from '../../lib/development.ts';
import type { QueryClient } from '@tanstack/react-query';
import { SteadyRequest } from '../../fetch/request.ts';
import { reportOf } from '../../operation/error-info.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import type { LoopContext } from '../../operation/loop.ts';
import type { Operations } from '../../operation/operations.ts';
import { Owner } from '../../operation/owner.ts';
import { warn } from '../../lib/input/warn.ts';
import { maxTimerMs } from '../../lib/clock.ts';
import { ownDelay } from '../../policy/decide.ts';
import type { PolicyOptions } from '../../policy/options.ts';
import type { FailureLedger } from './failure-ledger.ts';
import { isServer } from '../instance.ts';
import { markAsUsed, warnOfUnrepeatable } from '../misuse.ts';
import type { RetryPair } from '../steadfetch.ts';
import { oldestSubmission } from '../mutation/lifecycle.ts';
import { mutationChanges } from '../mutation/record.ts';
import type { OverdueRetries } from './refetch.ts';

/** The dependencies of `retry` and `retryDelay`. */
export interface RetryPairContext extends LoopContext {
  readonly ledger: FailureLedger;
  readonly overdue: OverdueRetries;
  readonly clients: () => readonly QueryClient[];
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
      if (kind === 'query' && decision?.kind === 'retry') overdue.expectRetry(decision.retryAt);
      // If our policy stops but the app's own `retry` continues, it continues at React Query's pace.
      const wantedMs =
        decision?.kind === 'retry'
          ? decision.delayMs
          : ownDelay(failureCount, operation.errors.waitedMs);
      const delayMs = Math.min(wantedMs, maxTimerMs);
      operation.errors.waitUntil(failedAt + delayMs);
      return delayMs;
    },
    retry(failureCount, error) {
      const operation = ledger.claim(failureCount, error, true, begin);
      // Here, because an app's own `retry` may send it again all the same.
      inDevelopment(() => warnOfUnrepeatable(context.operations, operation));
      // On a server nothing is retried, whatever the policy of the call.
      return operation.errors.decision?.kind === 'retry' && !isServer();
    },
  };
}

/** Makes the operation of a query that the persister has not seen: it was replaced, or the server began the fetch. */
function beginQuery(
  { operations }: RetryPairContext,
  policy: PolicyOptions | undefined,
  failureCount: number,
): Operation {
  inDevelopment(() => markAsUsed(operations));
  if (process.env.NODE_ENV !== 'production' && failureCount > 0) {
    warn(
      operations,
      'persister',
      `A query is retried without Steadfetch's persister, so its attempts, start and waits are not ` +
        `known, and it cannot show its status. Wrap your own persister: spread composePersister(steady, yours) into the options.`,
      'retry/default-options.md#default-options',
    );
  }
  return operations.begin('query', { policy, attempt: failureCount + 1 });
}

/** The owner of plain mutations. It is not known which mutation an operation belongs to. */
const plainOwner = new (class extends Owner {
  override onChange(): void {
    mutationChanges.emit(undefined);
  }
})();

/** The operation of a plain mutation: that of the failed request, if the request was ours. */
function beginMutation(
  { operations, ledger, clients }: RetryPairContext,
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
  if (mayHaveWritten(operations, clients, sent)) operation.effects.beginForeign(false);
  return operation;
}

/** Whether its mutationFn may have sent another request that must not be done twice. Requests do not name their mutation. */
function mayHaveWritten(
  { live, lastWriteId }: Operations,
  clients: () => readonly QueryClient[],
  failed: Operation | undefined,
): boolean {
  const since = oldestSubmission(clients());
  if (lastWriteId > since && lastWriteId !== failed?.ref.id) return true;
  for (const one of live)
    if (one instanceof SteadyRequest && one.isLoneWrite && one.operation.ref.id > since)
      return true;
  return false;
}
