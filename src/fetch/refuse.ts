import type { Admission } from '../origin/admission.ts';
import type { Failure, PauseReason } from '../policy/outcome.ts';
import { NotSentError } from './errors.ts';
import { reportFailure, type RequestFacts } from './failure-report.ts';
import type { LiveOperation, SentRequest } from './live-operation.ts';
import { view } from './operations.ts';
import { shown } from './request-parts.ts';

const said: Readonly<Record<PauseReason, string>> = {
  offline: 'the device is offline',
  'server-down': 'its server is down',
  'rate-limited': 'its server asks for a pause',
  queued: 'no place was free',
};

/** The error of an attempt that its gate did not let go, in time or at all. */
export function refuse(
  live: LiveOperation,
  facts: RequestFacts & SentRequest,
  gate: Admission,
  isOverBudget: boolean,
): NotSentError {
  // What an earlier attempt may have done, this one does not undo.
  const processed = live.unsure ? 'unknown' : 'no';
  const { reason, retryAt } = gate.whyPaused(facts);
  const outcome: Failure = isOverBudget
    ? { kind: 'over-budget', processed }
    : { kind: 'paused-too-long', reason, retryAt, processed };
  const why = isOverBudget ? 'the retry budget of its origin is spent' : said[reason];
  const error = new NotSentError(`${shown(`${live.sent?.name}`)}: not sent, ${why}.`, {
    operation: view(live, facts),
    outcome,
    cause: live.lastError ?? gate.lastFailure(),
  });
  reportFailure(error, { ...facts, live, failure: outcome });
  return error;
}
