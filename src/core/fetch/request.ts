import { inDevelopment } from '../lib/development.ts';
import type { ErrorMaker, RequestFacts } from '../operation/facts.ts';
import type { Operation } from '../operation/operation.ts';
import type { Step, Steps } from '../operation/parts/submission.ts';
import { endedWithSession, type Live } from '../operation/parts/session.ts';
import type { Write } from '../operation/write-order.ts';
import type { Admission } from '../origin/admission.ts';
import { definePolicy, type Policy, type PolicyOptions } from '../policy/options.ts';
import { isIdempotentMethod, isSafeMethod } from '../policy/operation.ts';
import { type Api, checkExpect, type Expected, type FindApi, inspect } from './api.ts';
import { targetOf } from './endpoint.ts';
import {
  checkInit,
  isLocal,
  type JsonSteadyInit,
  keepReferrer,
  methodOf,
  readInit,
  requestOf,
  signalOf,
  type SteadyInit,
} from './init.ts';

/** The dependencies of reading a request. */
export interface RequestContext {
  readonly policy: Policy;
  readonly findApi: FindApi;
  /** The names of all `fresh` fields. */
  readonly freshFields: readonly string[];
  /** The operation of the signal or of the call on the stack; otherwise one for this request alone. */
  readonly operationFor: (signal: AbortSignal | undefined, request: string) => Operation;
  /** Another client that sends by a transport of its own. */
  readonly client?: { readonly errorMaker: (init: RequestInit) => ErrorMaker } | undefined;
}

/** The sender of a request: its attempt. */
interface Sender {
  /** True if the request was sent. */
  readonly isOut: boolean;
  stop(reason: unknown): void;
}

/** Two reads of one URL are told apart by so many characters of their bodies. */
const mostContent = 1000;

/** Whether its body tells a request from others of its URL, as all reads of a GraphQL server have one URL. */
const isRead = ({ ref, isLone }: Operation, isIdempotent: boolean | undefined): boolean =>
  ref.kind === 'query' || (ref.kind === 'call' && !isLone && !!isIdempotent);

/** A request that has asked for admission. */
export type EnteredRequest = SteadyRequest & { readonly admission: Admission };

/** One request, with the facts that are known before it is answered. */
export class SteadyRequest implements RequestFacts, Live {
  readonly operation: Operation;
  /** As passed. */
  readonly input: RequestInfo | URL;
  /** The same, if it is a Request. */
  readonly passed: Request | undefined;
  /** As passed, as a plain object of ours. */
  readonly init: SteadyInit;
  /** In upper case. */
  readonly method: string;
  /** As passed. */
  readonly url: string;
  /** Method and URL, which identify it among the requests of its operation. */
  readonly name: string;
  /** The signal of the caller. Replaced by an aborted one when the session ends. */
  signal: AbortSignal | undefined;
  /** The unit of health that it counts for. */
  readonly endpoint: string;
  /** The unit that fails by itself. */
  readonly resource: string;
  /** The scope of a Retry-After in its answer. */
  readonly limitScope: string;
  readonly api: Api | undefined;
  /** The idempotency key that it came with. */
  readonly ownKey: string | undefined;
  /** Declared to be idempotent, whatever its method. */
  readonly idempotent: boolean | undefined;
  /** The policy of the call. */
  readonly callPolicy: PolicyOptions | undefined;
  /** The content that a good answer must have. */
  readonly expect: Expected | undefined;
  /** Another client sends it, and makes its own error of a status. */
  readonly isRaw: boolean;
  /** True if the request needs no server. */
  readonly isLocal: boolean;
  /** Turns an error of ours into one of the client that sends it. */
  readonly toClientError: ErrorMaker | undefined;
  /** The policy of its API. */
  readonly apiPolicy: PolicyOptions | undefined;
  /** True if the request carries an idempotency key that its API is declared to honour. */
  keyed = false;
  /** Which request of its operation it is, once it has a key. */
  step: Step | undefined;
  /** All keyed requests of its operation. Kept here, because the operation forgets them at its end, and an answer may come later. */
  steps: Steps | undefined;
  /** The place of the request in the order of writes; undefined for a read. */
  write: Write | undefined;
  /** Where the request was sent, or waits. */
  admission: Admission | undefined;
  /** Set if the request had to wait: reads let it go first until this is called. */
  endWait: (() => void) | undefined;
  #endRequest: (() => void) | undefined;
  #sender: Sender | undefined;

