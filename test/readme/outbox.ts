import { createOutbox } from 'steadfetch/outbox';
import { queryClient, steady } from './order.ts';

export const outbox = createOutbox({
  steady,
  queryClient,
  handlers: {
    placeOrder: {
      mutationFn: (order: { sku: string }, { json }) =>
        json<{ id: string }>('/api/orders', { json: order }),
      invalidates: [['orders']],
    },
  },
});
/** For useMutation, useOutboxMutation or useSafeSubmit. */
export const keepOrder = outbox.mutationOptions('placeOrder');
