import { inDevelopment } from '../lib/development.ts';
import type { ErrorMaker, RequestFacts } from '../operation/facts.ts';
import type { Operation } from '../operation/operation.ts';
import type { Step, Steps } from '../operation/parts/submission.ts';
import { endedWithSession, type Live } from '../operation/parts/session.ts';
import type { Write } from '../operation/write-order.ts';
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
  /** The names of all fields that are used up by one request. */
  readonly freshFields: readonly string[];
  /** The operation that the signal or the stack belongs to; else one for this request alone. */
  readonly operationFor: (signal: AbortSignal | undefined, request: string) => Operation;
  /** Another client, where that sends by a transport of its own. */
  readonly client?: { readonly errorMaker: (init: RequestInit) => ErrorMaker } | undefined;
}

/** The sender of a request: its attempt. */
interface Sender {
  /** The request has gone. */
  readonly isOut: boolean;
  stop(reason: unknown): void;
}

/** One request that the app wants sent: what is known of it before it is answered. */
export class SteadyRequest implements RequestFacts, Live {
  readonly operation: Operation;
  /** As passed. */
  readonly input: RequestInfo | URL;
  /** As passed, as a plain object of ours. */
  readonly init: SteadyInit;
  /** In upper case. */
  readonly method: string;
  /** As passed. */
  readonly url: string;
  /** Method and URL: which of its operation's requests it is. */
  readonly name: string;
  /** The signal of the caller; one that is aborted, once the session of the request has ended. */
  signal: AbortSignal | undefined;
  /** The unit of health that it counts for. */
  readonly endpoint: string;
  /** The unit that fails by itself. */
  readonly resource: string;
  /** The requests that a Retry-After of its answer speaks for. */
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
  /** It asks no server. */
  readonly isLocal: boolean;
  /** Makes an error of ours one of the client that sends it. */
  readonly toClientError: ErrorMaker | undefined;
  /** The policy of its API. */
  readonly apiPolicy: PolicyOptions | undefined;
  /** It carries an idempotency key that its API is declared to honour. */
  keyed = false;
  /** Which request of its operation it is, once it has a key. */
  step: Step | undefined;
  /** All keyed requests of its operation. An answer may come when that has ended, which forgets them. */
  steps: Steps | undefined;
  /** Its place among the writes; undefined where it only reads. */
  write: Write | undefined;
  /** It had to wait, and reads let it go first until this is called. */
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
    const signal = signalOf(input, members);
    const init = keepReferrer(passed, members);
    const method = methodOf(input, init);
    const url = passed?.url ?? `${input as string | URL}`;
    const name = `${method} ${url}`;
    const callPolicy =
      init.timeout === undefined ? init.policy : { ...init.policy, timeout: init.timeout };
    inDevelopment(() => check(context.policy, init, callPolicy, isRaw));
    const api = context.findApi(url);
    const { ownKey, idempotent } = inspect(api, { input, init, method, url });
    const { endpoint, resource, limitScope } = targetOf(method, url, api);
    // Two saves of one document have one URL: their bodies tell their retries apart.
    const body = typeof init.body === 'string' ? ` ${init.body}` : '';
    const lone = `${name} ${ownKey ?? init.idempotencyKey}${body}`;
    this.operation = context.operationFor(signal, lone);
    this.input = input;
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
    this.idempotent = init.idempotent ?? api?.idempotent ?? idempotent;
    this.callPolicy = callPolicy;
    this.expect = init.expect ?? api?.expect ?? members.defaultExpect;
    this.isRaw = isRaw;
    this.toClientError = context.client?.errorMaker(init);
    this.isLocal = isLocal(url, input, init);
    this.#endRequest = this.operation.attemptLimit?.beginRequest();
  }

  /** Sending it twice does no harm. A query reads, whatever its method. */
  get isRepeatable(): boolean {
    const { keyed, idempotent, method, operation } = this;
    return keyed || !!idempotent || isIdempotentMethod(method) || operation.ref.kind === 'query';
  }
  /** 0: it only reads. 1: it may be sent twice. 2: neither. */
  get risk(): 0 | 1 | 2 {
    return isSafeMethod(this.method) ? 0 : this.isRepeatable ? 1 : 2;
  }
  /** It belongs to no operation, and must not be done twice. */
  get isLoneWrite(): boolean {
    return this.operation.isLone && this.risk === 2;
  }
  /** It belongs to the first attempt of its operation. */
  get isNew(): boolean {
    return this.operation.attempt === 1;
  }
  /** It need not leave the device. */
  get mayBeOffline(): boolean | undefined {
    return this.operation.owner.mayBeOffline;
  }
  get isOnce(): boolean {
    return this.operation.isOnce;
  }

  /** It has its place among the writes. */
  setWrite(write: Write): void {
    this.write = write;
  }

  /** It waits: reads let it go first until `endWait` is called. */
  wait(endWait: () => void): void {
    this.endWait?.();
    this.endWait = endWait;
  }

  /** It has been given its key. */
  setStep(step: Step, steps: Steps): void {
    this.step = step;
    this.steps = steps;
    this.keyed = true;
  }

  /** It has gone. */
  get isOut(): boolean {
    return !!this.#sender?.isOut;
  }

  /** It is sent by this from now on. */
  sendBy(sender: Sender): void {
    this.#sender = sender;
  }

  /** Where its operation is left, it is not sent any more, or broken off, as by an abort of its caller. */
  endSession(): void {
    if (!this.operation.isLeft) return;
    const { operation, isOut } = this;
    const processed = operation.effects.isUnknown() ? 'unknown' : 'no';
    const ended = new AbortController();
    ended.abort(endedWithSession(operation, isOut, processed, this));
    // While it has the signal of the caller, whose listener is removed.
    this.#sender?.stop(ended.signal.reason);
    this.signal = ended.signal;
    operation.pauses.each('drop');
  }

  /** Tells the attempt of the operation that this request of it has ended. */
  end(): void {
    this.#endRequest?.();
    this.#endRequest = undefined;
    // Its operation keeps the request, and its query the operation.
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
