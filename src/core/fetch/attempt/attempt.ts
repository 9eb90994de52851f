import { discard } from '../../lib/discard.ts';
import type { Connectivity } from '../../connectivity/connectivity.ts';
import type { MadeBy } from '../../lib/input/made-by.ts';
import type { Transport } from '../../lib/clock.ts';
import type { Environment } from '../../operation/environment.ts';
import type { ErrorMaker } from '../../operation/facts.ts';
import type { Operations } from '../../operation/operations.ts';
import type { Effect } from '../../operation/parts/effects.ts';
import type { TimeLimitContext } from '../../operation/time-limit.ts';
import type { Failure, Outcome } from '../../policy/outcome.ts';
import type { ForeignAnswer } from '../../operation/facts.ts';
import { checkFiles, isStream, mayBeCached, requestOf } from '../init.ts';
import { isQuiet } from './body/media-type.ts';
import { type Failed, readThrough } from './body/own-stream.ts';
import type { RequestContext, SteadyRequest } from '../request.ts';
import type { Sending } from './sending.ts';
import { bodyBytes, headersLimitOf, type Limited, measureText } from './headers-limit.ts';
import type { Line, Lines } from './line.ts';
import { type Progress, Silence } from './silence.ts';

/** The init for a client, which follows redirects by itself. */
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
  /** Whether a rejection of its transport says that our own side did not send it, or not all of it. */
  readonly isUnsent: (cause: unknown, init: RequestInit) => boolean;
  /** The body of an answer, which it keeps elsewhere than in the answer. */
  readonly readData: (init: RequestInit) => unknown;
  /** Its own error of a request that has failed; undefined where it has none. */
  readonly errorOf: (init: RequestInit) => unknown;
  /** Makes what turns an error of ours into one of this client. */
  readonly errorMaker: (init: RequestInit) => ErrorMaker;
}

/** The dependencies of an attempt. */
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
  readonly admit: (request: SteadyRequest) => Sending | undefined | Promise<Sending>;
}

/** Handles requests that broke off while the page may be on its way out. */
export interface Outlive {
  readonly outlivePage: (attempt: Attempt, isWhole: boolean) => Promise<Response | undefined>;
  readonly resend: (
    attempt: Attempt,
    response: Response,
    isWhole: boolean,
  ) => Promise<Response | undefined>;
}

/**
 * One attempt of a request, from its permit to the end of its body. What is done when it fails is in functions of its
 * own: an attempt that ends well, as nearly all do, makes nothing for it.
 */
export class Attempt implements EventListenerObject {
  readonly context: FetchContext;
  readonly request: SteadyRequest;
  /** As it is sent. A transport may know its answer by members of its own. */
  init: RequestInit;
  /** Aborted when the caller aborts, or when its time limit is over. */
  readonly signal: AbortSignal;
  /** The app's own stream, which its body is read from, has failed. */
  ownFailure: Failed | undefined;
  /** Undefined where it asks no server. */
  sending: Sending | undefined;
  /** The size of its body, about. */
  bytes: number;
  /** Undefined where it waits for no other. */
  line: Line | undefined;
  readonly silence: Silence;
  /** A time limit of ours, not the caller, has stopped it. */
  isLate = false;
  /** The failure that its headers show; undefined if they show none. */
  failure: Failure | undefined;
  readonly #controller: AbortController = new AbortController();
  readonly #limited: Limited;
  #number = 0;
  #bytesRead = 0;
  /** Its bodies, clones too, that were not cancelled. */
  #bodies = 0;
  /** They wait for its answer or its body, and are rejected when it is stopped. */
  readonly #waits: ((reason: unknown) => void)[] = [];

