import { createSteadfetch } from 'steadfetch';
import { createOutbox, type Outbox, type OutboxEntry, outboxHandler } from 'steadfetch/outbox';
import { useOutboxEntries, useOutboxMutation } from 'steadfetch/react';
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
    placeOrder: outboxHandler({
      mutationFn: (order: Order, { json }) => json<Receipt>('/orders', { json: order }),
    }),
    ping: { mutationFn: async (word: string) => word.length },
  },
});
type Known<TVariables, TData> = readonly OutboxEntry<TVariables, TData>[] | undefined;

/** Entries are of the types of their handler where it and the outbox are known, and of no others. */
export function Entries() {
  const orders = useOutboxEntries({ handler: 'placeOrder', state: 'dead' }, outbox);
  expectTypeOf(orders).toEqualTypeOf<Known<Order, Receipt>>();
  expectTypeOf(orders?.[0]?.variables).toEqualTypeOf<Order | undefined>();
  expectTypeOf(orders?.[0]?.data).toEqualTypeOf<Receipt | undefined>();
  const either: 'placeOrder' | 'ping' = Object('ping');
  expectTypeOf(useOutboxEntries({ handler: either }, outbox)).toEqualTypeOf<
    readonly (OutboxEntry<Order, Receipt> | OutboxEntry<string, number>)[] | undefined
  >();
  expectTypeOf(useOutboxEntries({}, outbox)).toEqualTypeOf<Known<unknown, unknown>>();
  expectTypeOf(useOutboxEntries({ handler: 'gone' }, outbox)).toEqualTypeOf<
    Known<unknown, unknown>
  >();
  const name: string = Object('placeOrder');
  expectTypeOf(useOutboxEntries({ handler: name }, outbox)).toEqualTypeOf<
    Known<unknown, unknown>
  >();
  const any: Outbox = Object(outbox);
  expectTypeOf(useOutboxEntries({ handler: 'placeOrder' }, any)).toEqualTypeOf<
    Known<unknown, unknown>
  >();
  expectTypeOf(useOutboxEntries({ handler: 'placeOrder' })).toEqualTypeOf<
    Known<unknown, unknown>
  >();
  expectTypeOf(useOutboxEntries()).toEqualTypeOf<Known<unknown, unknown>>();
  // @ts-expect-error -- nothing says that the QueryClient has an outbox with these handlers
  useOutboxEntries<object, 'placeOrder'>({ handler: 'placeOrder' });
}

export async function lists() {
  expectTypeOf(await outbox.list({ handler: 'placeOrder' })).toEqualTypeOf<
    readonly OutboxEntry<Order, Receipt>[]
  >();
  expectTypeOf(await outbox.list()).toEqualTypeOf<readonly OutboxEntry[]>();
}

export function Latest() {
  const { entry } = useOutboxMutation(outbox.mutationOptions('placeOrder'));
  expectTypeOf(entry).toEqualTypeOf<OutboxEntry<Order, Receipt> | undefined>();
}
