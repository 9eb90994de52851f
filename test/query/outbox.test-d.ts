import type { UseMutationOptions } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
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
