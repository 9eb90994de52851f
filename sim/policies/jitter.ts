import { backoffDelay, type BackoffType } from '../../src/index.ts';
import type { OpenTab } from './policy.ts';
import { retryBySchedule } from './schedule.ts';

/** Three retries with jitter, and nothing else; Retry-After is obeyed to the second. */
export function jitter(backoff: BackoffType): OpenTab {
  return retryBySchedule(({ random }) => ({
    waitMs({ retry, error, previousMs }) {
      if (retry > 3) return undefined;
      const input = { backoff, baseMs: 1000, factor: 2, capMs: 30_000, retry };
      return (
        error.retryAfterMs ?? backoffDelay({ ...input, previousBackoffMs: previousMs }, random)
      );
    },
  }));
}