  constructor(
    context: RequestContext,
    input: RequestInfo | URL,
    given: SteadyInit | undefined,
    isRaw: boolean,
  ) {
    const members: JsonSteadyInit = readInit('steady.fetch', given);
    const passed = requestOf(input);
    const signal = signalOf(passed, members);
    const init = keepReferrer(passed, members);
    const method = methodOf(passed, init);
    const url = passed?.url ?? `${input as string | URL}`;
    const name = `${method} ${url}`;
    const callPolicy =
      init.timeout === undefined ? init.policy : { ...init.policy, timeout: init.timeout };
    inDevelopment(() => check(context.policy, init, callPolicy, isRaw));
    const api = context.findApi(url);
    const { ownKey, idempotent } = inspect(api, { passed, init, method, url });
    // Two saves of one document have the same URL. Their bodies tell their retries apart.
    const body = typeof init.body === 'string' ? ` ${init.body}` : '';
    const lone = `${name} ${ownKey ?? init.idempotencyKey}${body}`;
    this.operation = context.operationFor(signal, lone);
    this.idempotent = init.idempotent ?? api?.idempotent ?? idempotent;
    const content = isRead(this.operation, this.idempotent) ? body.slice(0, mostContent) : '';
    const { endpoint, resource, limitScope } = targetOf(method, url, api, content);
    this.input = input;
    this.passed = passed;
    this.init = init;
    this.method = method;
    this.url = url;
    this.name = name;
    this.signal = signal;
    this.endpoint = endpoint;
    this.resource = resource;
    this.limitScope = limitScope;
    this.api = api;
    this.apiPolicy = api?.policy;
    this.ownKey = ownKey;
    this.callPolicy = callPolicy;
    this.expect = init.expect ?? api?.expect ?? members.defaultExpect;
    this.isRaw = isRaw;
    this.toClientError = context.client?.errorMaker(init);
    this.isLocal = isLocal(url, passed, init);
    this.#endRequest = this.operation.beginRequest(url);
  }

  /** Whether sending it twice does no harm. A query reads, whatever its method. */
  get isRepeatable(): boolean {
    const { keyed, idempotent, method, operation } = this;
    return keyed || !!idempotent || isIdempotentMethod(method) || operation.ref.kind === 'query';
  }
  /** 0 for a read, 1 for a write that may be sent twice, 2 for any other write. */
  get risk(): 0 | 1 | 2 {
    return isSafeMethod(this.method) ? 0 : this.isRepeatable ? 1 : 2;
  }
  /** Whether it belongs to no operation, and must not be sent twice. */
  get isLoneWrite(): boolean {
    return this.operation.isLone && this.risk === 2;
  }
  /** Whether it belongs to the first attempt of its operation. */
  get isNew(): boolean {
    return this.operation.attempt === 1;
  }
  /** Whether it may be answered on the device. */
  get mayBeOffline(): boolean | undefined {
    return this.operation.owner.mayBeOffline;
  }
  get isOnce(): boolean {
    return this.operation.isOnce;
  }

  /** Records where it asks for admission. */
  enter(admission: Admission): EnteredRequest {
    this.admission = admission;
    return this as EnteredRequest;
  }

  /** Sets its place in the order of writes. */
  setWrite(write: Write): void {
    this.write = write;
  }

  /** Records that it waits. Reads let it go first until `endWait` is called. */
  wait(endWait: () => void): void {
    this.endWait?.();
    this.endWait = endWait;
  }

  /** Records that it was given its key. */
  setStep(step: Step, steps: Steps): void {
    this.step = step;
    this.steps = steps;
    this.keyed = true;
  }

  /** Whether it was sent. */
  get isOut(): boolean {
    return !!this.#sender?.isOut;
  }

  /** Sets the attempt that sends it. */
  sendBy(sender: Sender): void {
    this.#sender = sender;
  }

  /** If its session is over, or its mutation is gone: aborts it, as its caller could. It is not sent any more. */
  endSession(): void {
    if (!this.operation.isLeft) return;
    const { operation, isOut } = this;
    const processed = operation.effects.isUnknown() ? 'unknown' : 'no';
    const ended = new AbortController();
    ended.abort(endedWithSession(operation, isOut, processed, this));
    // Before the signal changes, because the listener is removed from the caller's signal.
    this.#sender?.stop(ended.signal.reason);
    this.signal = ended.signal;
    operation.pauses.each('drop');
  }

  /** Tells the attempt of the operation that this request of it has ended. */
  end(): void {
    this.#endRequest?.();
    this.#endRequest = undefined;
    // Frees the attempt: the query keeps the operation, and that keeps the request.
    this.#sender = undefined;
  }
}

/** @throws TypeError when an option is not as it must be. */
function check(
  policy: Policy,
  init: SteadyInit,
  callPolicy: PolicyOptions | undefined,
  isRaw: boolean,
): void {
  if (!isRaw) checkInit(init);
  if (callPolicy) definePolicy('steady.fetch', policy, callPolicy);
  checkExpect('steady.fetch', init.expect);
}
