import { type DefaultError, type UseMutationOptions, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { OutboxEntry } from '../outbox/entry.ts';
import { createIdempotencyKey } from '../idempotency/key.ts';
import { extendMutation } from '../query/mutation-definition.ts';
import { instanceOf } from '../query/registry.ts';
import { useOutboxEntry } from './use-outbox-entries.ts';
import { type SteadyMutationResult, useSteadyMutation } from './use-steady-mutation.ts';

/** What `useSteadyMutation` returns, and where the submission is. */
export type OutboxMutationResult<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
  TOnMutateResult = unknown,
> = SteadyMutationResult<TData, TError, TVariables, TOnMutateResult> & {
  /** That of the latest submission; undefined before it. */
  readonly idempotencyKey: string | undefined;
  /** The latest submission in the outbox; undefined before it is kept, and once it is delivered. */
  readonly entry: OutboxEntry<TVariables, TData> | undefined;
  /** It is on the disk: whatever becomes of this page, it is delivered. */
  readonly isSaved: boolean;
};

/**
 * `useMutation` for options of `outbox.mutationOptions`: with the entry of the latest submission, and a
 * `target` for `useMutationStatus`.
 *
 * @throws TypeError when the mutationFn is not that of `outbox.mutationOptions`.
 * @throws Error when the QueryClient has no outbox.
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
): OutboxMutationResult<TData, TError, TVariables, TOnMutateResult> {
  const client = useQueryClient();
  const [idempotencyKey, setKey] = useState<string>();
  const { mutationFn } = options;
  const own = useMemo(() => {
    const { clock } = instanceOf(client, 'useOutboxMutation');
    const intentOf = (): { readonly key: string; readonly createdAt: number } => {
      const key = createIdempotencyKey();
      setKey(key);
      return { key, createdAt: clock.now() };
    };
    return extendMutation('useOutboxMutation', mutationFn, { intentOf });
  }, [client, mutationFn]);
  const result = useSteadyMutation(
    useMemo(() => ({ ...options, mutationFn: own }), [options, own]),
  );
  const { entry } = useOutboxEntry(result.isIdle ? undefined : idempotencyKey);
  return Object.assign(result, {
    idempotencyKey,
    // Submitted here, with these options.
    entry: entry as OutboxEntry<TVariables, TData> | undefined,
    isSaved: entry?.isDurable ?? false,
  });
}
