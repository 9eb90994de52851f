import { createTRPCProxyClient, httpLink } from '@trpc/client';
import { steady } from '../recipes/steady.ts';

const link = httpLink({
  url: 'https://api.example/trpc',
  fetch: steady.rawFetch,
  headers: ({ op }) => ({ ...op.context.headers }),
});
export const api = createTRPCProxyClient({ links: [link] });

export const load = (signal) => api.products.query(undefined, { signal });
