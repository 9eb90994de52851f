import { createTRPCClient, httpLink, type TRPCLink } from '@trpc/client';
import { rawFetchFor } from 'steadfetch';
import type { AppRouter } from './trpc-router.ts';
import { steady } from './steady.ts';

const url = 'https://api.example/trpc';
const link: TRPCLink<AppRouter> = (runtime) => (call) =>
  httpLink({ url, fetch: rawFetchFor(steady, call.op.signal) })(runtime)(call);
export const api = createTRPCClient<AppRouter>({ links: [link] });

export const load = (signal: AbortSignal) => api.products.query(undefined, { signal });
