import { isSafeMethod } from '../policy/operation.ts';
import type { FailureReport } from './operation.ts';
import type { LiveOperation, SentRequest } from './operation.ts';

/** What a request counts for among those that may have been done: a read for nothing. */
export function weightOf({
  method,
  idempotent,
}: Pick<SentRequest, 'method' | 'idempotent'>): 0 | 1 {
  return isSafeMethod(method) || idempotent ? 0 : 1;
}

/** One request that may have been done is enough, whatever came of the others; `own` is not asked about. */
export function isInDoubt({ intent, doubts }: LiveOperation, own = 0): boolean {
  return !!intent?.wasSent || doubts > own;
}

/** The same, of an operation that ends in a failure. */
export function mayBeDone(
  { failure, method = 'POST' }: FailureReport,
  live: LiveOperation | undefined,
): boolean {
  return (failure.processed !== 'no' && !isSafeMethod(method)) || (!!live && isInDoubt(live));
}
