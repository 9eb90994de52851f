import type { QueryClient } from '@tanstack/react-query';
import { forgetForms, instanceOfSteady, type Steadfetch } from '../core/internal.ts';

/**
 * Makes an instance forget everything it has learned, so that each test starts fresh: the health of endpoints
 * and origins, rate limits, latencies, the state of the network, and the submission keys that this tab keeps
 * in `sessionStorage`. Pauses, and waits in `retry` or `mutationOptions`, are aborted, as by `dispose`. The
 * instance keeps its options and listeners.
 *
 * @param queryClient - A client that outlives the test. It is cleared, including the state of its forms.
 * @throws TypeError if the first argument is not from `createSteadfetch`.
 *
 * @example
 * ```ts
 * import { QueryClient } from '@tanstack/react-query';
 * import { createSteadfetch } from 'steadfetch';
 * import { resetSteadfetch } from 'steadfetch/testing';
 * import { afterEach } from 'vitest';
 *
 * const steady = createSteadfetch();
 * const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
 * afterEach(() => resetSteadfetch(steady, queryClient));
 * ```
 */
export function resetSteadfetch(steady: Steadfetch, queryClient?: QueryClient): void {
  instanceOfSteady(steady, 'resetSteadfetch').forget();
  const { sessionStorage } = globalThis as Partial<typeof globalThis>;
  for (const name of Object.keys(sessionStorage ?? {}))
    if (name.startsWith('steadfetch.')) sessionStorage?.removeItem(name);
  if (!queryClient) return;
  queryClient.clear();
  forgetForms(queryClient);
}
