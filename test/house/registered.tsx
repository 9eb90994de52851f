// An app that registers the types of its errors, keys and meta with React Query, as its documentation shows.
import { QueryClient, useMutation, useQuery } from '@tanstack/react-query';
import { createSteadfetch, mutationOptions } from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import {
  useFallback,
  useMutationStatus,
  useRetryStatus,
  useSafeSubmit,
  useSteadyMutation,
} from 'steadfetch/react';
import { RetryStatus, SafeForm } from 'steadfetch/ui';

class ApiError extends Error {
  readonly code = 1;
}

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: ApiError;
    queryKey: readonly ['query', ...(readonly unknown[])];
    mutationKey: readonly ['mutation', ...(readonly unknown[])];
    queryMeta: { toast?: string };
    mutationMeta: { toast?: string };
  }
}

const steady = createSteadfetch();
const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
const placeOrder = mutationOptions(steady, {
  mutationKey: ['mutation', 'order'],
  mutationFn: async (sku: string) => sku.length,
  meta: { toast: 'Ordered' },
  onError: ({ code }) => void code,
});
const outbox = createOutbox({
  steady,
  queryClient,
  handlers: { order: { mutationFn: async (sku: string) => sku, invalidates: [['query', 1]] } },
});

export function App() {
  const { error } = useQuery({
    queryKey: ['query', 1],
    queryFn: () => steady.json('/1'),
    ...steady.queryPolicy({ maxRetries: 1 }),
  });
  void error?.code;
  useRetryStatus({ queryKey: ['query', 1] });
  useFallback(['query', 1]);
  void useMutation(placeOrder).error?.code;
  useMutation(outbox.mutationOptions('order'));
  useMutationStatus(useSteadyMutation(placeOrder).target);
  useMutationStatus({ mutationKey: ['mutation', 'order'] });
  useMutationStatus(placeOrder);
  void useSafeSubmit(placeOrder, { form: 'order' }).error?.code;
  return (
    <>
      <RetryStatus query={['query', 1]} />
      <RetryStatus mutation={['mutation', 'order']} />
      <SafeForm mutation={placeOrder} form="order" variables={() => 'kite'}>
        <input />
      </SafeForm>
    </>
  );
}
