import type { DefaultError, QueryClient, UseMutationOptions } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { OutboxEntry } from '../entries.ts';
import {
  createSubmission,
  extendMutation,
  requireDefinition,
  type Submission,
} from '../../core/internal.ts';
import { useOutboxEntry } from './use-outbox.ts';
import {
  type SteadyMutationResult,
  useSteadyMutation,
} from '../../core/react/use-steady-mutation.ts';

/** The result of `useSteadyMutation`, with the latest submission's entry in the outbox. */
export type OutboxMutationResult<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
  TOnMutateResult = unknown,
> = SteadyMutationResult<TData, TError, TVariables, TOnMutateResult> & {
  /** The key of the latest submission; undefined before the first. */
  readonly idempotencyKey: string | undefined;
  /** The entry of the latest submission; undefined until it is stored, and once it is delivered. */
  readonly entry: OutboxEntry<TVariables, TData> | undefined;
  /** Whether the entry is on disk, and will be delivered even if this page closes. */
  readonly isSaved: boolean;
};

/**
 * `useMutation` for options of `outbox.mutationOptions`. Adds the entry of the latest submission, and a
 * `target` for `useMutationStatus`.
 *
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 * @throws TypeError when the mutationFn is not from `outbox.mutationOptions`.
 *
 * @example
 * ```tsx
 * const { mutate, isSaved, isSuccess } = useOutboxMutation(outbox.mutationOptions('placeOrder'));
 * return (
 *   <button onClick={() => mutate({ sku: 'lamp' })}>
 *     {isSuccess ? 'Ordered' : isSaved ? 'Saved, and on its way' : 'Order'}
 *   </button>
 * );
 * ```
 */
export function useOutboxMutation<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
>(
  options: UseMutationOptions<TData, TError, TVariables, TOnMutateResult>,
  queryClient?: QueryClient,
): OutboxMutationResult<TData, TError, TVariables, TOnMutateResult> {
  const [idempotencyKey, setKey] = useState<string>();
  const { mutationFn } = options;
  const own = useMemo(() => {
    const { clock } = requireDefinition('useOutboxMutation', mutationFn).instance;
    const submissionOf = (): Submission => {
      const submission = createSubmission(clock);
      setKey(submission.key);
      return submission;
    };
    return extendMutation('useOutboxMutation', mutationFn, { submissionOf });
  }, [mutationFn]);
  const result = useSteadyMutation(
    useMemo(() => ({ ...options, mutationFn: own }), [options, own]),
    queryClient,
  );
  const { entry } = useOutboxEntry(result.isIdle ? undefined : idempotencyKey, queryClient);
  return Object.assign(result, {
    idempotencyKey,
    // The hook submitted the entry with these options, so its variables have this type.
    entry: entry as OutboxEntry<TVariables, TData> | undefined,
    isSaved: entry?.isDurable ?? false,
  });
}
