// home.tsx
import { dehydrate, type DehydratedState, HydrationBoundary } from '@tanstack/react-query';
import { retry } from 'steadfetch';
import { getClient, steadyOf } from './clients.ts';
import { ShopPage } from './shop-page.tsx';
import { offers, products, readProducts } from './shop.ts';

export async function loader({ request }: { readonly request: Request }) {
  const client = getClient();
  const steady = steadyOf(client);
  // The page is worth little without its products: they are retried here, for 3 s. A pause does not count as that.
  const options = { signal: request.signal, deadlineMs: 3000, maxPauseMs: 3000 };
  const queryFn = () => retry(steady, ({ signal }) => readProducts(steady, signal), options);
  await Promise.allSettled([client.query({ ...products, queryFn }), client.query(offers)]);
  return { state: dehydrate(client) };
}

export default function Home({
  loaderData,
}: {
  readonly loaderData: { readonly state: DehydratedState };
}) {
  return (
    <HydrationBoundary state={loaderData.state}>
      <ShopPage />
    </HydrationBoundary>
  );
}
