import { reporterOf } from '../../lib/input/callback.ts';
import { decide, type Decision, processedAtEnd } from '../../policy/decide.ts';
import {
  isSafeMethod,
  type Operation as OperationView,
  type OperationRef,
} from '../../policy/operation.ts';
import type { Policy } from '../../policy/options.ts';
import type { Failure } from '../../policy/outcome.ts';
import type { Environment } from '../environment.ts';
import type { EventDetail } from '../events.ts';
import type { FailureReport, RequestFacts } from '../facts.ts';
import type { Failures } from './failures.ts';
import type { Effects } from './effects.ts';
import { type KnownErrors, mayHaveTakenEffect, speakForAll } from './known-errors.ts';
import type { Route } from './route.ts';

/** What is read of the operation that has failed. */
interface Failed {
  readonly ref: Omit<OperationRef, 'attempt'>;
  readonly effects: Effects;
  readonly errors: KnownErrors;
  readonly policyOf: (facts?: RequestFacts) => Policy;
  readonly view: (facts?: RequestFacts) => OperationView;
  readonly emit: (detail: EventDetail) => void;
}

/** What a decision on a failure stands on. */
interface DecisionContext {
  readonly shared: Environment;
  readonly operation: Failed;
  readonly failures: Failures;
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
export function decideFailure(
  report: FailureReport,
  { shared, operation, failures, route, idempotent, nowMs }: DecisionContext,
): Decision {
  const { failure, request, effect } = report;
  const policy = operation.policyOf(request);
  const { isTrial, isLate, isDown, limitedMs } = route.fail(failure, nowMs);
  if (isTrial) failures.recordTrial();
  const isQuery = operation.ref.kind === 'query';
  // The next attempt is paused where this one went, without a wait of its own: that of a query before
  // it begins, any other by its request, and so not where something else has failed.
  const isPausedNext = isQuery || request?.url !== undefined;
  // What this request itself may have done is an input already.
  effect?.allowRepeat();
  return decide(failure, operation.view(request), policy, {
    nowMs,
    random: shared.random,
    isUnrepeatable: !isQuery && !idempotent && operation.effects.isUnrepeatable(),
    isDown: isLate || (isPausedNext && isDown),
    limitedMs,
    onMistake: policy.shouldRetry && reporterOf(shared, 'shouldRetry', remedy),
  });
}

/** Records a decision, on the error and in what the operation may have done, and emits it. */
export function recordDecision(
  operation: Failed,
  failures: Failures,
  error: unknown,
  report: FailureReport,
  decision: Decision,
  failure: Failure = report.failure,
): void {
  failures.recordDecision(error, decision);
  const { effects, errors, ref } = operation;
  const { method, url } = report.request ?? {};
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
  const { maxRetries } = operation.policyOf(report.request);
  operation.emit({ type: 'decision', failure, decision, error, method, url, maxRetries });
}
