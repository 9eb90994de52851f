import wretch from 'wretch';
import { steady } from '../recipes/steady.ts';

export const api = wretch('https://api.example').polyfills({ fetch: steady.rawFetch });

export const load = (signal) => api.options({ signal }).get('/products').json();
