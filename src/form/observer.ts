import {
  type Mutation,
  type MutationFunction,
  type MutationObserverResult,
  type QueryClient,
  type UseMutationOptions,
  focusManager,
  MutationObserver,
} from '@tanstack/react-query';
import type { Submission } from '../operation/parts/submission.ts';
import { cancelMutation } from '../react-query/controls.ts';
import type { Instance } from '../react-query/instance.ts';
import { definitionBehind, extendMutation } from '../react-query/mutation/definition.ts';
import { mayHaveBegun, throwIfRefused } from '../react-query/mutation/execution.ts';
import { mutationStatus } from '../react-query/status/mutation.ts';

/** No callback is called with variables that nobody knows. */
const silent: object = {
  onMutate: undefined,
  onSuccess: undefined,
  onError: undefined,
  onSettled: undefined,
};

/** The mutations of a form, one after the other. */
export class FormObserver<TData, TError, TVariables, TOnMutateResult> {
  readonly #client: QueryClient;
  readonly #instance: Instance;
  readonly #observer: MutationObserver<TData, TError, TVariables, TOnMutateResult>;
  #options: UseMutationOptions<TData, TError, TVariables, TOnMutateResult> = {};
  #submission: Submission | undefined;
  #newest: Mutation | undefined;
  #answer: { readonly data: TData; readonly isSilent: boolean } | undefined;
  /** The mutationFn of the options, and the same with what the form adds. */
  #from: MutationFunction<TData, TVariables> | undefined;
  #extended: MutationFunction<TData, TVariables> | undefined;
  readonly #extras: Parameters<typeof extendMutation>[2];

  /** `target` names its mutations for `useMutationStatus`; `listener` is called at each change. */
  constructor(client: QueryClient, instance: Instance, target: string, listener: () => void) {
    this.#client = client;
    this.#instance = instance;
    this.#observer = new MutationObserver(client, {});
    this.#observer.subscribe(listener);
    // Functions, because they are called when the mutation runs.
    this.#extras = {
      target,
      submissionOf: () => {
        throwIfRefused(this.#newest);
        return this.#submission as Submission;
      },
      wasSent: () => !!this.#submission?.wasSent,
      answer: () => this.#answer,
    };
  }

  setOptions(options: UseMutationOptions<TData, TError, TVariables, TOnMutateResult>): void {
    this.#options = options;
    this.#apply();
  }

  result(): MutationObserverResult<TData, TError, TVariables, TOnMutateResult> {
    return this.#observer.getCurrentResult();
  }

  /** Sends it under the key of this submission. */
  send(variables: TVariables, submission: Submission): Promise<TData> {
    this.#submission = submission;
    const promise = this.#observer.mutate(variables);
    const all = this.#client.getMutationCache().getAll();
    const isOurs = (one: Mutation): boolean =>
      one.options.mutationFn === (this.#extended as unknown);
    this.#newest = all.findLast(isOurs);
    return this.#whileQueued(this.#newest, promise);
  }

  /** Whether the newest was certainly not done. */
  hasFailed(): boolean {
    const cache = this.#client.getMutationCache();
    return mutationStatus(this.#newest, cache, this.#instance, undefined).status === 'failed';
  }

  /** Ends as a mutation that succeeds with data that is known already. */
  async finish(data: TData, variables: TVariables | undefined): Promise<void> {
    this.#answer = { data, isSilent: variables === undefined };
    this.#apply();
    try {
      await this.#observer.mutate(variables as TVariables);
    } catch {
      // A callback threw, which React Query shows. It is done all the same.
    }
    this.#answer = undefined;
    this.#apply();
  }

  /** Whether an outbox stores what it sends, so that the page may be left. */
  isKept(): boolean {
    return definitionBehind(this.#extended)?.follow !== undefined;
  }

  /** Where an outbox stores it: calls back once what was submitted under this key is done. */
  follow(key: string, onDone: (data: TData) => void): (() => void) | undefined {
    const follow = definitionBehind(this.#extended)?.follow;
    // What an entry of this mutation ends with is its data.
    return follow?.(key, (data) => onDone(data as TData));
  }

  reset(): void {
    this.#observer.reset();
  }

  #apply(): void {
    const options = this.#options;
    // The mutationFn may come from setMutationDefaults.
    const { mutationFn } = this.#client.defaultMutationOptions(options);
    if (this.#from !== mutationFn)
      this.#extended = extendMutation('useSafeSubmit', mutationFn, this.#extras);
    this.#from = mutationFn;
    const own = { ...options, ...(this.#extended && { mutationFn: this.#extended }) };
    this.#observer.setOptions(this.#answer?.isSilent ? { ...own, ...silent } : own);
  }

  /** A mutation that is removed (`queryClient.clear()`) while it is queued in its scope would never end. */
  async #whileQueued(mutation: Mutation | undefined, promise: Promise<TData>): Promise<TData> {
    const cancelQueued = (): void => {
      if (mutation?.state.isPaused && !mayHaveBegun(mutation))
        cancelMutation(mutation, this.#instance);
    };
    let stopFocus: (() => void) | undefined;
    const stop = this.#client.getMutationCache().subscribe((event) => {
      if (event.type !== 'removed' || event.mutation !== mutation) return;
      cancelQueued();
      // In a hidden tab React Query continues nothing: there it ends once the tab is visible.
      stopFocus ??= focusManager.subscribe(cancelQueued);
    });
    try {
      return await promise;
    } finally {
      stop();
      stopFocus?.();
    }
  }
}
