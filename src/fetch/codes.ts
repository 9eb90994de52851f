import type { SubmissionHook } from '../operation/environment.ts';
import type { Operations } from '../operation/operations.ts';
import type { AnswerFailure, Failure, HttpFailure } from '../policy/outcome.ts';
import type { ErrorReader, IdempotencyProfile } from './api.ts';
import type { Call, FetchContext, KeyedRequest, SentFacts } from './attempt/in-flight.ts';
import type { Passed, RequestParts } from './attempt/request.ts';

/** What a profile brings: gives requests their idempotency keys, and holds their bytes. */
export interface KeyCode {
  readonly by: 'defineIdempotency';
  /** The key that a request carries already, whoever gave it. */
  readonly read: (
    profile: IdempotencyProfile,
    parts: RequestParts,
    init: RequestInit,
  ) => string | undefined;
  /**
   * Gives a request its key, and its bytes; undefined when it needs none.
   *
   * @throws TypeError when its key or its body cannot be sent.
   */
  readonly add: (
    context: FetchContext,
    profile: IdempotencyProfile,
    facts: SentFacts,
    passed: Passed,
  ) => Promise<KeyedRequest | undefined>;
  /** Notes a request without a key, which may be part of a mutation. @returns what it waits for. */
  readonly noteStray: (
    context: FetchContext,
    facts: SentFacts,
    signal: AbortSignal | undefined,
  ) => Promise<unknown> | undefined;
}

/** What an operation with a submission brings: an app without submissions does not bundle it. */
export interface SubmissionCode extends SubmissionHook {
  /** Notes that a request goes without the key that it is to carry. */
  readonly noteUnkeyed: (operations: Operations, facts: SentFacts, passed: Passed) => void;
  /** Waits until the submission is safe where it is kept. */
  readonly whenKept: (
    context: FetchContext,
    facts: SentFacts,
    signal: AbortSignal | undefined,
  ) => Promise<void> | undefined;
}

/** Of each 401 that came because nobody could be asked for new credentials: when they can be again, in epoch milliseconds. */
export const renewableAt: WeakMap<Failure, number> = new WeakMap();

/** What `refreshOn401` brings: the credentials of requests. */
export interface AuthCode {
  readonly by: 'refreshOn401';
  /** What is sent, with its credentials. */
  readonly sign: (
    context: FetchContext,
    facts: SentFacts,
    parts: RequestParts,
    init: RequestInit,
  ) => Promise<RequestInit>;
  /**
   * The answer, or where that is a redirect which fetch was told not to follow, what it leads to.
   *
   * @throws TypeError where it may not be followed.
   */
  readonly follow: (call: Call, response: Response) => Response | Promise<Response>;
  /** After a 401: what is sent with new credentials; undefined where that is the answer. */
  readonly renew: (
    call: Call,
    failure: HttpFailure,
    response: Response,
  ) => Promise<RequestInit | undefined>;
}

/** What `conditionalWrites` brings: writes that are refused where their condition no longer holds. */
export interface ConditionalCode {
  readonly by: 'conditionalWrites';
  /** True where it is such a write, and may be sent again. */
  readonly isConditional: (parts: RequestParts, init: RequestInit) => true | undefined;
  /**
   * What a refusal leaves: the answer of what has won all the same; undefined where it is none of such a write.
   *
   * @throws the refusal, with what is known of it.
   */
  readonly settle: (
    call: Call,
    failure: HttpFailure,
    response: Response,
  ) => Promise<Response | undefined>;
}

/** What `classifyOutcomes` brings: what an app itself reads of answers and errors. */
export interface OutcomesCode extends ErrorReader {
  /**
   * What an answer shows, whose headers have shown this.
   *
   * @throws what a body that does not come makes of the attempt.
   */
  readonly ofResponse: (
    call: Call,
    response: Response,
    failure: AnswerFailure | undefined,
  ) => Promise<AnswerFailure | undefined>;
}
