import { discard } from '../../lib/discard.ts';
import { untilAborted } from '../../lib/timer.ts';
import type { Connectivity } from '../../connectivity/connectivity.ts';
import type { MadeBy } from '../../lib/input/made-by.ts';
import type { Transport } from '../../lib/clock.ts';
import type { Environment } from '../../operation/environment.ts';
import type { ErrorMaker, ForeignAnswer } from '../../operation/facts.ts';
import type { Operations } from '../../operation/operations.ts';
import type { Effect } from '../../operation/parts/effects.ts';
import type { TimeLimitContext } from '../../operation/time-limit.ts';
import type { Failure, Outcome } from '../../policy/outcome.ts';
import { cacheModeOf, checkFiles, isStream } from '../init.ts';
import { isQuiet } from './body/media-type.ts';
import type { RequestContext, SteadyRequest } from '../request.ts';
import { Exchange } from './exchange.ts';
import {
  bodyBytes,
  headersLimitOf,
  idleLimitOf,
  limitedOf,
  type Limited,
  longestLimitOf,
  measureText,
} from './limits/headers-limit.ts';
import type { Line, Lines } from './limits/line.ts';
import { type Progress, Silence } from './limits/silence.ts';
import type { Sending } from './sending.ts';

/** The init for a client that follows redirects by itself. */
export interface ClientInit extends RequestInit {
  /** The headers that must not be sent to another origin. */
  readonly credentialNames?: readonly string[] | undefined;
}

/** A client that sends the requests of an instance by a transport of its own, and makes its own errors. */
export interface Client {
  /** Sends a request, as `fetch` does, and can report its progress. */
  readonly transport: (
    input: RequestInfo | URL,
    init: RequestInit,
    progress: Progress,
  ) => Promise<Response>;
  /** Whether a rejection of its transport means that our own side did not send the request, or not all of it. */
  readonly isUnsent: (cause: unknown, init: RequestInit) => boolean;
  /** The body of an answer, which this client does not keep in the answer. */
  readonly readData: (init: RequestInit) => unknown;
  /** @returns the client's own error of a failed request; undefined if there is none. */
  readonly errorOf: (init: RequestInit) => unknown;
  /** Makes the function that turns an error of ours into one of this client. */
  readonly errorMaker: (init: RequestInit) => ErrorMaker;
}

/** The dependencies of an attempt. */
export interface FetchContext extends Environment, TimeLimitContext, RequestContext {
  readonly transport: Transport;
  /** Another client that sends by a transport of its own. */
  readonly client?: Client | undefined;
  /** Counts the requests of an instance, whatever sends them. */
  readonly nextRequest: () => number;
  readonly operations: Operations;
  /** Whether a lone write may belong to a plain mutation. */
  readonly mayBePlain: () => boolean;
  /** The requests that wait for a connection; undefined if connections are not limited. */
  readonly lines?: Lines | undefined;
  /** Undefined if the page is not watched. */
  readonly outlive?: Outlive | undefined;
  /** How answers tell a rate limit, unless their API's profile says otherwise. */
  readonly rateLimit?: MadeBy<'rateLimitFields'> | undefined;
  readonly connectivity: Pick<Connectivity, 'recordAnswer' | 'recordNoAnswer'>;
  /**
   * Grants a request its permit: at once if all is well, otherwise when its origin admits it.
   *
   * @throws NotSentError if it is not admitted; the caller's abort reason, or one of ours, if it is no longer wanted.
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
 * One attempt of a request, from its permit to the end of its body. Failures are handled by separate functions
 * (`failure.ts`), so that an attempt that succeeds, as nearly all do, allocates nothing for them.
 */
export class Attempt implements EventListenerObject {
  readonly context: FetchContext;
  readonly request: SteadyRequest;
  /** The init as it is sent. A transport may have members of its own in it. */
  init: RequestInit;
  /** Aborted when the caller aborts, or when its time limit is over. */
  readonly signal: AbortSignal;
  /** The failure of the app's own stream that is the body. */
  ownFailure: Failed | undefined;
  /** Undefined if it needs no server. */
  sending: Sending | undefined;
  /** The approximate size of its body. */
  bytes: number;
  /** Undefined if it waits for no connection. */
  line: Line | undefined;
  readonly silence: Silence;
  /** Our time limit has stopped it, not the caller. */
  isLate = false;
  /** The failure that its headers mean; undefined if they mean none. */
  failure: Failure | undefined;
  readonly #controller: AbortController = new AbortController();
  readonly #exchange: Exchange;
  readonly #limited: Limited;
  #number = 0;
  #bytesRead = 0;
  /** How many of its bodies, including clones, were not cancelled. */
  #bodies = 0;

