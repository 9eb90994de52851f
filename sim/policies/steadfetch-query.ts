import { QueryClient, QueryObserver } from '@tanstack/react-query';
import type { OpenTab } from './policy.ts';
import { putQueryInto } from './query-environment.ts';
import { createSteady, url } from './steadfetch.ts';

/**
 * Steadfetch in React Query, as components use it: who asks observes a query, and stops when they
 * have an answer or leave. Asks for one query share its fetch.
 */
const openTab: OpenTab = (context) => {
  putQueryInto(context.clock);
  const steady = createSteady(context);
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  let asked = 0;
  return ({ signal: leaving, query }) =>
    new Promise((resolve, reject) => {
      const observer = new QueryObserver(client, {
        queryKey: [query ?? `own ${++asked}`],
        queryFn: ({ signal }) => steady.fetch(`${url}/${query ?? ''}`, { signal }),
        gcTime: 0,
      });
      const stop = observer.subscribe(({ fetchStatus, status, data, error }) => {
        if (fetchStatus !== 'idle') return;
        stop();
        if (status === 'success') resolve(data);
        else reject(error ?? new Error('cancelled'));
      });
      leaving?.addEventListener('abort', stop);
    });
};

export const steadfetchQuery: OpenTab = Object.assign(openTab, { sharesQueries: true });
