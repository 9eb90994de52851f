import type {
  DefaultError,
  MutationFunction,
  MutationFunctionContext,
  MutationKey,
  UseMutationOptions,
} from '@tanstack/react-query';
import { attemptContext, bindFetch } from '../../fetch/bind-fetch.ts';
import type { RawFetch, SteadyFetch } from '../../fetch/send.ts';
import type { SteadyJson } from '../../fetch/json.ts';
import { submissionExtension } from '../../fetch/keys.ts';
import { createSubmission } from '../../idempotency/key.ts';
import { inDevelopment } from '../../lib/development.ts';
import { checkMisnamed, reject } from '../../lib/input/check.ts';
import { runAttending } from '../../operation/error-info.ts';
import { runLoop } from '../../operation/loop.ts';
import type { OperationInit } from '../../operation/owner.ts';
import { refuseHandedOut } from '../../operation/parts/handed-out.ts';
import type { Submission } from '../../operation/parts/submission.ts';
import { definePolicy, inPolicy, type PolicyOptions } from '../../policy/options.ts';
import { type Instance, instanceOfSteady } from '../instance.ts';
import type { Steadfetch } from '../steadfetch.ts';
import { endOwnMutation } from './cancel.ts';
import {
  define,
  definitionBehind,
  type MutationDefinition,
  type MutationExtras,
} from './definition.ts';
import { type MutationRecord, recordBehind } from './record.ts';

/** The context of a mutationFn of `mutationOptions`: React Query's own, and more. */
export interface SteadyMutationContext extends MutationFunctionContext {
  /** `steady.fetch` for this mutation: its requests are part of it, also after an await. */
  readonly fetch: SteadyFetch;
  /** `steady.json` for this mutation. */
  readonly json: SteadyJson;
  /** `steady.rawFetch` for this mutation: for another client, as its `fetch`. */
  readonly rawFetch: RawFetch;
  /** Made once for each `mutate`, and the same on every attempt. Reading it has no effect. */
  readonly idempotencyKey: string;
  /**
   * The same key, for a client that sends past Steadfetch: calling it says that the client sends the key. Only
   * then may the submission be sent again without asking the user. What goes through `fetch`, `json` or
   * `rawFetch` needs no such word: there it is seen whether the key goes.
   *
   * @example
   * ```ts
   * const placeOrder = mutationOptions(steady, {
   *   mutationFn: (body: string, { takeKey, signal }) =>
   *     fetch('/orders', { method: 'POST', body, signal, headers: { 'Idempotency-Key': takeKey() } }),
   * });
   * ```
   */
  readonly takeKey: () => string;
  /** Counted from 1. */
  readonly attempt: number;
  /** Aborted when the mutation is cancelled. `fetch`, `json` and `rawFetch` have it already. */
  readonly signal: AbortSignal;
}

/** The options of `mutationOptions`: React Query's own, and a policy. */
export interface SteadyMutationOptions<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
> extends Omit<
  UseMutationOptions<TData, TError, TVariables, TOnMutateResult>,
  'mutationFn' | 'retry' | 'retryDelay' | 'networkMode'
> {
  /** Runs once for each attempt. */
  readonly mutationFn: (variables: TVariables, context: SteadyMutationContext) => Promise<TData>;
  /** Laid over the policy of the instance. */
  readonly policy?: PolicyOptions | undefined;
}

/** The same, with a key to ask for its status by. */
export interface KeyedMutationOptions<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
> extends Omit<SteadyMutationOptions<TData, TError, TVariables, TOnMutateResult>, 'mutationKey'> {
  readonly mutationKey: MutationKey;
}

/**
 * Makes React Query's options of a mutation that is sent again when that is right, also in a hidden
 * tab, with one idempotency key for each `mutate`. It runs its own loop: so its wait can be ended
 * (`useMutationStatus`), and no refetch waits for it.
 *
 * Rejects with the last error, as it was thrown. Its `outcome.processed` tells of the whole mutation:
 * `'no'` where surely nothing of it was done, else `'unknown'`. Of an error that is not ours,
 * `outcomeOf(error)` says it.
 *
 * A request is sent again with a key only where its API is declared to honour keys (`apis`).
 *
 * @throws TypeError when an option of the policy is not as it must be.
 *
 * @example
 * ```ts
 * const placeOrder = mutationOptions(steady, {
 *   mutationKey: ['order'],
 *   mutationFn: (order: { sku: string }, { json }) =>
 *     json<{ id: string }>('/api/orders', { json: order }),
 *   policy: { preset: 'critical' },
 * });
 * ```
 */
