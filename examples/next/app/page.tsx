// page.tsx
import { dehydrate, HydrationBoundary } from '@tanstack/react-query';
import { getClient } from './clients.ts';
import { ShopPage } from './shop-page.tsx';
import { offers, products } from './shop.ts';

export const dynamic = 'force-dynamic';

export default async function Page() {
  const client = getClient();
  // What fails here is asked again by the browser.
  await Promise.allSettled([client.query(products), client.query(offers)]);
  return (
    <HydrationBoundary state={dehydrate(client)}>
      <ShopPage />
    </HydrationBoundary>
  );
}
