import type { Transport } from '../../lib/clock.ts';
import type { Effect } from '../../operation/parts/effects.ts';
import type { ErrorMaker, RequestFacts } from '../../operation/facts.ts';
import type { Step } from '../../operation/parts/submission.ts';
import type { Environment } from '../../operation/environment.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Operations } from '../../operation/operations.ts';
import {
  headersLimit,
  noLimit,
  setLimit,
  type TimeLimit,
  type TimeLimitContext,
} from '../../operation/time-limit.ts';
import type { Timeout } from '../../policy/options.ts';
import type { HttpFailure, Outcome } from '../../policy/outcome.ts';
import { codeOf, type MadeBy } from '../../lib/input/made-by.ts';
import type { ApiProfile, Expected, FindApi } from '../api.ts';

/** Tells the origin how an attempt ended, at its headers; only the first word counts. */
export type RecordOutcome = (outcome: Outcome, error?: unknown, response?: Response) => void;

/**
 * The way out: at once when all is well, and otherwise when the origin lets it go.
 *
 * @throws NotSentError when it may not go; the caller's abort reason, or one of ours, when it is no longer wanted.
 */
export type Enter = (
  facts: SentFacts,
  signal: AbortSignal | undefined,
) => RecordOutcome | Promise<RecordOutcome>;

/** What is known of a request of ours. */
export interface SentFacts extends RequestFacts {
  readonly operation: Operation;
  readonly method: string;
  readonly url: string;
  /** Method and URL: which of its operation's requests it is. */
  readonly name: string;
  readonly endpoint: string;
  readonly limitScope: string;
  readonly api: ApiProfile | undefined;
  /** The idempotency key that it came with. */
  readonly own: string | undefined;
  /** What a good answer must be. */
  readonly expect: Expected | undefined;
  /** Another client sends it, and makes its own error of a status. */
  readonly isRaw: boolean;
  /** It asks no server. */
  readonly isLocal: boolean;
  /** Known once it has been given its key. */
  keyed: boolean;
  /** Then: what it is one attempt of. */
  step?: Step | undefined;
  /** What it may do at the server, from when it is sent. */
  effect?: Effect | undefined;
}

/** What is done with a request that broke off while the page may be on its way out. */
export interface Outlive {
  readonly outlivePage: (call: Call, isWhole: boolean) => Promise<Response | undefined>;
  readonly askAgain: (
    call: Call,
    response: Response,
    isWhole: boolean,
  ) => Promise<Response | undefined>;
}

/** The way of a request back to whoever waits for it. */
export interface Progress {
  /** A part of it has moved: the limit to its headers starts anew. */
  readonly recordProgress: () => void;
}

/** What a client is given, which follows redirects by itself. */
export interface ClientInit extends RequestInit {
  /** The headers that may go to no other origin. */
  readonly credentialNames?: readonly string[] | undefined;
}

/** A client that sends the requests of an instance by a transport of its own, and makes its own errors. */
export interface Client {
  /** Sends a request, as `fetch` does, and can tell of its progress. */
  readonly transport: (
    input: RequestInfo | URL,
    init: RequestInit,
    progress: Progress,
  ) => Promise<Response>;
  /** Whether a rejection of its transport says that nothing was sent. */
  readonly isUnsent: (cause: unknown) => boolean;
  /** The body of an answer, which it keeps elsewhere than in the answer. */
  readonly readData: (init: RequestInit) => unknown;
  /** Makes what makes an error of ours one of this client. */
  readonly errorMaker: (init: RequestInit) => ErrorMaker;
}

/** What the fetch wrapper stands on. */
export interface FetchContext extends Environment, TimeLimitContext {
  readonly transport: Transport;
  /** Another client, where that sends by a transport of its own. */
  readonly client?: Client | undefined;
  /** Counts the requests of an instance, whatever sends them. */
  readonly nextRequest: () => number;
  readonly findApi: FindApi;
  readonly operations: Operations;
  /** Undefined where nobody watches the page. */
  readonly outlive?: Outlive | undefined;
  /** How answers tell a rate limit, where their API does not say it. */
  readonly rateLimit?: MadeBy<'rateLimitFields'> | undefined;
  /** The way out, past the admission of the origin. */
  readonly enter: Enter;
  /** The operation that the signal or the stack belongs to; else one for this request alone. */
  readonly operationFor: (signal: AbortSignal | undefined, request: string) => Operation;
}

/**
 * One request on its way, to the end of its body, and what is known of it. What is done with it are
 * functions of their own: a request that ends well, as nearly all do, then makes no closure that
 * only a failure needs.
 */
export interface Call extends EventListenerObject {
  readonly context: FetchContext;
  readonly facts: SentFacts;
  readonly input: RequestInfo | URL;
  /** As it is sent: with its key, where it has one, and its signal. */
  readonly init: RequestInit;
  /** The signal of whoever called. */
  readonly caller: AbortSignal | undefined;
  readonly signal: AbortSignal;
  readonly keyed: KeyedRequest | undefined;
  /** Counted over all requests of an instance. */
  readonly number: number;
  readonly limitMs: number;
  /** The longest silence within the body, where silences are limited. */
  readonly idleMs: number | undefined;
  /** That of its headers or, unless silences are limited, of all of it. */
  readonly limit: TimeLimit;
  /** A limit of ours, not the caller, aborted it. */
  isLate: boolean;
  readonly controller: AbortController;
  /** What waits for its answer or its body, and is told when it is stopped. */
  readonly waits: Set<(reason: unknown) => void>;
  /** Its limit is over. */
  readonly expire: () => void;
  /** Tells the attempt that it is part of that it has ended. */
  endRequest: (() => void) | undefined;
  /** Tells its origin how it ended: another once it was sent again. */
  recordOutcome: RecordOutcome;
}

