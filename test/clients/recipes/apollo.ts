import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { rawFetchFor } from 'steadfetch';
import { Products } from './documents.ts';
import { steady } from './steady.ts';

const own = { uri: 'https://api.example/graphql', useGETForQueries: true };
const link = new ApolloLink((operation, forward) => {
  const fetch = rawFetchFor(steady, operation.getContext().signal as AbortSignal | undefined);
  return new HttpLink({ ...own, fetch }).request(operation, forward);
});
export const api = new ApolloClient({ link, cache: new InMemoryCache() });

export const load = (signal: AbortSignal): Promise<string[]> =>
  api
    .query({ query: Products, fetchPolicy: 'no-cache', context: { signal } })
    .then(({ data }) => data?.products ?? []);
