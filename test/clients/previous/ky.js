import ky from 'ky';
import { steady } from '../recipes/steady.ts';

export const api = ky.create({
  prefixUrl: 'https://api.example',
  fetch: steady.rawFetch,
  retry: 0,
  timeout: false,
});

export const load = (signal) => api.get('products', { signal }).json();
