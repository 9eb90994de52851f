import type { Mutation, MutationFunctionContext } from '@tanstack/react-query';
import type { Submission } from '../../operation/parts/submission.ts';
import type { Operation } from '../../operation/operation.ts';
import { Owner } from '../../operation/owner.ts';
import type { BoundFetch } from '../../fetch/bind-fetch.ts';
import { markOwnFailure } from './definition.ts';

/** A run of the loop for a mutation. */
export interface MutationRun extends Pick<BoundFetch, 'isOut' | 'isReading' | 'isIdle'> {
  readonly operation: Operation;
  /** Ends it with this error at once, whatever of it is still under way. */
  readonly cancel: (error: unknown) => void;
}

/** Those of ours that are gone from their cache, and have not begun. */
const unbegun = new Set<Mutation>();

/** All that is known of a mutation of ours, and the owner of its operation. Its fields are for all to read. */
class MutationRecord extends Owner {
  /** Whether its mutationFn was called in this page, as far as can be told. */
  begun: 'surely' | 'perhaps' | undefined;
  /** The newest run; undefined before its mutationFn was called. */
  run: MutationRun | undefined;
  /** It is gone from its cache, or its session has ended. */
  isGone = false;
  /** Undefined where it cannot be told which mutation it is. */
  readonly #mutation: Mutation | undefined;
  #submission: Submission | undefined;
  /** It was cancelled before its turn; boxed, because the error may be any value. */
  #refusal: { readonly error: unknown } | undefined;

  constructor(mutation: Mutation | undefined) {
    super();
    this.#mutation = mutation;
  }

  leave(): void {
    this.isGone = true;
    if (!this.begun && this.#mutation) unbegun.add(this.#mutation);
  }

  begin(how: 'surely' | 'perhaps'): void {
    this.begun = how;
    if (this.#mutation) unbegun.delete(this.#mutation);
  }

  /** Its submission is made once, also when the app's own `retry` calls the mutationFn again. */
  submit(makeSubmission: () => Submission): Submission {
    this.#submission?.recordResent();
    return (this.#submission ??= makeSubmission());
  }

  /** Shows the run of a mutation; its changes are emitted from now on. */
  show(run: MutationRun): void {
    if (!this.#mutation) return;
    this.run = run;
    run.operation.attend(this);
  }

  override onChange(): void {
    emitChange(this.#mutation);
  }

  refuse(error: unknown): void {
    this.#refusal = { error };
  }

  /** @throws the error of a mutation that was cancelled before its turn. */
  throwIfRefused(): void {
    if (this.#refusal) throw this.#refusal.error;
  }
}

/** By the mutation, where it is known, and by the context: React Query makes one for each `mutate`. */
const records = new WeakMap<Mutation | MutationFunctionContext, MutationRecord>();

/** The record of a mutation of ours. */
export function recordOf(mutation: Mutation): MutationRecord {
  let record = records.get(mutation);
  if (!record) records.set(mutation, (record = new MutationRecord(mutation)));
  return record;
}

/**
 * The mutation that this is an attempt of.
 *
 * React Query does not say which mutation it calls the function for; but it calls it as a method of
 * that mutation's options, which one observer shares among its mutations. Of those with the same
 * variables, the oldest begins first.
 */
export function beginMutation(
  context: MutationFunctionContext,
  options: unknown,
  variables: unknown,
): MutationRecord {
  const known = records.get(context);
  if (known) return known;
  for (const one of unbegun) if (one.state.status !== 'pending') unbegun.delete(one);
  const all = new Set([...unbegun, ...context.client.getMutationCache().getAll()]);
  const alike = [...all].filter(
    (one) =>
      one.options === options &&
      one.state.status === 'pending' &&
      Object.is(one.state.variables, variables) &&
      records.get(one)?.begun !== 'surely',
  );
  const [mutation] = alike;
  if (alike.length > 1) for (const one of alike) recordOf(one).begin('perhaps');
  const record = mutation ? recordOf(mutation) : new MutationRecord(undefined);
  record.begin('surely');
  records.set(context, record);
  return record;
}

/** The newest run of a mutation of ours; undefined before its mutationFn was called. */
export function runOf(mutation: Mutation): MutationRun | undefined {
  return records.get(mutation)?.run;
}

/** Whether the mutationFn of a mutation of ours may have been called, in this page. */
export function mayHaveBegun(mutation: Mutation): boolean {
  return records.get(mutation)?.begun !== undefined;
}

/** React Query goes on with a mutation that it has paused, also behind another of its scope. */
export function continueOutOfTurn(mutation: Mutation): void {
  const { options } = mutation;
  const { scope: _, ...free } = options;
  // Without its scope for this one question; for good, it would never leave the scope's list.
  mutation.setOptions(free);
  void mutation.continue().catch(() => {});
  mutation.setOptions(options);
}

/** A mutation that was cancelled before its turn has come ends with this error when it comes. */
export function refuseRun(mutation: Mutation, error: unknown): void {
  if (process.env.NODE_ENV !== 'production') markOwnFailure(error);
  recordOf(mutation).refuse(error);
}

/** @throws the error of a mutation that was cancelled before its turn. */
export function throwIfRefused(mutation: Mutation | undefined): void {
  if (mutation) records.get(mutation)?.throwIfRefused();
}

/** Receives which mutation has changed; undefined where it is a plain one, and not known which. */
type ChangeListener = (mutation: Mutation | undefined) => void;

const listeners = new Set<ChangeListener>();

/** Emits a change that React Query does not show. */
export function emitChange(mutation?: Mutation): void {
  for (const listener of listeners) listener(mutation);
}

/** Calls the listener at every such change, until the returned function is called. */
export function onChange(listener: ChangeListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
