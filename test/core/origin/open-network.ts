import type { Network } from '../../../src/core/origin/origin.ts';

/** Nobody knows anything against it, and nobody sleeps. */
export const openNetwork: Network = {
  isOffline: () => false,
  retryAt: () => undefined,
  subscribe: () => () => {},
  isDoubtful: () => false,
  onBack: () => () => {},
  sleepDetector: { check() {}, watch: () => () => {} },
};
