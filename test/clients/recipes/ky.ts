import ky from 'ky';
import { linkClient } from 'steadfetch';
import { steady } from './steady.ts';

const own = { fetch: steady.rawFetch, retry: 0, timeout: false } as const;
const client = ky.create({ prefix: 'https://api.example', ...own });
export const api = linkClient(steady, client);

export const load = (signal: AbortSignal): Promise<string[]> =>
  api.get('products', { signal }).json<string[]>();
