import { createSyncStoragePersister } from '@tanstack/query-sync-storage-persister';
import { QueryClient } from '@tanstack/react-query';
import { PersistQueryClientProvider } from '@tanstack/react-query-persist-client';
import type { ReactNode } from 'react';

const queryClient = new QueryClient();

// After a reload no component brings the function.
queryClient.setMutationDefaults(['order'], {
  mutationFn: async (order: { sku: string }) =>
    (await fetch('/api/orders', { method: 'POST', body: JSON.stringify(order) })).json(),
});

const persister = createSyncStoragePersister({ storage: localStorage });

export const App = ({ children }: { children: ReactNode }) => (
  <PersistQueryClientProvider
    client={queryClient}
    persistOptions={{ persister }}
    onSuccess={() => queryClient.resumePausedMutations()}
  >
    {children}
  </PersistQueryClientProvider>
);
