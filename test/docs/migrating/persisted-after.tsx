import { createSyncStoragePersister } from '@tanstack/query-sync-storage-persister';
import { QueryClient } from '@tanstack/react-query';
import { PersistQueryClientProvider } from '@tanstack/react-query-persist-client';
import type { ReactNode } from 'react';
import { createSteadfetch, profiles } from 'steadfetch';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';

const steady = createSteadfetch({ apis: [{ match: '/api', idempotency: profiles.draft }] });
const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });

export const outbox = createOutbox({
  steady,
  queryClient,
  handlers: {
    order: outboxHandler({
      mutationFn: (order: { sku: string }, { json }) =>
        json<{ id: string }>('/api/orders', { json: order }),
    }),
  },
});

const persister = createSyncStoragePersister({ storage: localStorage });
const dehydrateOptions = { shouldDehydrateMutation: () => false };

export const App = ({ children }: { children: ReactNode }) => (
  <PersistQueryClientProvider client={queryClient} persistOptions={{ persister, dehydrateOptions }}>
    {children}
  </PersistQueryClientProvider>
);
