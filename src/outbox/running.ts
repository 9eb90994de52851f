import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Row } from './store/schema.ts';
import type { Change, Settled } from './store/row-store.ts';

/** What one attempt at a row has come to, and what is to be written of it. */
export interface Attempt {
  readonly change: Change;
  /** Is told once it is written; undefined when it was not ours to write any more. */
  readonly report: (settled: Settled | undefined) => void;
}

/** An attempt that is under way. */
export interface Running {
  readonly row: Row;
  /** What is known of it while it is paused; undefined before it begins. */
  live: LiveOperation | undefined;
  readonly controller: AbortController;
  /** Where its last request goes; undefined before there is one. */
  origin: string | undefined;
  /** How many of its requests are under way, or paused before they are sent. */
  open: number;
  /** Since when there is none, as the worker's clock has it. */
  idleSince: number;
  /** A request of it begins, to this origin as far as that is known. @returns what ends it. */
  readonly onRequest: (origin: string | undefined) => () => void;
}
