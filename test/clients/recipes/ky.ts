import ky from 'ky';
import { steady } from './steady.ts';

export const api = ky.create({
  prefix: 'https://api.example',
  fetch: steady.rawFetch,
  retry: 0,
  timeout: false,
});

export const load = (signal: AbortSignal): Promise<string[]> =>
  api.get('products', { signal }).json<string[]>();
