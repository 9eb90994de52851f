import type { World } from './run.tsx';
import type { Fault } from './verdict.ts';

/** A cause that makes cells worse than React Query alone, and is known. */
export interface Cause {
  readonly why: string;
  readonly worlds: readonly World[];
  readonly faults: readonly Fault[];
  /** The beginnings of their names. @default all */
  readonly troubles?: readonly string[];
}

/** Each goes when no cell has it any more: the test says so. */
export const known: readonly Cause[] = [
  {
    why: 'a query that has failed without data is `pending`, and `isFetched`, while it is fetched again',
    worlds: ['json'],
    faults: ['thrown'],
    troubles: ['503 for 70 s', 'one endpoint'],
  },
  {
    why: 'a probe comes a second later than a retry of React Query',
    worlds: ['json'],
    faults: ['slower'],
    troubles: ['503 for 1 s', '503 for 2 s', '503 for 6', '503 for 7 s', 'no network for 6 s'],
  },
  {
    why: 'a query without data whose endpoint stays down is paused for a minute',
    worlds: ['json'],
    faults: ['fails later'],
    troubles: ['503 for 70 s', 'one endpoint'],
  },
  {
    why: 'a Retry-After above the maximum is not remembered',
    worlds: ['json'],
    faults: ['slower'],
    troubles: ['429 for 90 s'],
  },
  {
    why: 'with `watchConnectivity()` a mutation is sent although the browser says that it is offline',
    worlds: ['fetch', 'json'],
    faults: ['fails', 'silent'],
    troubles: ['offline for 10 s, with'],
  },
  {
    why: 'three retries of an error without a status end at 3.5 s, those of React Query at 7 s',
    worlds: ['fetch'],
    faults: ['fails', 'slower', 'silent', 'awaits longer', 'fails later'],
    troubles: ['503', '429', 'no network', 'loaded offline'],
  },
  {
    why: 'retries of a 429 without a time do not come when those of React Query do, after 1, 3 and 7 s',
    worlds: ['json'],
    faults: ['fails', 'slower', 'silent', 'awaits longer', 'fails later'],
    troubles: ['429 for 5 s'],
  },
];
