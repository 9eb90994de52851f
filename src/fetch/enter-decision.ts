import type { Decision } from '../policy/decide.ts';
import type { Failure } from '../policy/outcome.ts';
import { isSteadfetchError } from './errors.ts';
import { type FailureReport, reportFailure } from './failure-report.ts';
import { isInDoubt, mayBeDone, weightOf } from './is-in-doubt.ts';
import type { LiveOperation } from './live-operation.ts';

/** Enters what was decided about a failure. */
export function enterDecision(
  live: LiveOperation,
  error: unknown,
  report: FailureReport,
  decision: Decision,
): void {
  live.decision = decision;
  live.lastError = error;
  // Of what another client has sent, all that is known is its error. Our own is counted already.
  const { method, idempotent } = report;
  const isOwn = report.live === live && method !== undefined && weightOf({ method, idempotent });
  if (!isOwn && mayBeDone(report, live)) live.doubts++;
  const isEnd = decision.kind === 'stop';
  // What one attempt has surely not done, another may have.
  const isOfAll = live.ref.kind === 'mutation' || report.failure.processed === 'no';
  const failure = isEnd && isOfAll ? endOf(live, error, report) : report.failure;
  report.failure = failure;
  report.live = live;
  report.decision = decision;
  reportFailure(error, report);
}

/**
 * An operation ends in an error which says of all of it what its last attempt has shown of itself: it
 * was surely not done, or that is not known.
 */
function endOf(live: LiveOperation, error: unknown, report: FailureReport): Failure {
  const processed = isInDoubt(live) ? 'unknown' : 'no';
  const outcome = { ...report.failure, processed } as const;
  try {
    if (isSteadfetchError(error)) Object.assign(error, { outcome });
  } catch {
    // Frozen, or a proxy of somebody else's: it says what it says.
  }
  return outcome;
}