  constructor(
    context: FetchContext,
    request: SteadyRequest,
    init: RequestInit,
    sending: Sending | undefined,
  ) {
    const { operation, input } = request;
    const policy = operation.policyOf(request);
    const { timeout } = policy;
    const { signal } = this.#controller;
    this.context = context;
    this.request = request;
    this.signal = signal;
    this.sending = sending;
    const isAgain = operation.attempt > 1 || !!sending?.permit.isTrial;
    // A failure may be in the browser's cache: a retry or a probe must leave the device.
    const mustLeave = isAgain && mayBeCached(request, init);
    this.init = mustLeave ? { ...init, signal, cache: 'no-cache' } : { ...init, signal };
    this.bytes = bodyBytes(input, init);
    const { permit, admission } = sending ?? {};
    // A probe of what may be gone altogether finds out soon whether it is back.
    const isSearching = permit?.isTrial && !admission?.origin.health.isBroken(request.endpoint);
    const { retriedFor } = operation.errors;
    this.#limited = {
      isRepeated: request.isRepeatable,
      timeouts: isSearching ? 0 : retriedFor.filter((reason) => reason === 'timeout').length,
      usualMs: admission?.origin.latency.usual.get(request.endpoint),
      factor: operation.given.timeoutFactor,
    };
    const headersMs = headersLimitOf(policy, this.bytes, this.#limited);
    const idleMs = typeof timeout === 'object' ? timeout.bodyIdleMs : timeout;
    const stop = (): void => {
      this.isLate = true;
      this.stop(undefined);
    };
    this.silence = new Silence(context, headersMs, idleMs, stop, operation.pauses);
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
  /** The effect that it may have at the server; undefined where nothing was sent. */
  get effect(): Effect | undefined {
    return this.sending?.effect;
  }

  /** Its origin lets it go once more. */
  grant(sending: Sending | undefined): void {
    this.sending = sending;
  }

  /** Changes what is sent: a header that says how long the answer is waited for. */
  setHeaders(headers: Headers): void {
    this.init = { ...this.init, headers };
  }

  /** It goes out. An answer that comes when it is over is let go of. */
  transmit(): Promise<Response> {
    const { context, request, silence } = this;
    // Not as a method: a browser's fetch refuses any `this` but its window.
    const { transport, client, emitter, clock } = context;
    silence.recordProgress();
    this.#readThrough();
    if (this.#number > 0) silence.awaitHeaders();
    else {
      this.#number = context.nextRequest();
      request.signal?.addEventListener('abort', this);
      const { lines } = context;
      const isProbe = !!this.sending?.permit.isTrial;
      if (!lines || request.isLocal) silence.awaitHeaders();
      else this.line = lines.join(request.url, silence, isProbe);
      this.#emit();
    }
    const { input } = request;
    const passed = requestOf(input);
    if (passed) void this.#measure(passed);
    const send = (): Promise<Response> =>
      client ? client.transport(input, this.init, silence) : transport(input, this.init);
    const { enter } = emitter;
    const begin = (): Promise<Response> => {
      this.sending?.send(clock.now());
      return enter ? enter(request.operation.ref.id, this.#number, send) : send();
    };
    const answering = checkFiles(input, this.init)?.then(() => {
      if (this.signal.aborted) throw this.signal.reason;
      return begin();
    });
    return this.untilStopped(answering ?? begin(), discard);
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

  /** Its headers have come. */
  receiveHeaders(answer: Response): void {
    const { init, request } = this;
    const headers = init.headers ?? requestOf(request.input)?.headers;
    if (isQuiet(answer, { headers } as ForeignAnswer)) this.allowQuiet();
    this.silence.awaitNothing();
    this.line?.receiveHeaders(this.silence, answer);
  }

  /** Its body is quiet by its nature, unless a limit of its own was given for silence in a body. */
  allowQuiet(): void {
    const { operation } = this.request;
    if (typeof operation.policyOf(this.request).timeout !== 'object') this.silence.allowQuiet();
  }

  /** So much of its body has come. A clone may read what came before: that is no sign of life. */
  recordBytes(bytes: number): void {
    if (bytes <= this.#bytesRead) return;
    this.#bytesRead = bytes;
    this.silence.recordProgress();
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

  /** Settles as this read of a body does, after too long a silence at the latest. */
  async awaitBody<T>(begun: T | Promise<T>): Promise<T> {
    const { silence } = this;
    const endRequest = this.request.operation.attemptLimit?.beginRequest();
    if (silence.beginRead()) this.line?.startBody(silence);
    try {
      return await this.untilStopped(begun);
    } finally {
      silence.endRead();
      endRequest?.();
    }
  }

  /** Settles as a function of the app does that is asked about the answer: after the time that headers may take at the latest. */
  async awaitApp<T>(begun: Promise<T>, discardLate?: (late: T) => void): Promise<T> {
    this.silence.awaitHeaders();
    try {
      return await this.untilStopped(begun, discardLate);
    } finally {
      this.silence.awaitNothing();
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
    this.recordOutcome(outcome, undefined, response);
    this.#release();
    discard(response);
  }

  /** Records how it has ended, and tells the listeners. */
  recordOutcome(outcome: Outcome, error?: unknown, response?: Response): void {
    this.sending?.end(outcome, error, response);
    this.#emit(outcome);
  }

  #readThrough(): void {
    const { body } = this.init;
    // Another client has its own.
    if (this.context.client || !isStream(body)) return;
    try {
      const through = readThrough(body, (failed) => void (this.ownFailure = failed));
      this.init = { ...this.init, body: through };
    } catch {
      // It was read before: fetch says so.
    }
  }

  /** The limit grows with a text that is found to be long, while it is on its way. */
  async #measure(passed: Request): Promise<void> {
    try {
      const bytes = await measureText(passed, this.init);
      if (bytes === undefined) return;
      this.bytes = bytes;
      const policy = this.request.operation.policyOf(this.request);
      this.silence.setHeadersLimit(headersLimitOf(policy, bytes, this.#limited));
    } catch {
      // It is gone, or that of a polyfill, which cannot be copied.
    }
  }

  #release(): void {
    this.silence.end();
    this.line?.end(this.silence);
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
