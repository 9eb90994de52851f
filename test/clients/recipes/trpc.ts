import { createTRPCClient, httpLink } from '@trpc/client';
import type { AppRouter } from './trpc-router.ts';
import { steady } from './steady.ts';

const link = httpLink({
  url: 'https://api.example/trpc',
  fetch: steady.rawFetch,
  headers: ({ op }) => ({ ...(op.context.headers as object) }),
});
export const api = createTRPCClient<AppRouter>({ links: [link] });

export const load = (signal: AbortSignal) => api.products.query(undefined, { signal });
