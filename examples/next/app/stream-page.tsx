// stream-page.tsx
import {
  defaultShouldDehydrateQuery,
  dehydrate,
  HydrationBoundary,
  type Query,
} from '@tanstack/react-query';
import { getClient } from './clients.ts';
import { products } from './shop.ts';
import { Products } from './stream-products.tsx';

/** Also what is still under way: the page is sent at once, and its data follow. */
const shouldDehydrateQuery = (query: Query): boolean =>
  defaultShouldDehydrateQuery(query) || query.state.status === 'pending';

export function StreamPage() {
  const client = getClient();
  client.query(products).catch(() => {});
  return (
    <HydrationBoundary state={dehydrate(client, { shouldDehydrateQuery })}>
      <Products />
    </HydrationBoundary>
  );
}
