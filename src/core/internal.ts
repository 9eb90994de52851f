// The parts of the core that the folders beside it use. Hooks are in `react`, tools in `lib` and `headers`.

// form
export { forgetForms } from './form/form.ts';
export type {
  Confirmation,
  SafeSubmitOptions,
  SafeSubmitResult,
  UnknownSubmission,
} from './form/safe-submit.ts';

// react-query
export { queryControlsOf } from './react-query/controls.ts';
export { createSteadfetch } from './react-query/create-steadfetch.ts';
export {
  findInstance,
  instanceBehind,
  instanceOf,
  instanceOfSteady,
  whatIsMade,
  type Instance,
} from './react-query/instance.ts';
export { cancelMutation, endOwnMutation } from './react-query/mutation/cancel.ts';
export {
  define,
  extendMutation,
  requireDefinition,
  type MutationDefinition,
  type MutationExtras,
} from './react-query/mutation/definition.ts';
export { recordBehind, runOf } from './react-query/mutation/record.ts';
export { mutationStatus, type MutationTarget } from './react-query/status/mutation.ts';
export { queryStatus, queryStatusesOf } from './react-query/status/query.ts';
export type { AnyPauseReason, RetryControls, RetryState } from './react-query/status/status.ts';
export { UnloadedQueries, loaded, type Unloaded } from './react-query/status/unloaded.ts';
export type { Steadfetch } from './react-query/steadfetch.ts';

// idempotency
export { createIdempotencyKey, createSubmission } from './idempotency/key.ts';

// api
export { readJson, toFailure, type ClassifiedFailure } from './api/outcomes.ts';

// fetch
export type { ErrorReader } from './fetch/api.ts';
export type { Attempt, Client, ClientInit } from './fetch/attempt/attempt.ts';
export { openBody, type BodyCheck } from './fetch/attempt/body/body-source.ts';
export type { Progress } from './fetch/attempt/limits/silence.ts';
export { attemptContext, bindFetch, type Fetches } from './fetch/bind-fetch.ts';
export { targetOf } from './fetch/endpoint.ts';
export { renewableAt, type Extension } from './fetch/extension.ts';
export { createFetch, type RawFetch, type SteadyFetch } from './fetch/send.ts';
export type { SteadyInit } from './fetch/init.ts';
export type { SteadyJson } from './fetch/json.ts';
export { submissionExtension } from './fetch/keys.ts';
export type { WaitingWrites } from './fetch/order/waiting-writes.ts';

// operation
export type { AttemptLimit } from './operation/environment.ts';
export { reportFailure, reportOf, runAttending } from './operation/error-info.ts';
export {
  SteadfetchError,
  isNetworkError,
  isNotSentError,
  isSteadfetchError,
  isTimeoutError,
} from './operation/errors.ts';
export type { Emitter, Enter, OperationResult, SteadfetchEvent } from './operation/events.ts';
export type { FailureReport } from './operation/facts.ts';
export type { LoopContext } from './operation/loop.ts';
export { operationOf, type Operation } from './operation/operation.ts';
export type { Execution } from './operation/operations.ts';
export { Owner, type HandedOver } from './operation/owner.ts';
export { refuseHandedOut } from './operation/parts/handed-out.ts';
export { mayHaveTakenEffect } from './operation/parts/known-errors.ts';
export { problemOf } from './operation/parts/problem.ts';
export {
  Submission,
  bornNow,
  renewRefused,
  type FixedBody,
  type KeyRules,
  type PastStep,
  type Step,
} from './operation/parts/submission.ts';

// connectivity
export type { ConnectivityState } from './connectivity/connectivity.ts';

// tabs
export {
  browserPorts,
  openChannel,
  watchPageState,
  type ShareChannel,
  type TabLife,
  type TabPorts,
} from './tabs/ports.ts';

// origin
export type { Pause } from './origin/ask.ts';
export { whenProbed } from './origin/gates.ts';
export { leastRate, type Health } from './origin/health/endpoint-health.ts';
export type { Network, Origin } from './origin/origin.ts';
export type { Origins } from './origin/origins.ts';
export { originStatus, stateOf, watchOrigins, type OriginState } from './origin/status.ts';
export { everything, groupsOf } from './origin/wait-queue.ts';

// policy
export { backoffDelay } from './policy/backoff.ts';
export type { Decision, StopReason } from './policy/decide.ts';
export {
  isIdempotentMethod,
  type OperationFacts,
  type OperationRef,
  type RetryReason,
} from './policy/operation.ts';
export {
  definePolicy,
  inPolicy,
  presets,
  type Policy,
  type PolicyOptions,
  type ShouldRetry,
} from './policy/options.ts';
export {
  failures,
  type Failure,
  type HttpFailure,
  type Outcome,
  type PauseReason,
  type Processed,
} from './policy/outcome.ts';
