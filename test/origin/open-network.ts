import type { Network } from '../../src/lib/network.ts';

/** Nobody knows anything against it, and nobody sleeps. */
export const openNetwork: Network = {
  isOffline: () => false,
  retryAt: () => undefined,
  subscribe: () => () => {},
  heart: { look() {}, join: () => () => {} },
};
