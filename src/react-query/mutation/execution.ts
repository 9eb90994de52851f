import type { Mutation, MutationFunctionContext } from '@tanstack/react-query';
import type { Submission } from '../../operation/parts/submission.ts';
import type { Operation } from '../../operation/operation.ts';
import { Owner } from '../../operation/owner.ts';
import type { BoundFetch } from '../../fetch/bind-fetch.ts';
import { noteFailure } from './definition.ts';

/** A run of the loop for a mutation. */
export interface MutationRun extends Pick<BoundFetch, 'isOut' | 'isReading'> {
  readonly operation: Operation;
  /** Ends it with this error at once, whatever of it is still under way. */
  readonly cancel: (error: unknown) => void;
}

/** One `mutate`: React Query makes one context object for each. */
interface Execution {
  readonly submission: Submission;
  readonly mutation: Mutation | undefined;
}

const executions = new WeakMap<MutationFunctionContext, Execution>();
const runs = new WeakMap<Mutation, MutationRun>();
/** Whose mutationFn was called, as far as can be told. */
const begun = new WeakMap<Mutation, 'surely' | 'perhaps'>();
const refusals = new WeakMap<Mutation, unknown>();
const listeners = new Set<RunListener>();

/** Is told which mutation has changed; undefined is a plain one, and nobody knows which. */
type RunListener = (mutation: Mutation | undefined) => void;

/**
 * The execution that this is an attempt of. Its submission is made once, also when the app's own `retry`
 * calls the mutationFn again.
 *
 * React Query does not say which mutation it calls the function for; but it calls it as a method of
 * that mutation's options, which one observer shares among its mutations. Of those with the same
 * variables, the oldest begins first.
 */
export function executionOf(
  context: MutationFunctionContext,
  options: unknown,
  variables: unknown,
  makeSubmission: () => Submission,
): Execution {
  let execution = executions.get(context);
  if (!execution) {
    const alike = context.client
      .getMutationCache()
      .getAll()
      .filter(
        (one) =>
          one.options === options &&
          one.state.status === 'pending' &&
          Object.is(one.state.variables, variables) &&
          begun.get(one) !== 'surely',
      );
    const [mutation] = alike;
    if (alike.length > 1) for (const one of alike) begun.set(one, 'perhaps');
    if (mutation) begun.set(mutation, 'surely');
    execution = { submission: makeSubmission(), mutation };
    executions.set(context, execution);
  } else execution.submission.wasSent = true;
  return execution;
}

class MutationOwner extends Owner {
  readonly #mutation: Mutation;
  constructor(mutation: Mutation) {
    super();
    this.#mutation = mutation;
  }
  override onChange(): void {
    tellChange(this.#mutation);
  }
}

/** Shows the run of a mutation; its changes are told from now on. */
export function showRun(mutation: Mutation, run: MutationRun): void {
  runs.set(mutation, run);
  run.operation.attend(new MutationOwner(mutation));
}

/** Tells of a change that React Query does not tell of. */
export function tellChange(mutation?: Mutation): void {
  for (const listener of listeners) listener(mutation);
}

/** The newest run of a mutation of ours; undefined before its mutationFn was called. */
export function runOf(mutation: Mutation): MutationRun | undefined {
  return runs.get(mutation);
}

/** Whether the mutationFn of a mutation of ours may have been called, in this page. */
export function mayHaveBegun(mutation: Mutation): boolean {
  return begun.has(mutation);
}

/** A mutation that was cancelled before its turn has come ends with this error when it comes. */
export function refuseRun(mutation: Mutation, error: unknown): void {
  if (process.env.NODE_ENV !== 'production') noteFailure(error);
  refusals.set(mutation, error);
}

/** @throws the error of a mutation that was cancelled before its turn. */
export function throwIfRefused(mutation: Mutation | undefined): void {
  if (mutation && refusals.has(mutation)) throw refusals.get(mutation);
}

/** Tells of every such change, until the returned function is called. */
export function onRunChange(listener: RunListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
