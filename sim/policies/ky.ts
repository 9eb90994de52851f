import kyDefault from 'ky';
import type { OpenTab } from './policy.ts';

/** ky as it is, but for the time limit of an attempt: two retries after 0.3 and 0.6 s, no jitter. */
const openTab: OpenTab = ({ fetch, timeoutMs }) => {
  const client = kyDefault.create({ fetch, timeout: timeoutMs });
  return (url) => client(url);
};

export const ky: OpenTab = Object.assign(openTab, { makesRequests: true });
