import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { Products } from './documents.ts';
import { steady } from './steady.ts';

const uri = 'https://api.example/graphql';
const link = new HttpLink({ uri, fetch: steady.rawFetch, useGETForQueries: true });
const api = new ApolloClient({ link, cache: new InMemoryCache() });

export async function load(signal: AbortSignal): Promise<string[]> {
  const context = { fetchOptions: { signal } };
  const { data } = await api.query({ query: Products, context, fetchPolicy: 'no-cache' });
  return data?.products ?? [];
}
