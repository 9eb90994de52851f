import { createActionState } from 'steadfetch/server';
import { OrderForm } from './order-form.tsx';

export const dynamic = 'force-dynamic';

export default function Page() {
  return <OrderForm first={createActionState()} />;
}
