import type { QueryClient } from '@tanstack/react-query';
import { forgetForms } from '../form/form.ts';
import { instanceOfSteady } from '../react-query/instance.ts';
import type { Steadfetch } from '../react-query/steadfetch.ts';

/**
 * Makes an instance forget all that it has learned, so that a test begins as the first one did: the health
 * of endpoints and origins, rate limits, latencies, what is known of the network, and the keys of submissions that
 * this tab keeps in `sessionStorage`. What is paused, or waits in `retry` or `mutationOptions`, is aborted, as
 * `dispose` does it. The instance goes on with its options and listeners.
 *
 * @param queryClient - A client that outlives the test: it is cleared, with what its forms remember.
 * @throws TypeError when the first argument is not what `createSteadfetch` returns.
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
