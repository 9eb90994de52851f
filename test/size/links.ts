// The same app, whose entries refer to the answers of others.
import { answerOf, createOutbox, outboxLinks } from 'steadfetch/outbox';
import { queryClient, steady } from './form.ts';

export * from './form.ts';
export const outbox = createOutbox({
  steady,
  queryClient,
  links: outboxLinks(),
  handlers: {
    placeOrder: {
      mutationFn: (order: { sku: string }, { json }) => json('/api/orders', { json: order }),
    },
  },
});
export { answerOf };