/** Shared, and told by `this` whose they are: a closure for each call is what this file avoids. */
const methods: Pick<Call, 'expire' | 'handleEvent'> & ThisType<Call> = {
  expire() {
    this.isLate = true;
    stop(this, undefined);
  },
  /** The caller aborts. */
  handleEvent() {
    stop(this, this.caller?.reason);
  },
};

function stop(call: Call, reason: unknown): void {
  endCall(call);
  call.controller.abort(reason);
  const { signal, waits } = call;
  for (const reject of waits) reject(signal.reason);
  waits.clear();
}

/**
 * Settles as what was begun does, or rejects as soon as the call is stopped: also where a transport,
 * or its body, does not heed the signal. What comes too late is given to `discard`.
 */
export function untilStopped<T>(
  { signal, waits }: Call,
  begun: T | Promise<T>,
  discard?: (late: T) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else waits.add(reject);
    Promise.resolve(begun).then(
      (value) => (waits.delete(reject) ? resolve(value) : discard?.(value)),
      (error: unknown) => {
        waits.delete(reject);
        reject(error);
      },
    );
  });
}

/** What `deadlineHeader` brings: says how long the answer is waited for. */
export interface DeadlineCode {
  readonly by: 'deadlineHeader';
  /** Gives a request its header, when it goes out. */
  readonly stamp: (call: Call) => void;
}

/** Hands it to the transport. An answer that nobody waits for any more is let go of. */
export function transmit(call: Call): Promise<Response> {
  // Not as a method: a browser's fetch refuses any `this` but its window.
  const { transport, client } = call.context;
  codeOf<DeadlineCode>(call.facts.api?.deadline)?.stamp(call);
  const sending = client
    ? client.transport(call.input, call.init, progressOf(call))
    : transport(call.input, call.init);
  return untilStopped(call, sending, (late?: Partial<Response> | null) => {
    // It may be no answer at all.
    late?.body?.cancel?.().catch(() => {});
  });
}

/** Progress that comes when its limit was lifted starts none. */
const progressOf = (call: Call): Progress => ({
  recordProgress() {
    if (call.limit.dueAt < Infinity) setLimit(call, call.limit, call.limitMs);
  },
});

/** One timer at most, and one listener on the caller's signal, until `endCall`. */
export function startCall(
  given: Pick<
    Call,
    'context' | 'facts' | 'input' | 'caller' | 'keyed' | 'number' | 'recordOutcome' | 'endRequest'
  >,
  init: RequestInit,
  timeout: Timeout,
): Call {
  const { caller } = given;
  const { expire, handleEvent } = methods;
  const controller = new AbortController();
  const { signal } = controller;
  const isStream = typeof timeout === 'object';
  const limitMs = headersLimit(timeout);
  const call: Call = {
    ...given,
    expire,
    handleEvent,
    controller,
    waits: new Set(),
    init: { ...init, signal },
    signal,
    limitMs,
    idleMs: isStream ? timeout.bodyIdleMs : undefined,
    limit: noLimit(),
    isLate: false,
  };
  caller?.addEventListener('abort', call);
  setLimit(call, call.limit, limitMs);
  return call;
}

/** All of it is in, or nothing more is wanted. */
export function endCall(call: Call): void {
  setLimit(call, call.limit);
  call.caller?.removeEventListener('abort', call);
  call.endRequest?.();
  call.endRequest = undefined;
}

/** Tells listeners that it starts or, with an outcome, how it ended; then the origin, too. */
export function tell(call: Call, outcome?: Outcome, error?: unknown, response?: Response): void {
  const { context, facts, number: request } = call;
  const { operation, method, url, endpoint } = facts;
  if (outcome) call.recordOutcome(outcome, error, response);
  if (!context.emitter.isHeard()) return;
  const event = { request, method, url, endpoint };
  operation.emit(
    outcome ? { type: 'request:end', ...event, outcome } : { type: 'request:start', ...event },
  );
}

/** A request with its key, for one attempt. */
export interface KeyedRequest {
  /** With the key, and the bytes that belong to it. */
  readonly init: RequestInit;
  readonly step: Step;
  /** It goes out now. @throws NotSentError when its key is too old. */
  readonly start: (facts: SentFacts) => void;
  /** Whether this answer says that the first request with the key is still running. */
  readonly isInProgress: (response: Response) => boolean;
  /** What the API says of this failure, in its own way; undefined when it is none. */
  readonly interpret: (
    response: Response,
    failure: HttpFailure,
    facts: SentFacts,
    /** Of the attempt: it waits no longer than that for what the API's profile says. */
    signal: AbortSignal,
  ) => Promise<HttpFailure | undefined>;
  readonly succeed: () => void;
}
