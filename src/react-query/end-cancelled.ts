import { enterDecision } from '../fetch/enter-decision.ts';
import type { FailureReport } from '../fetch/failure-report.ts';
import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Operations } from '../fetch/operations.ts';
import type { Decision } from '../policy/decide.ts';
import { failures } from '../policy/outcome.ts';

/** Ends an operation, which the user has cancelled, with this error. */
export function endCancelled(
  operations: Operations,
  live: LiveOperation,
  error: unknown,
  report: FailureReport,
): void {
  const decision: Decision = { kind: 'stop', reason: 'cancelled', retryAt: undefined };
  enterDecision(live, error, report, decision);
  operations.emit(live, { type: 'decision', failure: failures.aborted, decision, error });
  operations.end(live, 'cancelled');
}
