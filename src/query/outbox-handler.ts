import type { QueryOutboxHandler } from './outbox.ts';

/**
 * Gives a handler back as it is, with all its types from its mutationFn: `scope`, `migrate` and
 * `onDelivered` need none of their own. The mutationFn comes first, because TypeScript reads from the
 * top.
 *
 * @example
 * ```ts
 * const placeOrder = outboxHandler({
 *   mutationFn: (order: { sku: string }, { json }) =>
 *     json<{ id: string }>('/api/orders', { json: order }),
 *   scope: (order) => order.sku,
 *   onDelivered: ({ client, data }) => client.setQueryData(['orders', data.id], data),
 * });
 * const outbox = createOutbox({ steady, queryClient, handlers: { placeOrder } });
 * ```
 */
export function outboxHandler<TVariables = void, TData = unknown>(
  handler: QueryOutboxHandler<TVariables, TData>,
): QueryOutboxHandler<TVariables, TData> {
  return handler;
}
