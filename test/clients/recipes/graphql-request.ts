import { GraphQLClient } from 'graphql-request';
import { steady } from './steady.ts';

export const api = new GraphQLClient('https://api.example/graphql', { fetch: steady.rawFetch });

export async function load(signal: AbortSignal): Promise<string[]> {
  const document = '{ products }';
  const { products } = await api.request<{ products: string[] }>({ document, signal });
  return products;
}
