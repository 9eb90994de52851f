// clients.ts
import { environmentManager, QueryClient } from '@tanstack/react-query';
import { createSteadfetch, mergeDefaultOptions, profiles, type Steadfetch } from 'steadfetch';

const instances = new WeakMap<QueryClient, Steadfetch>();
let inBrowser: QueryClient | undefined;

function createClient(): QueryClient {
  const steady = createSteadfetch({ apis: [{ match: '/api', idempotency: profiles.draft }] });
  const queries = { staleTime: 60_000 };
  const client = new QueryClient({ defaultOptions: mergeDefaultOptions(steady, { queries }) });
  instances.set(client, steady);
  return client;
}

/** On a server a new one at each call: call it once for each request. In a browser always the same. */
export function getClient(): QueryClient {
  if (environmentManager.isServer()) return createClient();
  inBrowser ??= createClient();
  return inBrowser;
}

/** The instance of a client. */
export function steadyOf(client: QueryClient): Steadfetch {
  const steady = instances.get(client);
  if (!steady) throw new Error('This QueryClient is not from getClient.');
  return steady;
}
