'use client';
import { type ActionState, KeyField, useSafeAction } from 'steadfetch/react';
import { placeOrder } from './place-order.ts';

export function CheckoutForm({ first }: { readonly first: ActionState<never> }) {
  const { state, isPending, formProps } = useSafeAction(placeOrder, first, { form: 'checkout' });
  const typed = 'fields' in state ? state.fields['article'] : '';
  return (
    <form {...formProps}>
      <KeyField state={state} form="checkout" />
      <input name="article" aria-label="Article" defaultValue={typed} />
      <button aria-disabled={isPending}>Order</button>
      <p role="status">
        {state.status === 'succeeded' &&
          `${state.isReplayed ? 'Already ordered' : 'Ordered'}. Your number is ${state.data.id}.`}
        {state.status === 'refused' && state.data.article}
        {state.status === 'unknown' &&
          'It may have been ordered. Press again to find out: you will not get two.'}
        {state.status === 'needs-confirmation' &&
          'An earlier order may have been placed. Press again to order this, too.'}
      </p>
    </form>
  );
}
