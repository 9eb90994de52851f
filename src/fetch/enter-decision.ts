import type { Decision } from '../policy/decision.ts';
import { isSteadfetchError } from './errors.ts';
import { type FailureReport, reportFailure } from './failure-report.ts';
import { mayBeDone } from './is-in-doubt.ts';
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
  const isEnd = decision.kind === 'stop' && live.ref.kind === 'mutation';
  const failure = isEnd && mayBeDone(report, live) ? inDoubt(error, report) : report.failure;
  reportFailure(error, { ...report, failure, live, decision });
}

/**
 * A mutation that may have been done ends in an error which says that this is not known, whatever
 * its last attempt has shown: that is all there is to tell the person.
 */
function inDoubt(error: unknown, { failure }: FailureReport): FailureReport['failure'] {
  const outcome = { ...failure, processed: 'unknown' } as const;
  try {
    if (isSteadfetchError(error)) Object.assign(error, { outcome });
  } catch {
    // Frozen, or a proxy of somebody else's: it says what it says.
  }
  return outcome;
}
