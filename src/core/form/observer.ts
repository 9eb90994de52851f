import {
  type Mutation,
  type MutationFunction,
  type MutationObserverOptions,
  type MutationObserverResult,
  MutationObserver,
  type QueryClient,
  type UseMutationOptions,
} from '@tanstack/react-query';
import type { Submission } from '../operation/parts/submission.ts';
import type { Instance } from '../react-query/instance.ts';
import { define, definitionBehind, extendMutation } from '../react-query/mutation/definition.ts';
import { type MutationRecord, recordOf, runOf } from '../react-query/mutation/record.ts';
import { mutationStatus, type MutationTarget } from '../react-query/status/mutation.ts';

type Options = UseMutationOptions<unknown, Error, unknown>;

/** Variables that are not known are passed to no callback. */
const silent = {
  onMutate: undefined,
  onSuccess: undefined,
  onError: undefined,
  onSettled: undefined,
} as object as Options;

/** A mutationFn that sends nothing, and counts as this one. */
function unsent(work: MutationFunction, counted: MutationFunction | undefined): MutationFunction {
  const definition = definitionBehind(counted);
  return definition ? define(work, definition) : work;
}

/** The mutations of a form, one after the other. */
export class FormObserver {
  /** The target for `useMutationStatus`. */
  readonly target: MutationTarget;
  readonly #client: QueryClient;
  readonly #instance: Instance;
  readonly #observer: MutationObserver<unknown, Error, unknown>;
  #options: Options = {};
  #newest: Mutation | undefined;
  /** The mutationFn of the options, and the same for this form. */
  #given: MutationFunction | undefined;
  #own: MutationFunction | undefined;
  /** The options of a mutation whose data are known already. */
  #finishing: MutationObserverOptions<unknown, Error, unknown> | undefined;

  /** @param listener - Called at each change. */
  constructor(client: QueryClient, instance: Instance, target: string, listener: () => void) {
    this.#client = client;
    this.#instance = instance;
    this.target = { mutation: target };
    this.#observer = new MutationObserver(client, {});
    this.#observer.subscribe(listener);
  }

  setOptions(options: Options): void {
    this.#options = options;
    // The mutationFn may come from setMutationDefaults.
    const { mutationFn } = this.#client.defaultMutationOptions(options);
    if (this.#given !== mutationFn)
      this.#own = extendMutation('useSafeSubmit', mutationFn, { target: this.target.mutation });
    this.#given = mutationFn;
    const own = this.#own && { mutationFn: this.#own };
    this.#observer.setOptions({ ...options, ...own, ...this.#finishing });
  }

  result(): MutationObserverResult<unknown, Error, unknown> {
    return this.#observer.getCurrentResult();
  }

  /** Sends the variables under the key of this submission. */
  send(variables: unknown, submission: Submission): Promise<unknown> {
    return this.#mutate(variables, this.#own, (record) => record.prepare(submission));
  }

  /** @param prepare - Called before the mutationFn is: that happens in a later microtask. */
  #mutate(
    variables: unknown,
    mutationFn: unknown,
    prepare: (record: MutationRecord) => void,
  ): Promise<unknown> {
    const promise = this.#observer.mutate(variables);
    const all = this.#client.getMutationCache().getAll();
    this.#newest = all.filter(({ options }) => options.mutationFn === mutationFn).pop();
    if (this.#newest) prepare(recordOf(this.#newest));
    return promise;
  }

  /** Whether the newest has no outcome yet. Its callbacks run when it has one. */
  isSending(): boolean {
    return !this.#newest || runOf(this.#newest)?.operation.phase.kind !== 'ended';
  }

  /** Whether the newest was certainly not done. */
  hasFailed(): boolean {
    const cache = this.#client.getMutationCache();
    return mutationStatus(this.#newest, cache, this.#instance, undefined).status === 'failed';
  }

  /** Runs a mutation that succeeds with these data; without variables, none of its callbacks. */
  async finish(data: unknown, variables: unknown): Promise<void> {
    const mutationFn = unsent(() => Promise.resolve(data), this.#own);
    this.#finishing = { ...(variables === undefined && silent), mutationFn };
    this.setOptions(this.#options);
    try {
      await this.#mutate(variables, mutationFn, (record) => record.recordBegun());
    } catch {
      // A callback threw, which React Query shows. The submission is done all the same.
    }
    this.#finishing = undefined;
    this.setOptions(this.#options);
  }

  /** Runs the callbacks of a press that fails before anything of it is sent, by the options of the copy that was pressed. */
  fail(options: Options, error: Error, variables: unknown): void {
    // Not that of the form: another submission may be under way, whose status is shown.
    const mutationFn = unsent(() => Promise.reject(error), this.#given);
    const observer = new MutationObserver(this.#client, { ...options, mutationFn });
    observer.mutate(variables).catch(() => {});
  }

  /** The instance of the mutationFn. */
  instance(): Instance {
    return definitionBehind(this.#own)?.instance ?? this.#instance;
  }

  /** Whether an outbox stores the variables, so that the page may be left. */
  isKept(): boolean {
    return definitionBehind(this.#own)?.follow !== undefined;
  }

  /** Calls back once the outbox has delivered the submission with this key; undefined without an outbox. */
  follow(key: string, onDone: (data: unknown) => void): (() => void) | undefined {
    return definitionBehind(this.#own)?.follow?.(key, onDone);
  }

  reset(): void {
    this.#observer.reset();
  }
}
