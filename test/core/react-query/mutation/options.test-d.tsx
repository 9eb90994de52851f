import { MutationObserver, QueryClient, useMutation } from '@tanstack/react-query';
import { createSteadfetch, type SteadyFetch, type SteadyJson, mutationOptions } from 'steadfetch';
import { useSteadyMutation, useMutationStatus } from 'steadfetch/react';
import { expectTypeOf } from 'vitest';

interface Order {
  readonly sku: string;
}
interface Receipt {
  readonly id: number;
}

const steady = createSteadfetch();
const client = new QueryClient({ defaultOptions: steady.defaultOptions });
const placeOrder = mutationOptions(steady, {
  mutationKey: ['order'],
  mutationFn: (order: Order, context) => {
    expectTypeOf(context.fetch).toEqualTypeOf<SteadyFetch>();
    expectTypeOf(context.json).toEqualTypeOf<SteadyJson>();
    expectTypeOf(context.idempotencyKey).toEqualTypeOf<string>();
    expectTypeOf(context.takeKey).toEqualTypeOf<() => string>();
    expectTypeOf(context.attempt).toEqualTypeOf<number>();
    expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    expectTypeOf(context.client).toEqualTypeOf<QueryClient>();
    return context.json<Receipt>('/orders', { json: order });
  },
  onMutate: (order) => ({ before: order.sku }),
  onSuccess: (receipt, order, before) => {
    expectTypeOf(receipt).toEqualTypeOf<Receipt>();
    expectTypeOf(order).toEqualTypeOf<Order>();
    expectTypeOf(before).toEqualTypeOf<{ before: string }>();
  },
  policy: { preset: 'critical', timeout: 5000 },
  scope: { id: 'orders' },
});

/** Variables, results, errors and what onMutate returns are the user's own. */
export function Forms() {
  for (const result of [useMutation(placeOrder), useSteadyMutation(placeOrder)] as const) {
    expectTypeOf(result.data).toEqualTypeOf<Receipt | undefined>();
    expectTypeOf(result.variables).toEqualTypeOf<Order | undefined>();
    expectTypeOf(result.context).toEqualTypeOf<{ before: string } | undefined>();
    expectTypeOf(result.error).toEqualTypeOf<Error | null>();
    result.mutate({ sku: 'kite' });
    // @ts-expect-error -- the variables are an Order, and not a string
    result.mutate('kite');
  }
  const own = useMutation({
    ...placeOrder,
    onError: (_error, order) => expectTypeOf(order).toEqualTypeOf<Order>(),
  });
  expectTypeOf(own.data).toEqualTypeOf<Receipt | undefined>();
  expectTypeOf(placeOrder.mutationKey).toExtend<readonly unknown[]>();
  const observer = new MutationObserver(client, placeOrder);
  expectTypeOf(observer.mutate({ sku: 'kite' })).toEqualTypeOf<Promise<Receipt>>();
  client.setMutationDefaults(['order'], placeOrder);
}

/** Whoever shows a mutation can act on it, also by its key alone. */
export function Status() {
  const { target } = useSteadyMutation(placeOrder);
  const status = useMutationStatus(target);
  expectTypeOf(status.retryNow).toEqualTypeOf<() => void>();
  expectTypeOf(status.cancel).toEqualTypeOf<() => void>();
  expectTypeOf(useMutationStatus(placeOrder).cancel).toEqualTypeOf<() => void>();
}

export function Options() {
  const ping = mutationOptions(steady, {
    mutationFn: (_: void, { json }) => json<string>('/ping'),
  });
  useMutation(ping).mutate();
  expectTypeOf(useMutation(ping).data).toEqualTypeOf<string | undefined>();
  const failing = mutationOptions<string, TypeError, number>(steady, {
    mutationFn: async (count) => `${count}`,
  });
  expectTypeOf(useMutation(failing).error).toEqualTypeOf<TypeError | null>();
  // @ts-expect-error -- without a key there is nothing to ask by
  useMutationStatus(ping);
  // @ts-expect-error -- who retries it is settled
  mutationOptions(steady, { mutationFn: async () => 1, retry: 3 });
  // @ts-expect-error -- it runs whatever the browser thinks of the network
  mutationOptions(steady, { mutationFn: async () => 1, networkMode: 'online' });
  // @ts-expect-error -- there is nothing to run
  mutationOptions(steady, { mutationKey: ['a'] });
  // @ts-expect-error -- `retries` is the name in other libraries
  mutationOptions(steady, { mutationFn: async () => 1, policy: { retries: 3 } });
}
