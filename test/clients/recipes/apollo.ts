import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { Products } from './documents.ts';
import { steady } from './steady.ts';

const uri = 'https://api.example/graphql';
const link = new HttpLink({ uri, fetch: steady.rawFetch, useGETForQueries: true });
export const api = new ApolloClient({ link, cache: new InMemoryCache() });

export const load = (signal: AbortSignal): Promise<string[]> =>
  api
    .query({ query: Products, fetchPolicy: 'no-cache', context: { fetchOptions: { signal } } })
    .then(({ data }) => data?.products ?? []);
