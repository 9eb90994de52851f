export type { ApiProfile } from './core/fetch/api.ts';
export type { CheckOptions, ConnectivityOptions } from './core/connectivity/check.ts';
export type { ConnectivitySource, ConnectivitySourceState } from './core/connectivity/page-life.ts';
export type { RawFetch, SteadyFetch } from './core/fetch/send.ts';
export type { Expected } from './core/fetch/api.ts';
export type { SteadyInit } from './core/fetch/init.ts';
export {
  HttpError,
  isHttpError,
  isNetworkError,
  isNotSentError,
  isSteadfetchError,
  isTimeoutError,
  isUnexpectedContentError,
  NetworkError,
  NotSentError,
  SteadfetchError,
  TimeoutError,
  UnexpectedContentError,
} from './core/operation/errors.ts';
export type { SteadfetchErrorCode, SteadfetchErrorInit } from './core/operation/errors.ts';
export {
  type ConditionalRequest,
  conditionalWrites,
  type ConditionalWritesOptions,
  type WasOursContext,
} from './core/api/conditional-writes.ts';
export {
  type ClassifiedFailure,
  classifyOutcomes,
  type OutcomeReaders,
} from './core/api/outcomes.ts';
export { deadlineHeader, type DeadlineHeaderOptions } from './core/api/deadline-header.ts';
export {
  type RefreshContext,
  refreshOn401,
  type RefreshOptions,
} from './core/api/refresh-on-401.ts';
export { defineIdempotency } from './core/idempotency/profiles.ts';
export type {
  BodyIdempotency,
  HeaderIdempotency,
  IdempotencyDeclaration,
  IdempotencyProfile,
  IdempotencyRules,
} from './core/fetch/api.ts';
export { profiles } from './core/idempotency/profiles.ts';
export type { KeyedInit } from './core/fetch/init.ts';
export { createIdempotencyKey } from './core/idempotency/key.ts';
export type { KeyForm } from './core/idempotency/key.ts';
export type { MadeBy } from './core/lib/input/made-by.ts';
export { outcomeOf } from './core/operation/errors.ts';
export { type Problem, problemOf } from './core/operation/parts/problem.ts';
export { rateLimitFields } from './core/headers/rate-limit.ts';
export { fallback, type Fallback } from './core/react-query/query/fallback.ts';
export type { FallbackContext } from './core/react-query/query/fallback.ts';
export type { Listener, OperationResult, SteadfetchEvent } from './core/operation/events.ts';
export type { JsonInit, SteadyJson } from './core/fetch/json.ts';
export type { OriginState } from './core/origin/status.ts';
export type { OriginOptions } from './core/origin/origin.ts';
export { limitConcurrency, type ConcurrencyOptions } from './core/origin/origin.ts';
export type { HealthOptions } from './core/origin/health/health.ts';
export { shareAcrossTabs } from './core/tabs/share-across-tabs.ts';
export type { ShareChannel, SharePorts } from './core/tabs/ports.ts';
export type { TabLife } from './core/tabs/ports.ts';
export type { BackoffInput, BackoffType } from './core/policy/backoff.ts';
export { backoffDelay } from './core/policy/backoff.ts';
export type { Clock, KeySource, Random, Transport } from './core/lib/clock.ts';
export { decide } from './core/policy/decide.ts';
export type { DecideContext } from './core/policy/decide.ts';
export type { Decision, StopReason } from './core/policy/decide.ts';
export type { OperationFacts, OperationRef, RetryReason } from './core/policy/operation.ts';
export { presets } from './core/policy/options.ts';
export type {
  Policy,
  PolicyOptions,
  PresetName,
  Priority,
  ShouldRetry,
  Timeout,
  WhenBack,
  WhenDown,
} from './core/policy/options.ts';
export type { Failure, PauseReason, Outcome, Processed } from './core/policy/outcome.ts';
export type { DeclaredRateLimit, RateLimitDialect } from './core/headers/rate-limit.ts';
export { parseRetryAfter } from './core/headers/retry-after.ts';
export type { RetryAfterContext } from './core/headers/retry-after.ts';
export {
  composePersister,
  type ComposedPersister,
} from './core/react-query/query/compose-persister.ts';
export { mergeDefaultOptions } from './core/react-query/default-options.ts';
export { createSteadfetch } from './core/react-query/create-steadfetch.ts';
export { watchConnectivity } from './core/react-query/network.ts';
export { observeOnly } from './core/react-query/observe/observe.ts';
export { mutationOptions } from './core/react-query/mutation/options.ts';
export type {
  KeyedMutationOptions,
  SteadyMutationContext,
  SteadyMutationOptions,
} from './core/react-query/mutation/options.ts';
export { linkClient, rawFetchFor } from './core/react-query/link-client.ts';
export { retry } from './core/react-query/retry.ts';
export type { RetryContext, RetryFallback, RetryOptions } from './core/react-query/retry.ts';
export type {
  AnyPersister,
  MutationPolicyOptions,
  ObservedReport,
  QueryBasics,
  QueryPolicy,
  QueryPolicyOptions,
  RetryPair,
  SpreadRetryPair,
  Steadfetch,
  SteadfetchConfig,
  SteadyPersister,
} from './core/react-query/steadfetch.ts';
