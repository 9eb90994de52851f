import { createActionState } from 'steadfetch/server';
import { CheckoutForm } from './checkout-form.tsx';

export const dynamic = 'force-dynamic';

export default function Page() {
  return <CheckoutForm first={createActionState()} />;
}
