import type { Claim } from 'steadfetch/server';

/** A claim of half a second, at the start of time. */
export const claim: Claim = {
  id: 'a',
  fingerprint: 'f',
  token: 't',
  nowMs: 0,
  leaseMs: 500,
  lifetimeMs: 1000,
};
