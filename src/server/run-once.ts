import type { Settings } from './options.ts';
import type { ProblemCode } from './response.ts';
import { claimKey, runClaim, startLease } from './stores/store-calls.ts';
import type { Claim, StoredAnswer } from './stores/store.ts';

/**
 * Runs the work of a key once.
 *
 * @param work - Returns the answer to store. What it has written is rolled back if it returns none, or throws.
 * @returns `ran`; the answer of an earlier run; or why the work did not run, or has had no effect.
 * @throws the error of the work; LeaseOverError if it takes longer than `leaseMs`.
 */
export async function runOnce<Tx>(
  settings: Pick<Settings<Tx>, 'store' | 'leaseMs' | 'storeTimeoutMs' | 'onStoreError'>,
  claim: Claim,
  work: (tx: Tx, signal: AbortSignal) => Promise<StoredAnswer | undefined>,
): Promise<'ran' | StoredAnswer | ProblemCode> {
  const lease = startLease(settings.leaseMs);
  try {
    const found = await claimKey(settings, claim);
    if (!found) return 'store-unavailable';
    if (found.kind === 'full') return 'store-full';
    if (found.kind !== 'claimed') {
      if (found.fingerprint !== claim.fingerprint) return 'payload-mismatch';
      return found.kind === 'answered' ? found.answer : 'in-progress';
    }
    const run = (tx: Tx): Promise<StoredAnswer | undefined> => work(tx, lease.signal);
    const isHeld = await runClaim(settings, claim, (tx) => lease.limit(() => run(tx)));
    if (isHeld === undefined) return 'store-unavailable';
    // The claim was lost: its lease was over, its work is rolled back, and another request took the key.
    return isHeld ? 'ran' : 'in-progress';
  } finally {
    lease.end();
  }
}
