import { isSafeMethod } from '../policy/operation.ts';
import type { LiveOperation } from './live-operation.ts';

/** One request that may have been done is enough, whatever came of the others. */
export function isInDoubt({ intent, unsure = new Set() }: LiveOperation): boolean {
  return !!intent?.wasSent || [...unsure].some((name) => !isSafeMethod(name.replace(/ .*/s, '')));
}
