import { awsStandard } from './aws-standard.ts';
import { axiosRetry } from './axios-retry.ts';
import { fullJitterWithBudget, fullJitterWithThrottle } from './budgets.ts';
import { cockatielBreaker } from './cockatiel.ts';
import { jitter } from './jitter.ts';
import { ky } from './ky.ts';
import { pRetry } from './p-retry.ts';
import type { OpenTab } from './policy.ts';
import { reactQuery } from './react-query.ts';
import { retryBySchedule } from './schedule.ts';
import { steadfetch } from './steadfetch.ts';

/** The policies that can be compared. */
export const policies = {
  steadfetch,
  none: retryBySchedule(() => ({ waitMs: () => undefined })),
  'react-query': reactQuery,
  ky,
  'axios-retry': axiosRetry,
  'p-retry': pRetry,
  'aws-standard': awsStandard,
  cockatiel: cockatielBreaker,
  'full-jitter': jitter('full'),
  'equal-jitter': jitter('equal'),
  'decorrelated-jitter': jitter('decorrelated'),
  'full-jitter-budget': fullJitterWithBudget,
  'full-jitter-throttle': fullJitterWithThrottle,
} as const satisfies Readonly<Record<string, OpenTab>>;

export type PolicyName = keyof typeof policies;
