export type { ApiProfile, IdempotencyProfile } from './fetch/api-profile.ts';
export type { SteadyFetch, SteadyInit } from './fetch/create-fetch.ts';
export {
  HttpError,
  isHttpError,
  isNetworkError,
  isSteadfetchError,
  isTimeoutError,
  NetworkError,
  SteadfetchError,
  TimeoutError,
} from './fetch/errors.ts';
export type { SteadfetchErrorCode, SteadfetchErrorInit } from './fetch/errors.ts';
export type { Listener, OperationResult, SteadfetchEvent } from './fetch/events.ts';
export type { JsonInit, SteadyJson } from './fetch/json.ts';
export type { RetryContext, RetryOptions, SteadyRetry } from './fetch/retry.ts';
export type { BackoffInput, BackoffType } from './policy/backoff.ts';
export { backoffDelay } from './policy/backoff.ts';
export type { Clock, Random, Transport } from './policy/clock.ts';
export { decide } from './policy/decide.ts';
export type { DecideContext } from './policy/decide.ts';
export type { Decision, RetryReason, StopReason } from './policy/decision.ts';
export type { Operation, OperationRef } from './policy/operation.ts';
export { presets } from './policy/options.ts';
export type { Policy, PolicyOptions, PresetName, ShouldRetry, Timeout } from './policy/options.ts';
export type { Failure, Outcome, Processed } from './policy/outcome.ts';
export { parseRetryAfter } from './policy/retry-after.ts';
export type { RetryAfterContext } from './policy/retry-after.ts';
export { createSteadfetch } from './query/create-steadfetch.ts';
export type {
  MutationPolicyOptions,
  QueryPolicy,
  Steadfetch,
  SteadfetchConfig,
} from './query/steadfetch.ts';
export type { AnyPersister, SteadyPersister } from './query/persister.ts';
export type { RetryPair, SpreadRetryPair } from './query/retry-pair.ts';