export function mutationOptions<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
>(
  steady: Steadfetch,
  options: KeyedMutationOptions<TData, TError, TVariables, TOnMutateResult>,
): UseMutationOptions<TData, TError, TVariables, TOnMutateResult> & {
  readonly mutationKey: MutationKey;
};
export function mutationOptions<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
>(
  steady: Steadfetch,
  options: SteadyMutationOptions<TData, TError, TVariables, TOnMutateResult>,
): UseMutationOptions<TData, TError, TVariables, TOnMutateResult>;
export function mutationOptions(
  steady: Steadfetch,
  all: SteadyMutationOptions<unknown, Error, never>,
): UseMutationOptions<unknown, Error, never> {
  const instance = instanceOfSteady(steady, 'mutationOptions');
  inDevelopment(() => checkOptions(all));
  const { mutationFn, policy: own, ...options } = all;
  const policy = definePolicy('mutationOptions', instance.policy, own);
  const make = (extras: MutationExtras): MutationFunction => {
    // React Query calls it as a method of the mutation's options.
    const steadyMutation = function (
      this: unknown,
      variables: unknown,
      given: MutationFunctionContext,
    ): Promise<unknown> {
      const record = recordBehind(this, given);
      instance.lifecycle.meet(given.client);
      const { submissionOf = () => createSubmission(instance.clock) } = extras;
      const submission = record.begin(() => submissionOf(variables as never));
      const call = (context: SteadyMutationContext): Promise<unknown> =>
        mutationFn(variables as never, context);
      return run(instance, record, { policy: own, submission }, given, call);
    };
    const extend = (more: MutationExtras): MutationFunction => make({ ...extras, ...more });
    return define(steadyMutation, { ...extras, policy, instance, end: endOwnMutation, extend });
  };
  const steadyFn = make({});
  // `retryDelay` stays in the options where another mutationFn is spread over them.
  const retryDelay = define(() => 0, definitionBehind(steadyFn) as MutationDefinition);
  return { ...options, mutationFn: steadyFn, retry: false, retryDelay, networkMode: 'always' };
}

/** @throws TypeError when an option is not as it must be. */
function checkOptions(all: SteadyMutationOptions<unknown, Error, never>): void {
  if (typeof all !== 'object' || all === null)
    reject('mutationOptions', 'its second argument', all, 'an object with a mutationFn');
  const { mutationFn, ...options } = all;
  if (typeof mutationFn !== 'function')
    reject('mutationOptions', 'mutationFn', mutationFn, 'a function');
  checkMisnamed('mutationOptions', options, ['policy'], [], inPolicy(true));
}

/** Runs the attempts of one call of a mutationFn. */
function run(
  instance: Instance,
  record: MutationRecord,
  { policy, submission }: OperationInit & { readonly submission: Submission },
  given: MutationFunctionContext,
  call: (context: SteadyMutationContext) => Promise<unknown>,
): Promise<unknown> {
  const { operations } = instance;
  const { executions } = operations;
  const operation = operations.begin('mutation', {
    policy,
    submission,
    submissionCode: submissionExtension,
  });
  if (record.isGone) operation.hurry();
  const controller = new AbortController();
  const { signal } = controller;
  const bound = bindFetch(instance, operation, signal);
  return new Promise((resolve, fail) => {
    const execution = {
      ...bound,
      operation,
      submission,
      isIdle: () => operation.phase.kind === 'sending' && bound.isIdle(),
      cancel(error: unknown) {
        fail(error);
        controller.abort();
      },
    };
    record.show(execution);
    executions.add(execution);
    const prepare = (): [SteadyMutationContext] => [
      attemptContext(given, bound.fetchNow(), submission, operation.attempt, signal),
    ];
    const runAttempt = async (context: SteadyMutationContext): Promise<unknown> => {
      const data = await runAttending(() => call(context));
      if (submission.isOfForm) refuseHandedOut(operation);
      return data;
    };
    void runLoop(instance, operation, signal, { prepare, run: runAttempt })
      .then(resolve, fail)
      .finally(() => executions.delete(execution));
  });
}
