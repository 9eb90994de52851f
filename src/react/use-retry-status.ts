import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { queryControlsOf } from '../query/query-controls.ts';
import { queryStatusesOf } from '../query/query-statuses.ts';
import type { RetryControls, RetryStatus } from '../query/retry-status.ts';
import { useStatus } from './use-status.ts';

/**
 * What is going on with a query, and what the user can do about it. Works from any component, also in
 * a Suspense fallback; renders at transitions only. For mutations there is `useMutationStatus`.
 *
 * @throws Error when the QueryClient carries no default options of Steadfetch.
 *
 * @example
 * ```tsx
 * const { status, retryAt, retryNow } = useRetryStatus({ queryKey: ['products'] });
 * const seconds = useCountdown(retryAt);
 * return status === 'waiting' && <button onClick={retryNow}>Retry now ({seconds} s)</button>;
 * ```
 */
export function useRetryStatus({
  queryKey,
}: {
  readonly queryKey: QueryKey;
}): RetryStatus & RetryControls {
  const client = useQueryClient();
  const { queryHash } = client.defaultQueryOptions({ queryKey });
  return useStatus(queryStatusesOf(client, 'useRetryStatus'), queryHash, queryControlsOf);
}
