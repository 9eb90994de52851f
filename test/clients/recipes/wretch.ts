import wretch from 'wretch';
import { steady } from './steady.ts';

export const api = wretch('https://api.example').fetchPolyfill(steady.rawFetch);

export const load = (signal: AbortSignal): Promise<string[]> =>
  api.options({ signal }).get('/products').json<string[]>();
