import type { UseMutationOptions } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import {
  answerOf,
  createOutbox,
  type DeliveredEntry,
  outboxHandler,
  outboxLinks,
} from 'steadfetch/outbox';
import type { OutboxHandler, QueryOutboxHandler } from 'steadfetch/outbox';
import { expectTypeOf } from 'vitest';

interface Order {
  readonly sku: string;
}
interface Receipt {
  readonly id: number;
}

const outbox = createOutbox({
  steady: createSteadfetch(),
  handlers: {
    order: {
      mutationFn: (order: Order, { json, attempt, idempotencyKey, signal }) => {
        expectTypeOf(attempt).toEqualTypeOf<number>();
        expectTypeOf(idempotencyKey).toEqualTypeOf<string>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        return json<Receipt>('/orders', { json: order });
      },
      scope: (order: Order) => order.sku,
      version: 2,
      migrate: (variables: unknown, version: number): Order => ({
        sku: `${String(variables)} ${version}`,
      }),
    },
    ping: { mutationFn: async () => 'pong' },
  },
});

/** Variables and results are those of the handler. */
export function check(): void {
  const options = outbox.mutationOptions('order', {
    onMutate: (order) => ({ before: order.sku }),
    onSuccess(data, variables, context) {
      expectTypeOf(data).toEqualTypeOf<Receipt>();
      expectTypeOf(variables).toEqualTypeOf<Order>();
      expectTypeOf(context).toEqualTypeOf<{ before: string }>();
    },
  });
  expectTypeOf(options).toEqualTypeOf<
    UseMutationOptions<Receipt, Error, Order, { before: string }>
  >();
  const { saved, delivered } = outbox.submit('order', { sku: 'kite' });
  expectTypeOf(saved).toEqualTypeOf<Promise<{ readonly isDurable: boolean }>>();
  expectTypeOf(delivered).toEqualTypeOf<Promise<Receipt>>();
  // @ts-expect-error -- the variables are an Order
  outbox.submit('order', 'kite');
  // @ts-expect-error -- there is no such handler
  outbox.mutationOptions('nothing');
  // @ts-expect-error -- the outbox has its own loop
  outbox.mutationOptions('order', { retry: 3 });
}

createOutbox({
  steady: createSteadfetch(),
  handlers: {
    // @ts-expect-error -- an entry is sent until it arrives: maxAttempts is the limit
    order: { mutationFn: async () => 1, policy: { maxRetries: 3 } },
  },
});

/** Of one handler everything follows from its mutationFn. */
const placeOrder = outboxHandler({
  mutationFn: async (order: Order, { json, attempt }) => {
    expectTypeOf(attempt).toEqualTypeOf<number>();
    return json<Receipt>('/orders', { json: order });
  },
  scope(order) {
    expectTypeOf(order).toEqualTypeOf<Order>();
    return order.sku;
  },
  version: 2,
  // What it has beside them does not widen the variables.
  migrate: (variables, version) => ({ sku: String(variables), version }),
  invalidates: [['orders']],
  onDelivered(delivered) {
    expectTypeOf(delivered).toEqualTypeOf<DeliveredEntry<Order, Receipt>>();
  },
});
expectTypeOf(placeOrder).toEqualTypeOf<QueryOutboxHandler<Order, Receipt>>();

const ping = outboxHandler({
  mutationFn: async () => 'pong',
  onDelivered({ data, variables }) {
    expectTypeOf(data).toEqualTypeOf<string>();
    expectTypeOf(variables).toEqualTypeOf<void>();
  },
});
const cancelOrder: OutboxHandler<Receipt, boolean> = { mutationFn: async ({ id }) => id > 0 };

