import ky from 'ky';
import { linkClient } from 'steadfetch';
import { steady } from '../recipes/steady.ts';

const own = { fetch: steady.rawFetch, retry: 0, timeout: false };
const client = ky.create({ prefixUrl: 'https://api.example', ...own });
export const api = linkClient(steady, client);

export const load = (signal) => api.get('products', { signal }).json();
