import { retry } from 'steadfetch';
import { steady } from './steady.ts';

export const loader = ({ request }: { request: Request }) =>
  retry(steady, ({ signal }) => steady.json<string[]>('/api/products', { signal }), {
    signal: request.signal,
    deadlineMs: 5000,
  });
