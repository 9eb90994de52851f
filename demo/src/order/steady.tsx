import { QueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createSteadfetch, mutationOptions, profiles } from 'steadfetch';
import { SafeForm } from 'steadfetch/ui';
import { type FormProps, type Order, type Receipt, Slip } from './slip.tsx';

export const steady = createSteadfetch({
  // With the waits of React Query: 1, 2 and 4 s.
  policy: { backoff: 'none', timeout: 4000 },
  // This API honours the Idempotency-Key.
  apis: [{ match: /\/api\//, idempotency: profiles.draft }],
});
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });

const placeOrder = (url: string) =>
  mutationOptions(steady, {
    mutationKey: [url],
    // Its key comes by itself, and is the same on every attempt.
    mutationFn: (order: Order, { json }) => json<Receipt>(url, { json: order }),
  });

export function OrderForm({ order, url }: FormProps) {
  const [mutation] = useState(() => placeOrder(url));
  return (
    <SafeForm
      form={url}
      label="Steadfetch"
      mutation={mutation}
      submitLabel="Order"
      variables={() => order}
    >
      {({ form }) => <Slip order={order} receipt={form.data} />}
    </SafeForm>
  );
}
