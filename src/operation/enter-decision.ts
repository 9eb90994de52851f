import { type Decision, processedAtEnd } from '../policy/decide.ts';
import { isSafeMethod } from '../policy/operation.ts';
import type { Failure } from '../policy/outcome.ts';
import { reportFailure, reportOf } from './error-info.ts';
import { isSteadfetchError } from './errors.ts';
import { type FailureReport, type LiveOperation, mayHaveTakenEffect } from './operation.ts';

/** What is known of an error that an attempt has ended in: by itself, or by the request that it was made of. */
export function reportWithin(live: LiveOperation, error: unknown, nowMs: number): FailureReport {
  const own = reportOf(error, nowMs);
  const { raw } = live;
  return own.failure.kind === 'error' && raw?.attempt === live.attempt ? { ...raw.report } : own;
}

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
  const { method } = report;
  const isOwn = report.live === live && method !== undefined && !isSafeMethod(method);
  if (!isOwn && mayHaveTakenEffect(report, live)) live.effects.beginForeign();
  const failure = decision.kind === 'stop' ? endOf(live, error, report.failure) : report.failure;
  report.failure = failure;
  report.live = live;
  report.decision = decision;
  reportFailure(error, report);
}

/** The error that an operation ends in speaks for all of its requests. */
function endOf(live: LiveOperation, error: unknown, failure: Failure): Failure {
  const processed = processedAtEnd(failure, live.ref, live.effects.isUnknown());
  if (processed === failure.processed) return failure;
  const outcome = { ...failure, processed } as const;
  try {
    if (isSteadfetchError(error)) Object.assign(error, { outcome });
  } catch {
    // Frozen, or a proxy of somebody else's: it says what it says.
  }
  return outcome;
}