const shop = createOutbox({
  steady: createSteadfetch(),
  handlers: {
    placeOrder,
    ping,
    cancelOrder,
    inline: outboxHandler({
      mutationFn: ({ sku }: Order, { json }) => json<Receipt>(`/orders/${sku}`),
      onDelivered: ({ data }) => expectTypeOf(data).toEqualTypeOf<Receipt>(),
    }),
    // Written out without it, what is delivered is unknown, unless the app says what it is.
    plain: {
      mutationFn: async (order: Order, { json }) => json<Receipt>('/orders', { json: order }),
      onDelivered(delivered) {
        expectTypeOf(delivered).toEqualTypeOf<DeliveredEntry<unknown, unknown>>();
      },
    },
    said: {
      mutationFn: async (order: Order, { json }) => json<Receipt>('/orders', { json: order }),
      onDelivered: ({ data }: DeliveredEntry<Order, Receipt>) => data.id,
    },
  },
});

/** Handlers from elsewhere are as those that are written out. */
export function checkShop(): void {
  expectTypeOf(
    shop.submit('placeOrder', { sku: 'kite' }).delivered,
  ).resolves.toEqualTypeOf<Receipt>();
  expectTypeOf(shop.submit('inline', { sku: 'kite' }).delivered).resolves.toEqualTypeOf<Receipt>();
  expectTypeOf(shop.submit('cancelOrder', { id: 1 }).delivered).resolves.toEqualTypeOf<boolean>();
  expectTypeOf(shop.mutationOptions('placeOrder')).toEqualTypeOf<
    UseMutationOptions<Receipt, Error, Order>
  >();
  expectTypeOf(shop.mutationOptions('ping')).toEqualTypeOf<UseMutationOptions<string>>();
  // @ts-expect-error -- the variables are an Order
  shop.submit('placeOrder', { id: 1 });
  // @ts-expect-error -- there is no such handler
  shop.submit('nothing', { sku: 'kite' });
}

outboxHandler({
  mutationFn: async ({ sku }: Order) => sku,
  // @ts-expect-error -- an Order is a text
  migrate: () => ({ sku: 1 }),
});
outboxHandler({
  mutationFn: async ({ sku }: Order) => sku,
  // @ts-expect-error -- it resolves with a string
  onDelivered: ({ data }: DeliveredEntry<Order, number>) => data,
});
outboxHandler({
  mutationFn: async ({ sku }: Order) => sku,
  // @ts-expect-error -- the variables are an Order
  scope: (id: number) => `${id}`,
});

/** A reference has the type of what it stands for. */
export async function checkLinks(): Promise<void> {
  const placed = shop.submit('placeOrder', { sku: 'kite' });
  expectTypeOf(answerOf(placed)).toEqualTypeOf<Receipt>();
  expectTypeOf(answerOf(placed, 'id')).toEqualTypeOf<number>();
  shop.submit('cancelOrder', { id: answerOf(placed, 'id') });
  const [entry] = await shop.list({ handler: 'placeOrder' });
  if (entry) expectTypeOf(answerOf(entry, 'id')).toEqualTypeOf<number>();
  expectTypeOf(answerOf(placed.idempotencyKey, 'id')).toEqualTypeOf<string>();
  expectTypeOf(answerOf<number>(placed.idempotencyKey, 'id')).toEqualTypeOf<number>();
  // @ts-expect-error -- a Receipt has no such field
  answerOf(placed, 'number');
  // @ts-expect-error -- the variables are an Order
  shop.submit('placeOrder', { sku: answerOf(placed, 'id') });
}

createOutbox({
  steady: createSteadfetch(),
  links: outboxLinks({ keepAnswersMs: 1000, maxAnswers: 10 }),
  handlers: {
    rename: outboxHandler({
      mutationFn: async ({ id, sku }: Order & Receipt) => `${id} ${sku}`,
      coalesce: {
        by(order) {
          expectTypeOf(order).toEqualTypeOf<Order & Receipt>();
          return `${order.id}`;
        },
        merge(earlier, later) {
          expectTypeOf(earlier.variables).toEqualTypeOf<unknown>();
          expectTypeOf(later).toEqualTypeOf<Order & Receipt>();
          return 'both';
        },
      },
    }),
  },
});
