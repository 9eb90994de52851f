import type { Mutation, MutationFunction } from '@tanstack/react-query';
import type { Submission } from '../../operation/parts/submission.ts';
import { warn } from '../../lib/input/warn.ts';
import { reject } from '../../lib/input/check.ts';
import type { Policy } from '../../policy/options.ts';
import type { Instance } from '../instance.ts';

/** The additions of a hook to a mutationFn of ours. */
export interface MutationExtras {
  /** Creates the submission that a mutation sends. @default a new one */
  readonly submissionOf?: ((variables: never) => Submission) | undefined;
  /** The hook whose mutations these are. */
  readonly target?: string | undefined;
}

/** The known facts about a mutationFn of ours. */
export interface MutationDefinition extends MutationExtras {
  readonly policy: Policy;
  readonly instance: Instance;
  /**
   * Only for an outbox, which stores the variables before anything is sent, so that the page may be left. Calls back once
   * the submission with this key is done, until the returned function is called. @default the variables are not stored
   */
  readonly follow?: ((key: string, onDone: (data: unknown) => void) => () => void) | undefined;
  /** Ends a mutation that left its cache, or whose session has ended. */
  readonly end: (mutation: Mutation, isSessionOver: boolean) => void;
  /** Makes the same mutationFn with the additions of a hook. */
  readonly extend: (extras: MutationExtras) => MutationFunction;
}

const definitions = new WeakMap<object, MutationDefinition>();

/** Marks a function as ours: a mutationFn, or the retryDelay beside it, which stays if another mutationFn is spread over ours. */
export function define<T extends object>(part: T, definition: MutationDefinition): T {
  definitions.set(part, definition);
  return part;
}

/** The definition of an option of ours; undefined for any other. */
export function definitionBehind(option: unknown): MutationDefinition | undefined {
  return typeof option === 'function' ? definitions.get(option) : undefined;
}

/**
 * The definition of a mutationFn of ours.
 *
 * @throws TypeError when it is not ours.
 */
export function requireDefinition(operation: string, mutationFn: unknown): MutationDefinition {
  const definition = definitionBehind(mutationFn);
  return definition ?? reject(operation, 'mutationFn', mutationFn, 'that of mutationOptions');
}

/**
 * A mutationFn of ours, with the additions of a hook.
 *
 * @throws TypeError when it is not ours.
 */
export function extendMutation<F extends object>(
  operation: string,
  mutationFn: F | undefined,
  extras: MutationExtras,
): F {
  return requireDefinition(operation, mutationFn).extend(extras) as F;
}

/** Development only: warns if the options of a mutation are ours, but its mutationFn is not. */
export function warnOfSpread({ options: { mutationFn, retryDelay } }: Mutation): void {
  const definition = definitionBehind(retryDelay);
  if (definition && !definitionBehind(mutationFn))
    warn(
      definition.instance.operations,
      'spread mutationFn',
      `A mutationFn was spread over the options of mutationOptions. It replaces ours: it gets no idempotency key, ` +
        `and is not retried. Give it to mutationOptions.`,
      'mutations.md#anti-patterns',
    );
}
