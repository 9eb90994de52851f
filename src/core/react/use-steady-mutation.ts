import {
  type DefaultError,
  type QueryClient,
  useMutation,
  type UseMutationOptions,
  type UseMutationResult,
  useQueryClient,
} from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { extendMutation } from '../react-query/mutation/definition.ts';
import type { MutationTarget } from '../react-query/status/mutation.ts';

/** The result of `useMutation`, with a target for `useMutationStatus`. */
export type SteadyMutationResult<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
  TOnMutateResult = unknown,
> = UseMutationResult<TData, TError, TVariables, TOnMutateResult> & {
  /** Identifies the newest mutation of this hook for `useMutationStatus`, even if others share its key. */
  readonly target: MutationTarget;
};

let hooks = 0;

/**
 * `useMutation` for options of `mutationOptions`, with a `target` for `useMutationStatus`.
 *
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 * @throws TypeError when the mutationFn is not from `mutationOptions`.
 *
 * @example
 * ```tsx
 * const { mutate, target } = useSteadyMutation(placeOrder);
 * const { status, retryNow, cancel } = useMutationStatus(target);
 * ```
 */
export function useSteadyMutation<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
>(
  options: UseMutationOptions<TData, TError, TVariables, TOnMutateResult>,
  queryClient?: QueryClient,
): SteadyMutationResult<TData, TError, TVariables, TOnMutateResult> {
  const client = useQueryClient(queryClient);
  const [hook] = useState(() => `${++hooks}`);
  // The mutationFn may come from setMutationDefaults.
  const { mutationFn } = client.defaultMutationOptions(options);
  const own = useMemo(
    () => extendMutation('useSteadyMutation', mutationFn, { target: hook }),
    [mutationFn, hook],
  );
  const given = useMemo(() => ({ ...options, mutationFn: own }), [options, own]);
  const result = useMutation(given, queryClient);
  // After `reset` the mutation still exists, but the hook no longer shows it.
  const mutation = result.isIdle ? '' : hook;
  const target = useMemo(() => ({ mutation }), [mutation]);
  return Object.assign(result, { target });
}
