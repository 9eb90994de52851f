import type {
  DefaultError,
  Mutation,
  MutationFunction,
  MutationFunctionContext,
  MutationKey,
  UseMutationOptions,
} from '@tanstack/react-query';
import { attemptContext, bindFetch } from '../../fetch/bind-fetch.ts';
import type { RawFetch, SteadyFetch } from '../../fetch/fetch.ts';
import { createJson, type SteadyJson } from '../../fetch/json.ts';
import { bornNow, Submission } from '../../operation/parts/submission.ts';
import { runLoop } from '../../operation/loop.ts';
import { submissionExtension } from '../../fetch/keys.ts';
import { checkMisnamed, reject } from '../../lib/input/check.ts';
import { createIdempotencyKey } from '../../idempotency/key.ts';
import { definePolicy, inPolicy, type PolicyOptions } from '../../policy/options.ts';
import {
  createSpreadMark,
  define,
  type MutationDefinition,
  type MutationExtras,
  markOwnFailure,
  watchSpread,
} from './definition.ts';
import { beginMutation, recordOf, runOf } from './execution.ts';
import { cancelMutation } from './cancel.ts';
import { type Instance, instanceOfSteady } from '../instance.ts';
import type { Steadfetch } from '../steadfetch.ts';

/** What a mutationFn of `mutationOptions` is told, beside what React Query tells it. */
export interface SteadyMutationContext extends MutationFunctionContext {
  /** `steady.fetch` for this mutation: what it sends is part of it, also after an await. */
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

/** What `mutationOptions` takes: React Query's options, and a policy. */
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
  /** How its failures are answered, laid over the policy of the instance. */
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
  const context = instanceOfSteady(steady, 'mutationOptions');
  if (process.env.NODE_ENV !== 'production' && (typeof all !== 'object' || all === null))
    reject('mutationOptions', 'its second argument', all, 'an object with a mutationFn');
  const { mutationFn, policy: own, ...options } = all;
  if (process.env.NODE_ENV !== 'production' && typeof mutationFn !== 'function')
    reject('mutationOptions', 'mutationFn', mutationFn, 'a function');
  if (process.env.NODE_ENV !== 'production')
    checkMisnamed('mutationOptions', options, ['policy'], [], inPolicy(true));
  const policy = definePolicy('mutationOptions', context.policy, own);
  const { fetch, operations } = context;
  const end: MutationDefinition['end'] = (mutation, isSessionOver) =>
    endMutation(mutation, isSessionOver, context);
  const shared = { policy, operations, instance: context, fetch, json: createJson(fetch), end };
  const make = (extras: MutationExtras): SteadyFn => {
    const extend: MutationDefinition['extend'] = (more) => make({ ...extras, ...more });
    // React Query calls it as a method of the mutation's options.
    const steadyMutation = function (this: unknown, variables: unknown, given: Given) {
      try {
        return run(context, { ...extras, policy: own, mutationFn }, this, variables, given);
      } catch (error) {
        // There is no key without strong randomness.
        if (process.env.NODE_ENV !== 'production') markOwnFailure(error);
        throw error;
      }
    };
    return define(steadyMutation, { ...extras, ...shared, extend });
  };
  const steadyFn = make({});
  return {
    ...options,
    mutationFn: steadyFn,
    retry: false,
    retryDelay: createSpreadMark(steadyFn),
    networkMode: 'always',
  };
}

type Given = MutationFunctionContext;
type SteadyFn = MutationFunction;

interface ExecutionParts extends MutationExtras {
  readonly policy: PolicyOptions | undefined;
  readonly mutationFn: (variables: never, context: SteadyMutationContext) => Promise<unknown>;
}

/** Of a mutation that is gone from its cache before its mutationFn was called: it goes at once, once, or not at all. */
const nowOrNever = { maxRetries: 0, whenDown: 'fail' } as const;

/**
 * Ends a mutation that is gone from its cache, or whose session has ended. What has nothing under way, and
 * waits for nothing, may be the log-out itself: it ends as it does, and sends nothing more.
 */
function endMutation(mutation: Mutation, isSessionOver: boolean, instance: Instance): void {
  recordOf(mutation).leave();
  const { operation, isIdle } = runOf(mutation) ?? {};
  if (operation && operation === instance.operations.current) return;
  if (operation?.phase.kind === 'sending' && isIdle?.()) operation.leave();
  else if (operation || mutation.state.isPaused || isSessionOver)
    cancelMutation(mutation, instance);
}

function run(
  context: Instance,
  { mutationFn, policy, submissionOf, answer }: ExecutionParts,
  options: unknown,
  variables: unknown,
  given: Given,
): Promise<unknown> {
  const { operations, clock, lifecycle } = context;
  lifecycle.meet(given.client);
  if (process.env.NODE_ENV !== 'production') watchSpread(given.client);
  const record = beginMutation(given, options, variables);
  const submission = record.submit(() =>
    submissionOf
      ? submissionOf(variables as never)
      : new Submission({ key: createIdempotencyKey(), ...bornNow(clock) }),
  );
  const known = answer?.();
  if (known) return Promise.resolve(known.data);
  record.throwIfRefused();
  const operation = operations.begin('mutation', {
    policy: record.isGone ? { ...policy, ...nowOrNever } : policy,
    submission,
    submissionCode: submissionExtension,
  });
  const controller = new AbortController();
  const { signal } = controller;
  const bound = bindFetch(context, operation, signal);
  return new Promise((resolve, fault) => {
    const fail = (error: unknown): void => {
      if (process.env.NODE_ENV !== 'production') markOwnFailure(error);
      fault(error);
    };
    const cancel = (error: unknown): void => {
      fail(error);
      controller.abort();
    };
    record.show({ ...bound, operation, cancel });
    const isIdle = (): boolean => operation.phase.kind === 'sending' && bound.isIdle();
    const execution = { submission, operation, isIdle };
    operations.executions.add(execution);
    const prepare = (): [never, SteadyMutationContext] => {
      const { attempt } = operation;
      const own = bound.fetchNow();
      return [variables as never, attemptContext(given, own, submission, attempt, signal)];
    };
    void runLoop(context, operation, signal, { prepare, run: mutationFn })
      .then(resolve, fail)
      .finally(() => operations.executions.delete(execution));
  });
}
