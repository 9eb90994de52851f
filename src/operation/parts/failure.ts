import { reporterOf } from '../../lib/input/callback.ts';
import { decide, type Decision, processedAtEnd } from '../../policy/decide.ts';
import {
  isSafeMethod,
  type Operation as OperationView,
  type OperationRef,
} from '../../policy/operation.ts';
import type { Policy } from '../../policy/options.ts';
import type { Environment } from '../environment.ts';
import type { FailureReport, RequestFacts } from '../facts.ts';
import type { Attempts } from './attempts.ts';
import type { Effects } from './effects.ts';
import { type KnownErrors, mayHaveTakenEffect, speakForAll } from './known-errors.ts';
import type { Route } from './route.ts';

/** What is read of the operation that has failed. */
interface Failed {
  readonly ref: Omit<OperationRef, 'attempt'>;
  readonly attempts: Attempts;
  readonly effects: Effects;
  readonly errors: KnownErrors;
  readonly policyOf: (facts: RequestFacts) => Policy;
  readonly view: (facts: RequestFacts) => OperationView;
}

/** What a decision on a failure stands on. */
interface DecisionContext {
  readonly shared: Environment;
  readonly operation: Failed;
  /** Where the failed request went. */
  readonly route: Route;
  /** Whatever the operation sends may be sent again. */
  readonly idempotent: boolean | undefined;
  readonly nowMs: number;
}

const remedy =
  process.env.NODE_ENV !== 'production' &&
  'the status table decides. It must be synchronous and return true, false or undefined';

/** Decides whether another attempt follows a failure, and when. */
export function decideOn(
  report: FailureReport,
  { shared, operation, route, idempotent, nowMs }: DecisionContext,
): Decision {
  const { failure, url, effect } = report;
  const policy = operation.policyOf(report);
  const { isTrial, isLate, isDown, limitedMs } = route.fail(failure, nowMs);
  if (isTrial) operation.attempts.recordTrial();
  const isQuery = operation.ref.kind === 'query';
  // The next attempt is paused where this one went, without a wait of its own: that of a query before
  // it begins, any other by its request, and so not where something else has failed.
  const isPausedNext = isQuery || url !== undefined;
  // What this request itself may have done is an input already.
  if (effect) effect.isRepeatable = true;
  return decide(failure, operation.view(report), policy, {
    nowMs,
    random: shared.random,
    isUnrepeatable: !isQuery && !idempotent && operation.effects.isUnrepeatable(),
    isDown: isLate || (isPausedNext && isDown),
    limitedMs,
    onMistake: policy.shouldRetry && reporterOf(shared, 'shouldRetry', remedy),
  });
}

/** Records a decision: with the attempts, on the error, and in what the operation may have done. */
export function recordDecision(
  operation: Failed,
  error: unknown,
  report: FailureReport,
  decision: Decision,
): void {
  const { attempts, effects, errors, ref } = operation;
  const { method } = report;
  attempts.recordDecision(error, decision);
  // Of what another client has sent, all that is known is its error. Our own is counted already.
  const isOwn = report.operation === operation && method !== undefined && !isSafeMethod(method);
  if (!isOwn && mayHaveTakenEffect(report, operation)) effects.beginForeign();
  if (decision.kind === 'stop') {
    const processed = processedAtEnd(report.failure, ref, effects.isUnknown());
    report.failure = speakForAll(error, report.failure, processed);
  }
  report.operation = operation;
  report.decision = decision;
  errors.keep(error, report);
}
