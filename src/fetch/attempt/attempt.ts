import { discard } from '../../lib/discard.ts';
import type { Connectivity } from '../../connectivity/connectivity.ts';
import type { MadeBy } from '../../lib/input/made-by.ts';
import type { Transport } from '../../lib/clock.ts';
import type { Environment } from '../../operation/environment.ts';
import type { ErrorMaker } from '../../operation/facts.ts';
import type { Operations } from '../../operation/operations.ts';
import type { Effect } from '../../operation/parts/effects.ts';
import { TimeLimit } from '../../lib/timer.ts';
import type { TimeLimitContext } from '../../operation/time-limit.ts';
import type { Admission } from '../../origin/admission.ts';
import type { Permit } from '../../origin/ask.ts';
import type { Failure, Outcome } from '../../policy/outcome.ts';
import { checkFiles, mayBeCached } from '../init.ts';
import type { RequestContext, SteadyRequest } from '../request.ts';
import { bodyBytes, headersLimitOf } from './headers-limit.ts';
import type { Line, Lines, Queued } from './line.ts';

/** Told of the progress of a request before its headers. */
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
  /** Makes what turns an error of ours into one of this client. */
  readonly errorMaker: (init: RequestInit) => ErrorMaker;
}

/** What an attempt needs of its instance. */
export interface FetchContext extends Environment, TimeLimitContext, RequestContext {
  readonly transport: Transport;
  /** Another client, where that sends by a transport of its own. */
  readonly client?: Client | undefined;
  /** Counts the requests of an instance, whatever sends them. */
  readonly nextRequest: () => number;
  readonly operations: Operations;
  /** Our requests that wait for each other; undefined where none does. */
  readonly lines?: Lines | undefined;
  /** Undefined where the page is not watched. */
  readonly outlive?: Outlive | undefined;
  /** How answers tell a rate limit, where their API does not say it. */
  readonly rateLimit?: MadeBy<'rateLimitFields'> | undefined;
  readonly connectivity: Pick<Connectivity, 'recordAnswer' | 'recordNoAnswer'>;
  /**
   * Gives a request its permit: at once when all is well, and otherwise when its origin lets it go.
   *
   * @throws NotSentError when it may not go; the caller's abort reason, or one of ours, when it is no longer wanted.
   */
  readonly admit: (request: SteadyRequest) => Sent | undefined | Promise<Sent>;
  /** Passes the outcome of an attempt on to its origin, the limits and the watch over the network. */
  readonly recordOutcome: (
    sent: Sent,
    outcome: Outcome,
    error?: unknown,
    response?: Response,
  ) => void;
}

/** What is done with a request that broke off while the page may be on its way out. */
export interface Outlive {
  readonly outlivePage: (attempt: Attempt, isWhole: boolean) => Promise<Response | undefined>;
  readonly askAgain: (
    attempt: Attempt,
    response: Response,
    isWhole: boolean,
  ) => Promise<Response | undefined>;
}

/** A request that was let go, until its outcome is known. */
export interface Sent {
  readonly request: SteadyRequest;
  readonly admission: Admission;
  readonly permit: Permit;
  readonly effect: Effect;
  /** In epoch milliseconds. */
  readonly sentAt: number;
}

/**
 * One sending of a request, from its permit to the end of its body. What is done when it fails is
 * in functions of its own: an attempt that ends well, as nearly all do, makes nothing for it.
 */
export class Attempt implements EventListenerObject, Queued, Progress {
  readonly context: FetchContext;
  readonly request: SteadyRequest;
  /** As it is sent. A transport may know its answer by members of its own. */
  init: RequestInit;
  /** Aborted when the caller aborts, or when its time limit is over. */
  readonly signal: AbortSignal;
  /** What it may do at the server; undefined where it asks none. */
  effect: Effect | undefined;
  /** The size of its body, about. */
  readonly bytes: number;
  /** Undefined where it waits for no other. */
  line: Line | undefined;
  /** How long its headers may take, in milliseconds. */
  readonly limitMs: number;
  /** The longest silence within its body, in milliseconds. */
  readonly idleMs: number;
  readonly limit: TimeLimit;
  /** A time limit of ours, not the caller, has stopped it. */
  isLate = false;
  /** What its headers show, where they show that it failed. */
  failure: Failure | undefined;
  readonly #controller: AbortController = new AbortController();
  #number = 0;
  #sent: Sent | undefined;
  /** The silence that is timed, in milliseconds, and since when. */
  #silenceMs = 0;
  #silentSince = 0;
  /** When it was handed to the transport, or a part of it has moved since. */
  #movedAt = 0;
  #bytesRead = 0;
  /** Its bodies, clones too, that were not cancelled, and the reads of them that are under way. */
  #bodies = 0;
  #reads = 0;
  /** They wait for its answer or its body, and are rejected when it is stopped. */
  readonly #waits: ((reason: unknown) => void)[] = [];

