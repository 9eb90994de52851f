import { useQuery } from '@tanstack/react-query';
import { RetryStatus } from 'steadfetch/ui';
import { products } from './api.ts';

export function Products() {
  const { data, isPending, isError } = useQuery(products);
  return (
    <section>
      <h2>Products</h2>
      {isPending && <p>Loading</p>}
      <RetryStatus query={products.queryKey} />
      {isError && !data && <p role="alert">The products could not be loaded.</p>}
      <ul>
        {data?.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </section>
  );
}
