import { isSafeMethod } from '../policy/operation.ts';
import type { FailureReport } from './failure-report.ts';
import type { LiveOperation } from './live-operation.ts';

/** One request that may have been done is enough, whatever came of the others. */
export function isInDoubt({ intent, unsure = new Set() }: LiveOperation): boolean {
  return !!intent?.wasSent || [...unsure].some((name) => !isSafeMethod(name.replace(/ .*/s, '')));
}

/** The same, of an operation that ends in a failure. */
export function mayBeDone(
  { failure, method = 'POST' }: FailureReport,
  live: LiveOperation | undefined,
): boolean {
  return (failure.processed !== 'no' && !isSafeMethod(method)) || (!!live && isInDoubt(live));
}
