import type { HttpFailure } from '../policy/outcome.ts';
import type { NotSentError } from './errors.ts';
import type { Step } from './intent.ts';
import type { SentFacts } from './passage.ts';

/** A request with its key, for one attempt. */
export interface KeyedRequest {
  /** With the key, and the bytes that belong to it. */
  readonly init: RequestInit;
  readonly step: Step;
  /** It goes out now, unless its key is too old: then this is the error. */
  readonly start: (facts: SentFacts) => NotSentError | undefined;
  /** Whether this answer says that the first request with the key is still running. */
  readonly isInProgress: (response: Response) => boolean;
  /** What the API says of this failure, in its own way; undefined when it is none. */
  readonly judge: (
    response: Response,
    failure: HttpFailure,
    facts: SentFacts,
    /** Of the attempt: it waits no longer than that for what the API's profile says. */
    signal: AbortSignal,
  ) => Promise<HttpFailure | undefined>;
  readonly succeed: () => void;
}
