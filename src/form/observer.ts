import {
  focusManager,
  type Mutation,
  MutationObserver,
  type MutationObserverResult,
  type QueryClient,
  type UseMutationOptions,
} from '@tanstack/react-query';
import type { Intent } from '../fetch/intent.ts';
import { cancelMutation } from '../react-query/mutation/controls.ts';
import { definitionBehind, extendMutation } from '../react-query/mutation/definition.ts';
import { mayHaveBegun, throwIfRefused } from '../react-query/mutation/execution.ts';
import { mutationStatus } from '../react-query/status/mutation.ts';
import type { Instance } from '../react-query/instance.ts';

/** The mutations of a form, one after the other, whoever shows it. */
export interface FormObserver<TData, TError, TVariables, TOnMutateResult> {
  readonly setOptions: (
    options: UseMutationOptions<TData, TError, TVariables, TOnMutateResult>,
  ) => void;
  readonly getResult: () => MutationObserverResult<TData, TError, TVariables, TOnMutateResult>;
  /** Sends it, under the key of this intent. */
  readonly send: (variables: TVariables, intent: Intent) => Promise<TData>;
  /** Whether the newest has surely not been done. */
  readonly hasFailed: () => boolean;
  /** A mutation that succeeds with what is known already. */
  readonly finish: (data: TData, variables: TVariables | undefined) => Promise<unknown>;
  /** Whether somebody keeps what it sends: the page may be left meanwhile. */
  readonly isKept: () => boolean;
  readonly reset: () => void;
}

/** No callback is called with variables that nobody knows. */
const silent: object = {
  onMutate: undefined,
  onSuccess: undefined,
  onError: undefined,
  onSettled: undefined,
};

/** `target` names it for `useMutationStatus`; `listener` is told of each change. */
export function createFormObserver<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  instance: Instance,
  target: string,
  listener: () => void,
): FormObserver<TData, TError, TVariables, TOnMutateResult> {
  let options: UseMutationOptions<TData, TError, TVariables, TOnMutateResult> = {};
  let intent: Intent | undefined;
  let newest: Mutation | undefined;
  let answer: { readonly data: TData; readonly isSilent: boolean } | undefined;

  const cache = client.getMutationCache();
  const observer = new MutationObserver<TData, TError, TVariables, TOnMutateResult>(client, {});
  observer.subscribe(listener);
  // Asked when the mutation runs, because its options may be others by then.
  const extras = {
    target,
    intentOf() {
      throwIfRefused(newest);
      return intent as Intent;
    },
    wasSent: () => !!intent?.wasSent,
    answer: () => answer,
  };
  let from: typeof options.mutationFn;
  let extended: typeof options.mutationFn;
  const apply = (): void => {
    // The mutationFn may come from setMutationDefaults.
    const { mutationFn } = client.defaultMutationOptions(options);
    if (from !== mutationFn) extended = extendMutation('useSafeSubmit', mutationFn, extras);
    from = mutationFn;
    const own = { ...options, ...(extended && { mutationFn: extended }) };
    observer.setOptions(answer?.isSilent ? { ...own, ...silent } : own);
  };

  /** One that is removed (`queryClient.clear()`) while it is queued in its scope would wait for ever. */
  const whileQueued = async (
    mutation: Mutation | undefined,
    promise: Promise<TData>,
  ): Promise<TData> => {
    const cancelQueued = (): void => {
      if (mutation?.state.isPaused && !mayHaveBegun(mutation)) cancelMutation(mutation, instance);
    };
    let stopFocus: (() => void) | undefined;
    const stop = cache.subscribe((event) => {
      if (event.type !== 'removed' || event.mutation !== mutation) return;
      cancelQueued();
      // In a hidden tab React Query lets nothing go on: there it ends once the tab is seen.
      stopFocus ??= focusManager.subscribe(cancelQueued);
    });
    try {
      return await promise;
    } finally {
      stop();
      stopFocus?.();
    }
  };

  return {
    setOptions(next) {
      options = next;
      apply();
    },
    getResult: () => observer.getCurrentResult(),
    send(variables, given) {
      intent = given;
      const promise = observer.mutate(variables);
      newest = cache.getAll().findLast((one) => one.options.mutationFn === (extended as unknown));
      return whileQueued(newest, promise);
    },
    hasFailed: () => mutationStatus(newest, cache, instance, undefined).status === 'failed',
    async finish(data, variables) {
      answer = { data, isSilent: variables === undefined };
      apply();
      try {
        await observer.mutate(variables as TVariables);
      } catch {
        // Its callbacks threw, which React Query shows: it is done all the same.
      }
      answer = undefined;
      apply();
    },
    isKept: () => definitionBehind(extended)?.isKept ?? false,
    reset: () => observer.reset(),
  };
}
