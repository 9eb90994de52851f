import type { Mutation, MutationFunctionContext } from '@tanstack/react-query';
import type { BoundFetch } from '../../fetch/bind-fetch.ts';
import type { Operation } from '../../operation/operation.ts';
import { createEmitter, type Emitter } from '../../lib/store.ts';
import { Owner } from '../../operation/owner.ts';
import type { Submission } from '../../operation/parts/submission.ts';

/** One call of a mutationFn of ours by React Query, with all attempts of its loop. */
export interface MutationRun extends Pick<BoundFetch, 'isOut' | 'isReading' | 'isIdle'> {
  readonly operation: Operation;
  /** Ends it with this error at once, even if requests of it are still under way. */
  readonly cancel: (error: unknown) => void;
}

const records = new WeakMap<Mutation, MutationRecord>();

/** Mutations that left their cache before their mutationFn was called. */
const unbegun = new Set<Mutation>();

/** The facts about a mutation of ours that React Query does not keep. It owns the mutation's operation. */
export class MutationRecord extends Owner {
  /** The newest run; undefined before its mutationFn was called. */
  run: MutationRun | undefined;
  /** The submission, the same for all calls of the mutationFn. */
  submission: Submission | undefined;
  /** True if the mutationFn may have been called in this page. */
  isBegun = false;
  /** The id of the newest operation when the mutation was submitted; undefined if that is not known. */
  submittedAfter: number | undefined;
  /** True if the mutation has left its cache, or its session has ended. */
  isGone = false;
  readonly #mutation: Mutation | undefined;
  /** The error of a cancellation before its turn; boxed, because it may be any value. */
  #refusal: { readonly error: unknown } | undefined;

  /** @param mutation - Undefined if it is not known which mutation it is. */
  constructor(mutation: Mutation | undefined) {
    super();
    this.#mutation = mutation;
  }

  /** Ends it with this error when its turn comes. */
  refuse(error: unknown): void {
    this.#refusal = { error };
  }

  /** Records that the mutation has left its cache, or that its session has ended. */
  recordGone(): void {
    this.isGone = true;
  }

  /** Records the id of the newest operation at the time when the mutation was submitted. Only the first call counts. */
  recordSubmit(lastId: number): void {
    this.submittedAfter ??= lastId;
  }

  /** Records that it leaves its cache. `recordBehind` must still find it if its mutationFn is called later. */
  leave(): void {
    if (!this.isBegun && this.#mutation) unbegun.add(this.#mutation);
  }

  /** Records that its mutationFn may have been called. */
  recordBegun(): void {
    this.isBegun = true;
  }

  /** Sets the submission that it sends, before its mutationFn is called. */
  prepare(submission: Submission): void {
    this.submission = submission;
  }

  /**
   * Called when its mutationFn is called.
   *
   * @returns the submission that it sends: the same for each call, also if the app's own `retry` repeats it.
   * @throws the error of a mutation that was cancelled before its turn.
   */
  begin(createSubmission: () => Submission): Submission {
    if (this.run) this.submission?.recordResent();
    this.recordBegun();
    if (this.#refusal) throw this.#refusal.error;
    return (this.submission ??= createSubmission());
  }

  /** Shows one of its runs, and emits the changes of that run from now on. */
  show(run: MutationRun): void {
    if (!this.#mutation) return;
    this.run = run;
    run.operation.attend(this);
  }

  override onChange(): void {
    mutationChanges.emit(this.#mutation);
  }
}

export function recordOf(mutation: Mutation): MutationRecord {
  let record = records.get(mutation);
  if (!record) records.set(mutation, (record = new MutationRecord(mutation)));
  return record;
}

/** The newest run of a mutation of ours; undefined before its mutationFn was called. */
export const runOf = (mutation: Mutation): MutationRun | undefined => records.get(mutation)?.run;

/**
 * The record of the mutation that a mutationFn is called for.
 *
 * @param options - The object whose method the mutationFn is called as. On a server, or in a client that is not followed
 *   yet, several mutations may share it. Then each of them may have begun.
 */
export function recordBehind(
  options: unknown,
  { client }: MutationFunctionContext,
): MutationRecord {
  for (const one of unbegun) if (one.state.status !== 'pending') unbegun.delete(one);
  const all = new Set([...unbegun, ...client.getMutationCache().getAll()]);
  const own = [...all].filter((one) => one.options === options && one.state.status === 'pending');
  const mutation = own.find((one) => !runOf(one)) ?? own[0];
  if (own.length > 1) for (const one of own) recordOf(one).recordBegun();
  return mutation ? recordOf(mutation) : new MutationRecord(undefined);
}

/** The changes of mutations that React Query does not emit; undefined for a plain mutation, because it is not known which. */
export const mutationChanges: Emitter<Mutation | undefined> = /* @__PURE__ */ createEmitter();
