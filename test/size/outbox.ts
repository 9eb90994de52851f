// The same app with an outbox.
import { createOutbox } from 'steadfetch/outbox';
import { queryClient, steady } from './form.ts';

export * from './form.ts';
export const outbox = createOutbox({
  steady,
  queryClient,
  handlers: {
    placeOrder: {
      mutationFn: (order: { sku: string }, { json }) => json('/api/orders', { json: order }),
    },
  },
});
