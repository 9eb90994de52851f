import { useActionState } from 'react';
import { createSteadfetch, type SteadyFetch, type SteadyJson, mutationOptions } from 'steadfetch';
import { type SubmitResult, useSafeSubmit, useMutationStatus } from 'steadfetch/react';
import { SafeForm } from 'steadfetch/ui';
import { expectTypeOf } from 'vitest';

interface Order {
  readonly sku: string;
}
interface Receipt {
  readonly id: number;
}

const steady = createSteadfetch();
const placeOrder = mutationOptions(steady, {
  mutationFn: (order: Order, { json }) => json<Receipt>('/orders', { json: order }),
  onMutate: (order) => ({ before: order.sku }),
});

/** Variables, results, errors and what onMutate returns are the user's own. */
export function Form() {
  const form = useSafeSubmit(placeOrder, {
    form: 'checkout',
    resolve: async ({ idempotencyKey, variables, fetch, json }) => {
      expectTypeOf(idempotencyKey).toEqualTypeOf<string>();
      expectTypeOf(variables).toEqualTypeOf<Order | undefined>();
      expectTypeOf(fetch).toEqualTypeOf<SteadyFetch>();
      expectTypeOf(json).toEqualTypeOf<SteadyJson>();
      return { done: { id: 1 } };
    },
  });
  expectTypeOf(form.data).toEqualTypeOf<Receipt | undefined>();
  expectTypeOf(form.variables).toEqualTypeOf<Order | undefined>();
  expectTypeOf(form.context).toEqualTypeOf<{ before: string } | undefined>();
  expectTypeOf(form.error).toEqualTypeOf<Error | null>();
  expectTypeOf(form.unknown?.variables).toEqualTypeOf<Order | undefined>();
  expectTypeOf(form.confirmation?.variables).toEqualTypeOf<Order | undefined>();
  expectTypeOf(form.submit({ sku: 'kite' })).toEqualTypeOf<
    Promise<SubmitResult<Receipt, Error, Order>>
  >();
  // @ts-expect-error -- the variables are an Order, and not a string
  void form.submit('kite');
  // @ts-expect-error -- past the form there is no key that is kept
  form.mutate({ sku: 'kite' });
  expectTypeOf(useMutationStatus(form.target).cancel).toEqualTypeOf<() => void>();
  // What React Query says stays a union.
  if (form.isSuccess) expectTypeOf(form.data).toEqualTypeOf<Receipt>();
  if (form.status === 'error') expectTypeOf(form.error).toEqualTypeOf<Error>();
  return <button onClick={() => form.reset()}>New order</button>;
}

/** The component takes the same mutations, and gives its view the same types. */
export const Component = () => (
  <SafeForm form="checkout" mutation={placeOrder} variables={() => ({ sku: 'kite' })}>
    {({ form }) => {
      expectTypeOf(form.data).toEqualTypeOf<Receipt | undefined>();
      expectTypeOf(form.context).toEqualTypeOf<{ before: string } | undefined>();
      return form.data?.id;
    }}
  </SafeForm>
);

export function Action() {
  const { submit } = useSafeSubmit(placeOrder, { form: 'checkout' });
  const [state, action] = useActionState(
    (_: unknown, form: FormData) => submit({ sku: form.get('sku') as string }),
    undefined,
  );
  if (state?.status === 'succeeded') expectTypeOf(state.data).toEqualTypeOf<Receipt>();
  if (state?.status === 'unknown') expectTypeOf(state.error).toEqualTypeOf<Error>();
  if (state?.status === 'needs-confirmation')
    expectTypeOf(state.reason).toEqualTypeOf<
      'edited-after-unknown' | 'key-expired' | 'no-key' | 'age-unknown' | 'cannot-find-out'
    >();
  return <form action={action} />;
}

export function Options() {
  const ping = mutationOptions(steady, {
    mutationFn: (_: void, { json }) => json<string>('/ping'),
  });
  void useSafeSubmit(ping, { form: 'ping' }).submit();
  // @ts-expect-error -- without a name nothing is known after a reload
  useSafeSubmit(placeOrder, {});
  // @ts-expect-error -- what is done has a Receipt
  useSafeSubmit(placeOrder, { form: 'checkout', resolve: async () => ({ done: 'kite' }) });
}
