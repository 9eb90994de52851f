import { type FormEvent, useState } from 'react';
import { useSafeSubmit } from 'steadfetch/react';
import { placeOrder } from './order.ts';

export function Checkout() {
  const [sku, setSku] = useState('');
  const { submit, isPending, data, unknown } = useSafeSubmit(placeOrder, { form: 'checkout' });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void submit({ sku });
  };
  return (
    <form onSubmit={onSubmit}>
      <input aria-label="Kite" value={sku} onChange={(event) => setSku(event.target.value)} />
      <button disabled={isPending}>Order</button>
      <p role="status">
        {data && `Ordered: ${data.id}.`}
        {unknown && 'It may have been ordered. Press again to find out: you will not get two.'}
      </p>
    </form>
  );
}