  constructor(
    context: FetchContext,
    request: SteadyRequest,
    init: RequestInit,
    sent: Sent | undefined,
  ) {
    const { operation, input } = request;
    const policy = operation.policyOf(request);
    const { timeout } = policy;
    const { signal } = this.#controller;
    this.context = context;
    this.request = request;
    this.signal = signal;
    const isAgain = operation.attempt > 1 || !!sent?.permit.isTrial;
    // A failure may be in the browser's cache: a retry or a probe must leave the device.
    const mustLeave = isAgain && mayBeCached(request, init);
    this.init = mustLeave ? { ...init, signal, cache: 'no-cache' } : { ...init, signal };
    this.limit = new TimeLimit(context, this, operation.pauses);
    this.bytes = bodyBytes(input, init);
    this.limitMs = headersLimitOf(policy, this.bytes, operation.given.timeoutFactor);
    this.idleMs = typeof timeout === 'object' ? timeout.bodyIdleMs : timeout;
    this.#sent = sent;
    this.effect = sent?.effect;
    request.sendBy(this);
  }

  /** It has gone. */
  get isOut(): boolean {
    return this.#number > 0;
  }
  /** The caller has aborted it. */
  get isAborted(): boolean {
    return !!this.request.signal?.aborted;
  }

  /** Its origin lets it go once more. */
  grant(sent: Sent | undefined): void {
    this.#sent = sent;
    this.effect = sent?.effect;
  }

  /** Changes what is sent: a header that says how long the answer is waited for. */
  setHeaders(headers: Headers): void {
    this.init = { ...this.init, headers };
  }

