import type { Rule } from '../source.ts';
import { ignoresRetryAfter, retries4xx } from './answers.ts';
import { keyPerAttempt, weakKey } from './keys.ts';
import { navigatorOnline } from './connection.ts';
import { endlessPoll } from './polls.ts';
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
  weakKey,
  resubmitAfterTimeout,
  endlessPoll,
];
