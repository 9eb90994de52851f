// shop-page.tsx
'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useRetryStatus, useSafeSubmit } from 'steadfetch/react';
import { steadyOf } from './clients.ts';
import { offers, placeOrder, products } from './shop.ts';

function List({ of }: { readonly of: typeof products }) {
  const { data } = useQuery(of);
  const { status, retryNow } = useRetryStatus(of);
  return (
    <section id={of.queryKey[0]}>
      <ul>
        {data?.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      <p role="status">{status}</p>
      {status === 'waiting' && <button onClick={retryNow}>Retry now</button>}
    </section>
  );
}

function Order() {
  const client = useQueryClient();
  const order = useMemo(() => placeOrder(steadyOf(client)), [client]);
  const { submit, status, data } = useSafeSubmit(order, { form: 'order' });
  return (
    <form
      id="order"
      onSubmit={(event) => {
        event.preventDefault();
        void submit({ sku: 'kite' });
      }}
    >
      <button>Order</button>
      <p role="status">{data ? `ordered ${data.id}` : status}</p>
    </form>
  );
}

export function ShopPage() {
  return (
    <>
      <List of={products} />
      <List of={offers} />
      <Order />
    </>
  );
}
