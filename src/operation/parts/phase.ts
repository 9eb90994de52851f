import type { Decision } from '../../policy/decide.ts';
import type { OperationResult } from '../events.ts';

/** Where an operation is between two attempts, or in one, and what there is only then. */
export type Phase =
  | { readonly kind: 'sending' }
  /** A request of its attempt waits for admission: `operation.pauses` has which. */
  | { readonly kind: 'paused' }
  | {
      readonly kind: 'waiting';
      /** Undefined where another page has made it. */
      readonly decision: Decision | undefined;
      /** Ends the wait; undefined where that is not ours to end. */
      readonly skip: (() => void) | undefined;
    }
  /** `result` is undefined where nothing was told of it. */
  | { readonly kind: 'ended'; readonly result: OperationResult | undefined };

// One object for all: most operations have no other phases than these.
export const sending: Phase = { kind: 'sending' };
export const paused: Phase = { kind: 'paused' };
export const succeeded: Phase = { kind: 'ended', result: 'succeeded' };
