import type { FetchContext } from './call.ts';
import type { Passed } from './keyed-init.ts';
import type { Operations } from './operations.ts';
import type { SentFacts } from './passage.ts';
import { prepare } from './prepare.ts';
import { noteUnkeyed } from './wants-key.ts';

/** What an operation with an intent brings: an app without submissions does not bundle it. */
export interface SubmissionCode {
  /** Notes that a request goes without the key that it is to carry. */
  readonly noteUnkeyed: (operations: Operations, facts: SentFacts, passed: Passed) => void;
  /** Waits until the intent is safe where it is kept. */
  readonly whenKept: (
    context: FetchContext,
    facts: SentFacts,
    signal: AbortSignal | undefined,
  ) => Promise<void> | undefined;
}

export const submissionCode: SubmissionCode = {
  noteUnkeyed,
  whenKept(context, facts, signal) {
    const { intent } = facts.live;
    return intent?.kept && prepare(context, facts, signal, intent.kept());
  },
};
