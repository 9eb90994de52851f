import { backoffDelay } from '../../src/index.ts';
import type { OpenTab } from './policy.ts';
import { retryBySchedule, type Schedule } from './schedule.ts';

/** Says whether a failed attempt may be retried, and is told of everything that it depends on. */
interface Budget {
  readonly mayRetry: () => boolean;
  readonly onSuccess: () => void;
}

function withBudget(createBudget: () => Budget): OpenTab {
  return retryBySchedule(({ random }): Schedule => {
    const budget = createBudget();
    return {
      waitMs({ retry, error }) {
        const mayRetry = budget.mayRetry();
        if (!mayRetry || retry > 3) return undefined;
        const input = { backoff: 'full', baseMs: 1000, factor: 2, capMs: 30_000, retry } as const;
        return error.retryAfterMs ?? backoffDelay(input, random);
      },
      onSuccess: budget.onSuccess,
    };
  });
}

/** A tab's bucket of 3 retries, to which each success adds a tenth: retries are 10 % of the load. */
export function createBucket(): Budget {
  let tokens = 3;
  return {
    mayRetry() {
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
    onSuccess() {
      tokens = Math.min(3, tokens + 0.1);
    },
  };
}

/** Full jitter, paid from such a bucket. */
export const fullJitterWithBudget: OpenTab = withBudget(createBucket);

/**
 * gRPC's throttling: 10 tokens, one less for each failure, a tenth more for each success; retries
 * are allowed above a half (gRFC A6).
 */
export const fullJitterWithThrottle: OpenTab = withBudget(() => {
  let tokens = 10;
  return {
    mayRetry() {
      tokens = Math.max(0, tokens - 1);
      return tokens > 5;
    },
    onSuccess() {
      tokens = Math.min(10, tokens + 0.1);
    },
  };
});
