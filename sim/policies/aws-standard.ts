import type { OpenTab } from './policy.ts';
import { retryBySchedule } from './schedule.ts';

/**
 * The standard retry mode of the AWS SDKs (@smithy/util-retry 4): 3 attempts, full jitter from 50
 * ms capped at 20 s, and a bucket of 500 tokens, of which a retry takes 14; what the last retry
 * took comes back with a success, or else one token.
 */
export const awsStandard: OpenTab = retryBySchedule(({ random }) => {
  const capacity = 500;
  const cost = 14;
  let tokens = capacity;
  return {
    waitMs({ retry, error }) {
      if (retry > 2 || tokens < cost) return undefined;
      tokens -= cost;
      return error.retryAfterMs ?? Math.min(20_000, 50 * 2 ** (retry - 1) * random());
    },
    onSuccess(retries) {
      tokens = Math.min(capacity, tokens + (retries > 0 ? cost : 1));
    },
  };
});
