import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Row } from './row.ts';
import type { Change, Settled } from './store.ts';

/** What one attempt at a row has come to, and what is to be written of it. */
export interface Attempt {
  readonly change: Change;
  /** Is told once it is written; undefined when it was not ours to write any more. */
  readonly report: (settled: Settled | undefined) => void;
}

/** An attempt that is under way. */
export interface Running {
  readonly row: Row;
  /** What is known of it while it is held; undefined before it begins. */
  live: LiveOperation | undefined;
  readonly controller: AbortController;
}
