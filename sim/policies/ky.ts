import kyDefault from 'ky';
import type { OpenTab } from './policy.ts';

/** ky as it is, but for the time limit of an attempt: two retries after 0.3 and 0.6 s, no jitter. */
export const ky: OpenTab = ({ fetch, timeoutMs }) => {
  const client = kyDefault.create({ fetch, timeout: timeoutMs });
  return () => client('https://api.example/items');
};