  /** It goes out. An answer that comes when it is over is let go of. */
  transmit(): Promise<Response> {
    const { context, request } = this;
    // Not as a method: a browser's fetch refuses any `this` but its window.
    const { transport, client, emitter } = context;
    this.recordProgress();
    if (this.#number > 0) this.startLimit();
    else {
      this.#number = context.nextRequest();
      request.signal?.addEventListener('abort', this);
      const { lines } = context;
      const isProbe = !!this.#sent?.permit.isTrial;
      if (!lines || request.isLocal) this.startLimit();
      else this.line = lines.join(request.url, this, isProbe);
      this.#emit();
    }
    const { input } = request;
    const send = (): Promise<Response> =>
      client ? client.transport(input, this.init, this) : transport(input, this.init);
    const { enter } = emitter;
    const begin = (): Promise<Response> =>
      enter ? enter(request.operation.ref.id, this.#number, send) : send();
    const sending = checkFiles(input, this.init)?.then(() => {
      if (this.signal.aborted) throw this.signal.reason;
      return begin();
    });
    return this.untilStopped(sending ?? begin(), discard);
  }

  /**
   * Settles as what was begun does, or rejects as soon as the attempt is stopped: also where a transport,
   * or its body, does not heed the signal. A value that comes too late is given to `discardLate`.
   */
  untilStopped<T>(begun: T | Promise<T>, discardLate?: (late: T) => void): Promise<T> {
    const waits = this.#waits;
    const { signal } = this;
    return new Promise((resolve, reject) => {
      // One, as a rule.
      const isOver = (): boolean => {
        const at = waits.indexOf(reject);
        if (at >= 0) waits.splice(at, 1);
        return at < 0;
      };
      if (signal.aborted) reject(signal.reason);
      else waits.push(reject);
      Promise.resolve(begun).then(
        (value) => (isOver() ? discardLate?.(value) : resolve(value)),
        (error: unknown) => {
          isOver();
          reject(error);
        },
      );
    });
  }

  /** Its time limit begins, or begins anew. */
  startLimit(): void {
    this.#limitSilence(this.limitMs);
  }

  limitSinceSent(): void {
    this.#limitSilence(this.limitMs, this.#movedAt);
  }

  /** A part of it has moved: the silence begins anew. One timer serves them all. */
  recordProgress(): void {
    this.#silentSince = this.#movedAt = this.context.clock.now();
  }

  /** So much of its body has come. A clone may read what came before: that is no sign of life. */
  recordBytes(bytes: number): void {
    if (bytes <= this.#bytesRead) return;
    this.#bytesRead = bytes;
    this.recordProgress();
  }

  /** A body before it has taken its connection: it waits. */
  liftLimit(): void {
    this.limit.stop();
  }

  /** Its time limit is over, unless a part has moved since that began. */
  expire(): void {
    const leftMs = this.#silentSince + this.#silenceMs - this.context.clock.now();
    if (leftMs > 0) return this.limit.restart(leftMs);
    this.isLate = true;
    this.stop(undefined);
  }

  /** Keeps what its headers show, where they show that it failed. */
  markFailed(failure: Failure | undefined): void {
    this.failure = failure;
  }

  /** A body of it is handed out: its own, or that of a clone. */
  openBody(): void {
    this.#bodies++;
  }

  /** A body of it is cancelled: after the last one nothing more is wanted. */
  closeBody(): void {
    if (--this.#bodies === 0) this.end();
  }

  /** Nobody reads its body, and somebody should. */
  limitUnread(): void {
    this.#limitSilence(this.idleMs);
  }

  /** Settles as this read of a body does, after too long a silence at the latest. */
  async awaitBody<T>(begun: T | Promise<T>): Promise<T> {
    const endRequest = this.request.operation.attemptLimit?.beginRequest();
    if (this.#reads++ === 0) {
      this.line?.startBody(this);
      this.#limitSilence(this.idleMs);
    }
    try {
      return await this.untilStopped(begun);
    } finally {
      if (--this.#reads === 0) this.limit.stop();
      endRequest?.();
    }
  }

  /** The caller aborts. */
  handleEvent(): void {
    this.stop(this.request.signal?.reason);
  }

  /** It is broken off; without a reason, by its time limit. */
  stop(reason: unknown): void {
    this.end();
    this.#controller.abort(reason);
    for (const reject of this.#waits.splice(0)) reject(this.signal.reason);
  }

  /** All of it is in, or nothing more is wanted. */
  end(): void {
    this.#release();
    this.request.end();
  }

  /** It has ended, and its request is sent again: for the attempt of the operation, that goes on. */
  endForResend(outcome: Outcome, response: Response): void {
    this.emitEnd(outcome, undefined, response);
    this.#release();
    discard(response);
  }

  /** Tells its origin how it has ended, at its headers; only the first outcome counts until it is let go again. */
  recordOutcome(outcome: Outcome, error?: unknown, response?: Response): void {
    const sent = this.#sent;
    this.#sent = undefined;
    if (sent) this.context.recordOutcome(sent, outcome, error, response);
  }

  /** Tells its origin, and then the listeners, how it has ended. */
  emitEnd(outcome: Outcome, error?: unknown, response?: Response): void {
    this.recordOutcome(outcome, error, response);
    this.#emit(outcome);
  }

  #limitSilence(limitMs: number, sinceMs: number = this.context.clock.now()): void {
    this.#silenceMs = limitMs;
    this.#silentSince = sinceMs;
    this.limit.restart(Math.max(0, sinceMs + limitMs - this.context.clock.now()));
  }

  #release(): void {
    this.limit.stop();
    this.line?.end(this);
    this.request.signal?.removeEventListener('abort', this);
  }

  #emit(outcome?: Outcome): void {
    if (!this.context.emitter.isHeard) return;
    const { operation, method, url, endpoint } = this.request;
    const event = { request: this.#number, method, url, endpoint };
    operation.emit(
      outcome ? { type: 'request:end', ...event, outcome } : { type: 'request:start', ...event },
    );
  }
}
