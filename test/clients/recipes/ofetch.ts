import { ofetch } from 'ofetch';
import { steady } from './steady.ts';

export const api = ofetch.create(
  { baseURL: 'https://api.example', retry: 0 },
  { fetch: steady.rawFetch },
);

export const load = (signal: AbortSignal): Promise<string[]> =>
  api<string[]>('/products', { signal });
