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
    troubles: ['503 for 70 s', 'one endpoint', '429 for 90 s'],
  },
  {
    why: 'a query without data whose endpoint stays down is paused for a minute',
    worlds: ['json'],
    faults: ['fails later'],
    troubles: ['503 for 70 s', 'one endpoint'],
  },
  {
    why: 'the probes of a first load come up to 1.7 s later than the retries of React Query',
    worlds: ['json'],
    faults: ['slower'],
    troubles: ['503 for 1 s', '503 for 6', '503 for 7 s', 'no network for 6 s'],
  },
  {
    why: 'the next round of a poll, or of a scroll, falls elsewhere between the retries',
    worlds: ['fetch'],
    faults: ['slower'],
    troubles: ['503 for 30 s', '503 for 70 s', '429 for 90 s'],
  },
  {
    why: 'a poll, or a press, between two pauses of a rate limit waits for the end of the second one',
    worlds: ['json'],
    faults: ['slower', 'silent'],
    troubles: ['429 for 5 s', '429 for 90 s'],
  },
  {
    why: 'a prefetch is retried, where React Query alone asks anew with the press',
    worlds: ['fetch'],
    faults: ['slower'],
    troubles: ['one 503'],
  },
  {
    why: 'a probe has gone a moment before a refetch would be retried, and the server came back in between',
    worlds: ['json'],
    faults: ['slower'],
    troubles: ['503 for 1 s', '503 for 7 s'],
  },
];
