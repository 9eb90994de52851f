import type { Query, QueryClient } from '@tanstack/react-query';
import { queryStatus } from './query.ts';
import { createStatusStore, type StatusStore, storesByClient } from './store.ts';

/** The statuses of the queries of a client, each by its `queryHash`. */
export const queryStatusesOf: (client: QueryClient, operation: string) => StatusStore<Query> =
  /* @__PURE__ */ storesByClient((client, instance) =>
    createStatusStore<Query>(instance, ({ refresh }) => {
      const queries = client.getQueryCache();
      return {
        find: (hash) => queries.get(hash),
        read: (query, before) => queryStatus(query, instance, before),
        start: () => [
          queries.subscribe(({ query }) => refresh(query.queryHash)),
          // A retry starts without an event of React Query.
          instance.emitter.subscribe(({ type, operation: { queryKey, attempt } }) => {
            const isChange = type === 'pause:start' || type === 'pause:end';
            if (!isChange && (type !== 'attempt:start' || attempt === 1)) return;
            if (queryKey) refresh(client.defaultQueryOptions({ queryKey }).queryHash);
          }),
        ],
      };
    }),
  );