  constructor(
    context: FetchContext,
    request: SteadyRequest,
    init: RequestInit,
    sending: Sending | undefined,
  ) {
    const { operation, passed } = request;
    const policy = operation.policyOf(request);
    this.context = context;
    this.request = request;
    this.signal = this.#controller.signal;
    this.sending = sending;
    const cache = cacheModeOf(request, init, operation.attempt > 1 || !!sending?.permit.isTrial);
    this.#exchange = new Exchange(this, init);
    const { signal } = this.#exchange;
    this.init = cache ? { ...init, signal, cache } : { ...init, signal };
    this.bytes = bodyBytes(passed, init);
    this.#limited = limitedOf(this);
    const headersMs = headersLimitOf(policy, this.bytes, this.#limited);
    const idleMs = idleLimitOf(policy, this.#limited);
    const stop = (): void => {
      const longestMs = longestLimitOf(policy, this.bytes);
      if (this.#isWaitedFor() && this.silence.extendHeaders(longestMs)) return;
      this.#exchange.keep();
      this.giveUp();
    };
    this.silence = new Silence(context, headersMs, idleMs, stop, operation.pauses);
    request.sendBy(this);
  }

  /** Whether it was sent. */
  get isOut(): boolean {
    return this.#number > 0;
  }
  /** Whether the caller has aborted it. */
  get isAborted(): boolean {
    return !!this.request.signal?.aborted;
  }
  /** The possible effect of the attempt at the server; undefined before it is sent. */
  get effect(): Effect | undefined {
    return this.sending?.effect;
  }

  /**
   * Whether it is a write that is waited for as long as possible: of a plain mutation, which React Query alone would send
   * once, and wait for; or not to be sent again, because that would undo a later write or do one twice.
   */
  #isWaitedFor(): boolean {
    const { context, request } = this;
    const { write, operation } = request;
    if (!write) return false;
    const mayBePlain =
      operation.isLone && (context.operations.hasOtherWrite(operation) || context.mayBePlain());
    return mayBePlain || write.obstacle() !== undefined;
  }

  /** Records that the origin has admitted the attempt once more. */
  grant(sending: Sending | undefined): void {
    this.sending = sending;
  }

  /** Replaces the headers that are sent. */
  setHeaders(headers: HeadersInit): void {
    this.init = { ...this.init, headers };
  }

  /** Sends it. An answer that comes after its end is discarded. */
  transmit(): Promise<Response> {
    const { context, request, silence } = this;
    // Not as a method: a browser's fetch refuses any `this` but its window.
    const { transport, client, emitter, clock } = context;
    silence.recordProgress();
    const answer = this.#exchange.takeLate();
    if (answer) {
      request.signal?.addEventListener('abort', this);
      return Promise.resolve(answer);
    }
    this.#readThrough();
    if (this.#number > 0) silence.awaitHeaders();
    else {
      this.#number = context.nextRequest();
      request.signal?.addEventListener('abort', this);
      const { lines } = context;
      const isProbe = !!this.sending?.permit.isTrial;
      if (!lines || request.isLocal) silence.awaitHeaders();
      else this.line = lines.join(request.url, silence, isProbe, this.#exchange.withdraw);
      this.#emit();
    }
    const { input, passed } = request;
    if (passed) void this.#measure(passed);
    const send = (): Promise<Response> =>
      client ? client.transport(input, this.init, silence) : transport(input, this.init);
    const { enter } = emitter;
    const begin = (): Promise<Response> => {
      this.sending?.send(clock.now());
      return enter ? enter(request.operation.ref.id, this.#number, send) : send();
    };
    const answering = checkFiles(passed, this.init)?.then(() => {
      if (this.signal.aborted) throw this.signal.reason;
      return begin();
    });
    return this.#exchange.await(answering ?? begin());
  }

  /** Called when its headers have arrived. */
  receiveHeaders(answer: Response): void {
    this.#exchange.receiveHeaders();
    const { init, request } = this;
    const headers = init.headers ?? request.passed?.headers;
    if (isQuiet(answer, { headers } as ForeignAnswer)) this.allowQuiet();
    this.silence.awaitNothing();
    this.line?.receiveHeaders(this.silence, answer);
  }

  /** Lets the body be silent for long, unless the app has set a limit for that. */
  allowQuiet(): void {
    const { operation } = this.request;
    if (typeof operation.policyOf(this.request).timeout !== 'object') this.silence.allowQuiet();
  }

  /** Records how many bytes of its body have arrived. A clone may read the same bytes again, which is no progress. */
  recordBytes(bytes: number): void {
    if (bytes <= this.#bytesRead) return;
    this.#bytesRead = bytes;
    this.silence.recordProgress();
  }

  /** Keeps the failure that its headers mean. */
  markFailed(failure: Failure | undefined): void {
    this.failure = failure;
  }

  /** Called when a body of it is handed out: its own, or that of a clone. */
  openBody(): void {
    this.#bodies++;
  }

  /** Called when a body of it is cancelled. After the last one, the attempt ends. */
  closeBody(): void {
    if (--this.#bodies === 0) this.end();
  }

  /** Settles as this read of a body does, or rejects after too long a silence. */
  async awaitBody<T>(begun: T | Promise<T>): Promise<T> {
    const { silence } = this;
    const endRequest = this.request.operation.attemptLimit?.beginRequest();
    if (silence.beginRead()) this.line?.hold(silence);
    try {
      return await untilAborted(this.signal, begun);
    } finally {
      silence.endRead();
      endRequest?.();
    }
  }

  /** Settles as a function of the app does that reads the answer, or rejects after the time limit for headers. */
  async awaitApp<T>(begun: Promise<T>, discardLate?: (late: T) => void): Promise<T> {
    this.silence.awaitHeaders();
    try {
      return await untilAborted(this.signal, begun, discardLate);
    } finally {
      this.silence.awaitNothing();
    }
  }

  /** Called when the caller aborts. */
  handleEvent(): void {
    this.stop(this.request.signal?.reason);
  }

  /** Called when its time limit is over. */
  giveUp(): void {
    this.isLate = true;
    this.stop(undefined);
  }

  /** Aborts it. Without a reason, its time limit is over. */
  stop(reason: unknown): void {
    this.end();
    this.#controller.abort(reason);
    this.#exchange.abort(reason);
  }

  /** Ends it: all of it has arrived, or nothing more is wanted. */
  end(): void {
    this.#release();
    this.request.end();
  }

  /** Ends it before its request is sent again, within the same attempt of the operation. */
  endForResend(outcome: Outcome, response: Response): void {
    this.recordOutcome(outcome, undefined, response);
    this.#release();
    discard(response);
  }

  /** Records how it has ended, and emits that. */
  recordOutcome(outcome: Outcome, error?: unknown, response?: Response): void {
    this.sending?.end(outcome, error, response);
    this.#emit(outcome);
  }

  #readThrough(): void {
    const { body } = this.init;
    // Another client has its own body.
    if (this.context.client || !isStream(body)) return;
    try {
      const through = readThrough(body, (failed) => void (this.ownFailure = failed));
      this.init = { ...this.init, body: through };
    } catch {
      // The body was read before, which fetch will say.
    }
  }

  /** Measures the text of a Request while it is sent, because the time limit grows with its size. */
  async #measure(passed: Request): Promise<void> {
    try {
      const bytes = await measureText(passed, this.init);
      if (bytes === undefined) return;
      this.bytes = bytes;
      const policy = this.request.operation.policyOf(this.request);
      this.silence.setHeadersLimit(headersLimitOf(policy, bytes, this.#limited));
    } catch {
      // The text was used, or the Request of a polyfill cannot be copied.
    }
  }

  #release(): void {
    this.silence.end();
    this.line?.end(this.silence);
    this.request.signal?.removeEventListener('abort', this);
  }

  #emit(outcome?: Outcome): void {
    // The answer of a late read is that of no request.
    if (!this.context.emitter.isHeard || this.#number === 0) return;
    const { operation, method, url, endpoint } = this.request;
    const event = { request: this.#number, method, url, endpoint };
    operation.emit(
      outcome ? { type: 'request:end', ...event, outcome } : { type: 'request:start', ...event },
    );
  }
}

/** The error of a stream. Boxed, because it may be any value. */
export interface Failed {
  readonly error: unknown;
}

/**
 * Wraps the app's own stream, because fetch does not tell whether that stream has failed.
 *
 * @throws TypeError if it was read before, as fetch does.
 */
function readThrough(stream: ReadableStream, onFail: (failed: Failed) => void): ReadableStream {
  const reader = (new Response(stream).body as ReadableStream).getReader();
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    try {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    } catch (error) {
      onFail({ error });
      throw error;
    }
  };
  const cancel = (reason: unknown): Promise<void> => reader.cancel(reason);
  return new ReadableStream({ pull, cancel });
}
