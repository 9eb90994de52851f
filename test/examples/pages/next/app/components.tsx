'use client';

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  ConnectionBanner,
  english,
  german,
  RetryStatus,
  SafeForm,
  TextsProvider,
} from 'steadfetch/ui';
import 'steadfetch/ui.css';
import { steadyOf } from './clients.ts';
import { placeOrder, products } from './shop.ts';

// A server does not know the language of its page: it has the first.
const texts = [german, english];

/** The components of steadfetch/ui, rendered on the server. */
export function Components() {
  const { data = [] } = useQuery(products);
  const steady = steadyOf(useQueryClient());
  const [mutation] = useState(() => placeOrder(steady));
  return (
    <TextsProvider texts={texts}>
      <ConnectionBanner />
      <RetryStatus query={products.queryKey} />
      <section id="components">
        <p>{data.join(' ')}</p>
      </section>
      <SafeForm
        form="components"
        mutation={mutation}
        variables={(fields) => ({ sku: fields.get('sku') as string })}
      >
        <input name="sku" aria-label="Article" defaultValue="kite" />
      </SafeForm>
    </TextsProvider>
  );
}
