import type { World } from './run.tsx';
import type { Fault } from './verdict.ts';

/** A cause that makes cells worse than React Query alone, and is known. */
export interface Cause {
  readonly why: string;
  readonly worlds: readonly World[];
  readonly faults: readonly Fault[];
  /** The beginnings of their names. @default all */
  readonly troubles?: readonly string[];
  /** Their names. @default all */
  readonly components?: readonly string[];
}

/** Each goes when no cell has it any more: the test says so. */
export const known: readonly Cause[] = [
  {
    why: 'an outage may end within its minute, and a first load that waits for it is answered then',
    worlds: ['json'],
    faults: ['fails later'],
    troubles: ['503 for 70 s'],
  },
  {
    why: 'the next round of a poll, or of a scroll, falls elsewhere between the retries',
    worlds: ['fetch'],
    faults: ['slower'],
    troubles: ['503 for 30 s', '503 for 70 s', '429 for 90 s'],
  },
  {
    why: 'nothing is sent to a rate limit before it ends, and what waits for its end is spread',
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
    why: 'what is disabled while it waits stops, and begins anew when it is enabled',
    worlds: ['fetch', 'json'],
    faults: ['fails later'],
    components: ['`enabled` off and on'],
  },
  {
    why: 'the jitter of each round adds up, where an app asks anew after each failure',
    worlds: ['fetch', 'json'],
    faults: ['slower'],
    troubles: ['503 for 30 s', '503 for 70 s', '429 for 90 s'],
    components: ['an effect that tries again', 'polling from the first load on'],
  },
  {
    why: 'beside others that are answered, it is told with the probe that fails after the last retry',
    worlds: ['json'],
    faults: ['fails later'],
    troubles: ['one endpoint'],
    components: ['`resetQueries()`', 'three ids in a row', '`retryDelay: 500`'],
  },
];
