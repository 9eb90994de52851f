import type { Query } from '@tanstack/react-query';
import type { Operation } from '../../operation/operation.ts';
import { instanceBehind } from '../instance.ts';

/** React Query's own wait before its first retry, which then doubles, and its longest. */
const firstRetryMs = 1000;
const longestRetryMs = 30_000;
/** How long a failing attempt of React Query takes, about. */
const answerMs = 50;
/** As many retries as React Query alone makes by default; it gives up after 7 s. */
const leastRetries = 3;
/** With more retries by its own `retryDelay`, React Query waits longer than any pause of ours. */
const mostRetries = 10;
/** Further retries count until then. With a short `retryDelay` of the app there are many of them. */
const longestMs = 60_000;

/** The times at which React Query alone would retry, by the query's own `retryDelay` if it has one. At the last it gives up. */
export function retryTimes({ options: { retryDelay } }: Query, operation: Operation): number[] {
  const own = instanceBehind(retryDelay) ? undefined : retryDelay;
  const { startedAt } = operation.ref;
  const { maxRetries } = operation.policyOf({});
  const least = Math.max(leastRetries, Math.min(mostRetries, maxRetries));
  const times: number[] = [];
  for (let at = startedAt; ;) {
    const retry = times.length;
    if (retry >= least && (retry >= maxRetries || at - startedAt > longestMs)) return times;
    at += answerMs + (ownMs(own, retry, operation) ?? usualMs(retry));
    times.push(at);
  }
}

/** How long the query's own `retryDelay` waits after the latest failure; undefined without one. */
export function ownWaitMs(
  { options: { retryDelay } }: Query,
  operation: Operation,
): number | undefined {
  return instanceBehind(retryDelay)
    ? undefined
    : ownMs(retryDelay, operation.attempt - 1, operation);
}

const usualMs = (retry: number): number => Math.min(longestRetryMs, firstRetryMs * 2 ** retry);

/** The wait of the query's own `retryDelay`. A function is called only with an error. Undefined without one, or if it throws; NaN counts as 0. */
function ownMs(
  delay: Query['options']['retryDelay'],
  retry: number,
  { errors: { lastError } }: Operation,
): number | undefined {
  if (typeof delay !== 'function') return delay;
  try {
    return lastError === undefined ? undefined : delay(retry, lastError as Error) || 0;
  } catch {
    return undefined;
  }
}
