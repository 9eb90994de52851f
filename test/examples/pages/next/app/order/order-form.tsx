'use client';

import type { ActionState } from 'steadfetch/react';
import { KeyField, useSafeAction } from 'steadfetch/react';
import { OrderFields } from '../order-fields.tsx';
import { placeOrder } from './actions.ts';

export function OrderForm({ first }: { readonly first: ActionState<never> }) {
  const { state, isPending, formProps } = useSafeAction(placeOrder, first, { form: 'order' });
  const article = state.status === 'succeeded' ? state.data.article : '';
  return (
    <form {...formProps}>
      <KeyField state={state} form="order" />
      <OrderFields told={isPending ? 'sending' : `${state.status} ${article}`} />
    </form>
  );
}
