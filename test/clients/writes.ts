import { rawFetchFor } from 'steadfetch';
import { AddProduct } from './recipes/documents.ts';
import * as apollo from './recipes/apollo.ts';
import * as connect from './recipes/connect.ts';
import * as graphqlRequest from './recipes/graphql-request.ts';
import * as ky from './recipes/ky.ts';
import * as ofetch from './recipes/ofetch.ts';
import * as openapiFetch from './recipes/openapi-fetch.ts';
import { steady } from './recipes/steady.ts';
import * as supabase from './recipes/supabase.ts';
import * as trpc from './recipes/trpc.ts';
import * as urql from './recipes/urql.ts';
import * as wretch from './recipes/wretch.ts';

/** What a mutationFn of `mutationOptions` is given. */
interface Given {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
}

/** A write of each client, in a mutationFn. tRPC 10 does not say whose a request is, so it is given the key. */
export const writes: Readonly<Record<string, (given: Given) => Promise<unknown>>> = {
  ky: ({ signal }) => ky.api.post('products', { json: { name: 'kite' }, signal }).json(),
  ofetch: ({ signal }) =>
    ofetch.api<unknown>('/products', { method: 'POST', body: { name: 'kite' }, signal }),
  async 'openapi-fetch'({ signal }) {
    const { api } = openapiFetch;
    const { data, response } = await api.POST('/products', { body: { name: 'kite' }, signal });
    if (!data) throw new Error('Not added.', { cause: response });
    return data;
  },
  wretch: ({ signal }) =>
    wretch.api.options({ signal }).url('/products').post({ name: 'kite' }).json(),
  'graphql-request': ({ signal }) =>
    graphqlRequest.api.request({ document: 'mutation { add }', signal }),
  async urql({ signal }) {
    const fetch = rawFetchFor(steady, signal);
    const { data, error } = await urql.api.mutation(AddProduct, {}, { fetch });
    if (!data) throw error ?? new Error('Not added.');
    return data.add;
  },
  Apollo: ({ signal }) => apollo.api.mutate({ mutation: AddProduct, context: { signal } }),
  tRPC: ({ idempotencyKey, signal }) => {
    const headers = { 'Idempotency-Key': idempotencyKey };
    return trpc.api.add.mutate(undefined, { signal, context: { headers } });
  },
  async 'supabase-js'({ signal }) {
    const { api } = supabase;
    return api.from('products').insert({ name: 'kite' }).abortSignal(signal).throwOnError();
  },
  Connect: ({ signal }) => connect.api.add({}, { signal }),
};
