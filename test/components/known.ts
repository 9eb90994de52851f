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
    why: 'a paused query without data is `paused` for React Query, too, so that `isLoading` is false',
    worlds: ['json'],
    faults: ['thrown', 'blank', 'untrue'],
  },
  {
    why: 'a paused query with data is not `fetching`, and nothing on the screen tells of it',
    worlds: ['json'],
    faults: ['silent'],
  },
  {
    why: 'a promise of a background refetch lasts as long as the pause',
    worlds: ['json'],
    faults: ['awaits longer'],
  },
  {
    why: 'a query whose endpoint stays down is paused for a minute',
    worlds: ['json'],
    faults: ['fails later', 'slower', 'stuck'],
    troubles: ['one endpoint', '503 for 30 s'],
  },
  {
    why: 'a background refetch waits for the probe of another, or for its own, late one',
    worlds: ['json'],
    faults: ['slower'],
    troubles: ['503'],
  },
  {
    why: 'three retries after 0.5, 1 and 2 s end where those after 1, 2 and 4 s go on',
    worlds: ['fetch', 'json'],
    faults: ['fails', 'slower', 'silent', 'awaits longer', 'fails later'],
    troubles: ['429', '503'],
  },
];
