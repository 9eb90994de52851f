'use client';

import { useActionState } from 'react';
import { OrderFields } from '../order-fields.tsx';
import { placeOrder } from './actions.ts';

/** As the documentation of React and Next.js shows it, with the button that they disable meanwhile left enabled. */
export function PlainForm() {
  const [state, action, isPending] = useActionState(placeOrder, undefined);
  return (
    <form action={action}>
      <OrderFields told={isPending ? 'sending' : state ? `succeeded ${state.article}` : 'idle'} />
    </form>
  );
}
