import { createFetch } from 'ofetch';
import { steady } from '../recipes/steady.ts';

export const api = createFetch({ fetch: steady.rawFetch, Headers }).create({
  baseURL: 'https://api.example',
  retry: 0,
});

export const load = (signal) => api('/products', { signal });
