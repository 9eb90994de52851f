import createClient from 'openapi-fetch';
import { linkClient } from 'steadfetch';
import { steady } from './steady.ts';
import type { paths } from './openapi.ts';

const client = createClient<paths>({ baseUrl: 'https://api.example', fetch: steady.rawFetch });
export const api = linkClient(steady, client);

export async function load(signal: AbortSignal): Promise<string[]> {
  const { data, response } = await api.GET('/products', { signal });
  if (!data) throw new Error('No products.', { cause: response });
  return data;
}
