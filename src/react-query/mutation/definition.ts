import type { Mutation, MutationFunction, QueryClient } from '@tanstack/react-query';
import type { SteadyFetch } from '../../fetch/fetch.ts';
import type { Submission } from '../../operation/parts/submission.ts';
import type { SteadyJson } from '../../fetch/json.ts';
import type { Operations } from '../../operation/operations.ts';
import { isMarked, mark, warn } from '../../lib/input/warn.ts';
import { reject } from '../../lib/input/check.ts';
import type { Policy } from '../../policy/options.ts';

/** What a mutationFn of ours can be made with. */
export interface MutationExtras {
  /** What the user submits. @default a new one for each `mutate` */
  readonly submissionOf?: ((variables: never) => Submission) | undefined;
  /** Whether that may have been sent before. @default never */
  readonly wasSent?: (() => boolean) | undefined;
  /** The hook whose mutations these are. */
  readonly target?: string | undefined;
  /** What is known to have become of it already: then nothing is sent. */
  readonly answer?: (() => { readonly data: unknown } | undefined) | undefined;
}

/** What stands behind a mutationFn of ours. */
export interface MutationDefinition extends MutationExtras {
  readonly policy: Policy;
  readonly operations: Operations;
  /** Those of its instance. */
  readonly fetch: SteadyFetch;
  readonly json: SteadyJson;
  /**
   * Where its variables are stored before anything is sent, so that the page may be left: calls back once what was
   * submitted under this key is done, until the returned function is called. @default they are not stored
   */
  readonly follow?: ((key: string, onDone: (data: unknown) => void) => () => void) | undefined;
  /** The same mutationFn, made with more. */
  readonly extend: (extras: MutationExtras) => MutationFunction;
}

const definitions = new WeakMap<object, MutationDefinition>();

/** Marks a function of our options: the mutationFn, or the retryDelay that stays with it. */
export function define<T extends object>(part: T, definition: MutationDefinition): T {
  definitions.set(part, definition);
  return part;
}

/** What stands behind an option, when it is ours. */
export function definitionBehind(option: unknown): MutationDefinition | undefined {
  return typeof option === 'function' ? definitions.get(option) : undefined;
}

/**
 * A mutationFn of ours, made with more.
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

/**
 * What stands behind a mutationFn of ours.
 *
 * @throws TypeError when it is not ours.
 */
export function requireDefinition(operation: string, mutationFn: unknown): MutationDefinition {
  const definition = definitionBehind(mutationFn);
  return definition ?? reject(operation, 'mutationFn', mutationFn, 'that of mutationOptions');
}

const ownFailure = 'failure of a mutationFn of ours';

/** In development: this is what a mutationFn of ours has ended in. */
export function markOwnFailure(error: unknown): void {
  if (Object(error) === error) mark(error as object, ownFailure);
}

/**
 * A `retryDelay` that stays in the options when another mutationFn is spread over them. It delays
 * nothing. React Query asks it about every failure: here, in development, one that is not ours shows.
 */
export function createSpreadMark(
  mutationFn: MutationFunction,
): (count: number, error: unknown) => number {
  const definition = definitionBehind(mutationFn);
  const spreadMark = (_count: number, error: unknown): number => {
    if (process.env.NODE_ENV !== 'production' && definition && Object(error) === error)
      if (!isMarked(error as object, ownFailure)) warnOfSpread(definition);
    return 0;
  };
  return definition ? define(spreadMark, definition) : spreadMark;
}

function warnOfSpread({ operations }: MutationDefinition): void {
  warn(
    operations,
    'spread mutationFn',
    `A mutationFn was spread over the options of mutationOptions. It replaces ours: nothing ` +
      `gives it an idempotency key, and nobody retries it. Give it to mutationOptions.`,
  );
}

/** In development: checks the options of every mutation of this client. */
export function watchSpread(client: QueryClient): void {
  if (!mark(client, 'watched for spread')) return;
  client.getMutationCache().subscribe(({ type, mutation }) => {
    if (type === 'added') checkSpread(mutation);
  });
}

/** In development: checks the options of a mutation. */
export function checkSpread({ options: { mutationFn, retryDelay } }: Mutation): void {
  const definition = definitionBehind(retryDelay);
  if (definition && !definitionBehind(mutationFn)) warnOfSpread(definition);
}
