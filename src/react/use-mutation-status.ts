import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { mutationControlsOf } from '../query/mutation-controls.ts';
import {
  mutationIdOf,
  mutationStatusesOf,
  type MutationStatusTarget,
  type MutationTarget,
} from '../query/mutation-statuses.ts';
import type { RetryControls, RetryStatus } from '../query/retry-status.ts';
import { useStatus } from './use-status.ts';

/**
 * What is going on with a mutation, and what the user can do about it: that of one
 * `useSteadyMutation` or form (its `target`), or the newest with a `mutationKey`. Renders at
 * transitions only. The controls do nothing for a plain mutation.
 *
 * @throws Error when the QueryClient carries no default options of Steadfetch.
 *
 * @example
 * ```tsx
 * const { mutate, target } = useSteadyMutation(placeOrder);
 * const { status, cancel } = useMutationStatus(target);
 * return status === 'waiting' && <button onClick={cancel}>Cancel</button>;
 * ```
 */
export function useMutationStatus(target: {
  readonly mutationKey: QueryKey;
}): RetryStatus & RetryControls;
export function useMutationStatus(target: MutationTarget): RetryStatus & RetryControls;
export function useMutationStatus(target: MutationStatusTarget): RetryStatus & RetryControls {
  const store = mutationStatusesOf(useQueryClient(), 'useMutationStatus');
  return useStatus(store, mutationIdOf(target), mutationControlsOf);
}
