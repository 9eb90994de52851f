import type { Rule } from '../source.ts';
import { ignoresRetryAfter, retries4xx } from './answers.ts';
import { keyPerAttempt, weakKey } from './keys.ts';
import { deprecatedFetchQuery, endlessPoll, navigatorOnline } from './others.ts';
import { nestedRetry, resubmitAfterTimeout, retryWithoutKey } from './repeats.ts';
import { noJitter, noTimeLimit } from './waits.ts';

/** In the order of docs/doctor.md, which has a heading for each. */
export const rules: readonly Rule[] = [
  keyPerAttempt,
  nestedRetry,
  retryWithoutKey,
  noJitter,
  noTimeLimit,
  navigatorOnline,
  retries4xx,
  ignoresRetryAfter,
  deprecatedFetchQuery,
  weakKey,
  resubmitAfterTimeout,
  endlessPoll,
];
