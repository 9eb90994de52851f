// stream-products.tsx
'use client';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { useRetryStatus } from 'steadfetch/react';
import { products } from './shop.ts';

function List() {
  const { data } = useSuspenseQuery(products);
  return (
    <ul>
      {data.map((name) => (
        <li key={name}>{name}</li>
      ))}
    </ul>
  );
}

function Status() {
  return <p role="status">{useRetryStatus(products).status}</p>;
}

export function Products() {
  return (
    <section id="products">
      <Suspense fallback={<p>Please wait</p>}>
        <List />
      </Suspense>
      <Status />
    </section>
  );
}
