export type { ApiProfile } from './fetch/api.ts';
export type { CheckOptions, ConnectivityOptions } from './connectivity/check.ts';
export type { ConnectivitySource, ConnectivitySourceState } from './connectivity/page-life.ts';
export type { RawFetch, SteadyFetch } from './fetch/fetch.ts';
export type { Expected } from './fetch/api.ts';
export type { SteadyInit } from './fetch/init.ts';
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
} from './operation/errors.ts';
export type { SteadfetchErrorCode, SteadfetchErrorInit } from './operation/errors.ts';
export {
  type ConditionalRequest,
  conditionalWrites,
  type ConditionalWritesOptions,
  type WasOursContext,
} from './api/conditional-writes.ts';
export { type ClassifiedFailure, classifyOutcomes, type OutcomeReaders } from './api/outcomes.ts';
export { deadlineHeader, type DeadlineHeaderOptions } from './api/deadline-header.ts';
export { type RefreshContext, refreshOn401, type RefreshOptions } from './api/refresh-on-401.ts';
export { defineIdempotency } from './idempotency/profiles.ts';
export type {
  BodyIdempotency,
  HeaderIdempotency,
  IdempotencyDeclaration,
  IdempotencyProfile,
  IdempotencyRules,
} from './fetch/api.ts';
export { profiles } from './idempotency/profiles.ts';
export type { KeyedInit } from './fetch/init.ts';
export { createIdempotencyKey } from './idempotency/key.ts';
export type { KeyForm } from './idempotency/key.ts';
export type { MadeBy } from './lib/input/made-by.ts';
export { outcomeOf } from './operation/errors.ts';
export { type Problem, problemOf } from './operation/parts/problem.ts';
export { rateLimitFields } from './headers/rate-limit.ts';
export { fallback, type Fallback } from './react-query/query/fallback.ts';
export type { FallbackContext } from './react-query/query/fallback.ts';
export type { Listener, OperationResult, SteadfetchEvent } from './operation/events.ts';
export type { JsonInit, SteadyJson } from './fetch/json.ts';
export type { OriginState } from './origin/status.ts';
export type { OriginOptions } from './origin/origin.ts';
export { limitConcurrency, type ConcurrencyOptions } from './origin/origin.ts';
export type { HealthOptions } from './origin/health/health.ts';
export { shareAcrossTabs } from './tabs/share-across-tabs.ts';
export type { ShareChannel, SharePorts } from './tabs/ports.ts';
export type { TabLife } from './tabs/ports.ts';
export type { BackoffInput, BackoffType } from './policy/backoff.ts';
export { backoffDelay } from './policy/backoff.ts';
export type { Clock, KeySource, Random, Transport } from './lib/clock.ts';
export { decide } from './policy/decide.ts';
export type { DecideContext } from './policy/decide.ts';
export type { Decision, StopReason } from './policy/decide.ts';
export type { Operation, OperationRef, RetryReason } from './policy/operation.ts';
export { presets } from './policy/options.ts';
export type {
  Policy,
  PolicyOptions,
  PresetName,
  Priority,
  ShouldRetry,
  Timeout,
  WhenBack,
  WhenDown,
} from './policy/options.ts';
export type { Failure, PauseReason, Outcome, Processed } from './policy/outcome.ts';
export type { DeclaredRateLimit, RateLimitDialect } from './headers/rate-limit.ts';
export { parseRetryAfter } from './headers/retry-after.ts';
export type { RetryAfterContext } from './headers/retry-after.ts';
export { composePersister, type ComposedPersister } from './react-query/query/compose-persister.ts';
export { mergeDefaultOptions } from './react-query/default-options.ts';
export { createSteadfetch } from './react-query/create-steadfetch.ts';
export { watchConnectivity } from './react-query/network.ts';
export { observeOnly } from './react-query/observe.ts';
export { mutationOptions } from './react-query/mutation/options.ts';
export type {
  KeyedMutationOptions,
  SteadyMutationContext,
  SteadyMutationOptions,
} from './react-query/mutation/options.ts';
export { linkClient, rawFetchFor } from './react-query/link-client.ts';
export { retry } from './react-query/retry.ts';
export type { RetryContext, RetryFallback, RetryOptions } from './react-query/retry.ts';
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
} from './react-query/steadfetch.ts';
