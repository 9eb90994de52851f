import { isSteadfetchError, isTimeoutError } from '../operation/errors.ts';
import { reportFailure, reportOf } from '../operation/error-info.ts';
import type { SteadyInit } from '../fetch/init.ts';
import { firstOf } from '../lib/abort.ts';
import { reject } from '../lib/input/check.ts';
import type { Transport } from '../lib/clock.ts';
import { type Instance, instanceOfSteady } from '../react-query/instance.ts';
import type { Steadfetch } from '../react-query/steadfetch.ts';
import { type AxiosHeaderBag, changeHeaders, listHeaders, toResponse } from './convert.ts';

/** What is needed of axios itself, of any version from 0.27 on: its defaults and its errors. */
export interface AxiosStaticLike {
  readonly defaults: object;
  /** An instance of `axios.create` does not have it. */
  readonly CancelToken: unknown;
}

/** An adapter as axios takes it, of any version. */
export type SteadyAxiosAdapter = (config: object) => Promise<never>;

/** The config of a request as axios hands it to its adapter: what is read of it. */
interface Config {
  readonly method?: string | undefined;
  readonly data?: unknown;
  readonly headers?: AxiosHeaderBag | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly cancelToken?: CancelToken | undefined;
  readonly timeout?: number | undefined;
  readonly transitional?: { readonly clarifyTimeoutError?: boolean } | undefined;
}

interface CancelToken {
  readonly reason?: unknown;
  readonly subscribe: (listener: () => void) => void;
  readonly unsubscribe: (listener: () => void) => void;
}

/** What axios' own adapter resolves with, or what its errors carry. */
interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: AxiosHeaderBag;
  readonly data?: unknown;
  config: object;
}

interface Axios {
  readonly defaults: { readonly adapter?: unknown };
  readonly getUri: (config: object) => string;
  readonly getAdapter?: (adapter: unknown, config: object) => InnerAdapter;
  readonly AxiosError: new (message: string, code: string, config: object) => Error;
  readonly CanceledError: new (message: undefined, config: object) => Error;
}

type InnerAdapter = (config: object) => Promise<Answer>;

/** A request on its way through axios' own adapter. */
interface Sent {
  readonly config: Config;
  readonly inner: InnerAdapter;
  /** As it was given to us: where it comes back as another, a key has fixed its bytes. */
  readonly body: BodyInit | null;
  readonly headers: Headers;
  answer?: Answer;
  /** Boxed, for it may be any value. */
  failed?: { readonly error: AxiosFailure } | undefined;
}

type AxiosFailure = Error & {
  readonly code?: string;
  readonly response?: Answer;
  config?: object;
};

interface AxiosInit extends SteadyInit {
  readonly sent: Sent;
}

/** The adapters that this has made, with what they stand on: one within another would send twice. */
const inners = new WeakMap<object, unknown>();

/** What axios says of a request that it has not sent. */
const unsent =
  /^ERR_(?:BAD_OPTION|BAD_OPTION_VALUE|BAD_REQUEST|NOT_SUPPORT|INVALID_URL|FORM_DATA_TOO_DEEP)$/;

/**
 * An adapter for axios: every request passes the admission of its origin, and is paused while that is
 * down, rate-limited or offline. It gets its idempotency key and its time limit, its outcome is known to
 * the policy, and events tell of it. axios' own adapter sends it, so everything else is as axios
 * documents it: interceptors, transforms, `validateStatus`, progress, cancelling. A failure is an
 * AxiosError as ever.
 *
 * A `timeout` of axios' own takes the place of the policy's. Pass React Query's `signal`: by it the
 * request belongs to its query. Where axios is mocked by a default adapter of its own, that sends.
 *
 * @param axios - axios itself, not an instance: what sends is its default adapter of this moment.
 * @throws TypeError when one of them is not what it must be.
 *
 * @example
 * ```ts
 * import axios from 'axios';
 * import { createSteadfetch } from 'steadfetch';
 * import { steadyAdapter } from 'steadfetch/axios';
 *
 * const steady = createSteadfetch();
 * export const api = axios.create({ baseURL: '/api', adapter: steadyAdapter(steady, axios) });
 * ```
 */
export function steadyAdapter(steady: Steadfetch, axios: AxiosStaticLike): SteadyAxiosAdapter {
  const instance = instanceOfSteady(steady, 'steadyAdapter');
  const client = axios as AxiosStaticLike & Axios;
  if (typeof client?.AxiosError !== 'function')
    reject('steadyAdapter', 'its second argument', axios, 'axios itself, from version 0.27 on');
  let own: unknown = client.defaults.adapter;
  while (typeof own === 'function' && inners.has(own)) own = inners.get(own);
  // In 0.x it is a function.
  const innerOf = (config: object): InnerAdapter =>
    client.getAdapter ? client.getAdapter(own, config) : (own as InnerAdapter);
  const fetch = instance.fetchBy({
    transport: transmit as Transport,
    readData: (init) => (init as AxiosInit).sent.answer?.data,
    isUnsent: (cause) => unsent.test(`${(cause as AxiosFailure | undefined)?.code}`),
  });

  const adapter = async (given: object): Promise<Answer> => {
    const config: Config = given;
    const { method = 'get', timeout = 0 } = config;
    const body = /^(get|head)$/i.test(method) ? null : bodyOf(config.data);
    const headers = listHeaders(config.headers);
    const sent: Sent = { config, inner: innerOf(config), body, headers };
    const { signal, release } = signalOf(instance, config);
    const init: AxiosInit & { readonly duplex: 'half' } = {
      method,
      headers,
      body,
      duplex: 'half',
      ...(signal && { signal }),
      // axios has its own way with a limit of its own.
      timeout: timeout > 0 ? Infinity : undefined,
      sent,
    };
    try {
      const response = await fetch(client.getUri(config), init);
      // All of it has come.
      await response.arrayBuffer();
      return ended(sent, response);
    } catch (error) {
      throw ended(sent, error, client);
    } finally {
      release();
    }
  };
  inners.set(adapter, own);
  return adapter as SteadyAxiosAdapter;
}

/** Sends by axios' own adapter. The answer is one for the policy to read: axios has its own. */
async function transmit(_url: string, init: AxiosInit): Promise<Response> {
  const { sent, body, signal } = init;
  const { config } = sent;
  // Of a first time, whose 401 has brought new credentials.
  sent.failed = undefined;
  const isFixed = body !== sent.body;
  const headers = changeHeaders(config.headers, sent.headers, new Headers(init.headers));
  if (isFixed && body instanceof Blob && body.type) headers.set('content-type', body.type);
  try {
    sent.answer = await sent.inner({
      ...config,
      headers: headers.bag,
      signal,
      cancelToken: undefined,
      ...(isFixed && { data: body }),
    });
    return toResponse(sent.answer);
  } catch (error) {
    sent.failed = { error: error as AxiosFailure };
    const { response } = sent.failed.error;
    if (response) return toResponse(response);
    throw error;
  }
}

/** What axios is given in the end: an answer of its own, or an error of its own, with all that is known. */
function ended(sent: Sent, response: Response): Answer;
function ended(sent: Sent, error: unknown, client: Axios): unknown;
function ended(sent: Sent, result: unknown, client?: Axios): unknown {
  const { config, answer, failed } = sent;
  // A request is often made again of the config that its error or answer names.
  if (answer) answer.config = config;
  if (failed?.error.config) failed.error.config = config;
  if (failed?.error.response) failed.error.response.config = config;
  if (!client) {
    if (!failed) return answer;
    copyFacts(result, failed.error);
    throw failed.error;
  }
  // Thrown as it is above.
  if (failed && result === failed.error) return result;
  const error = toAxiosError(sent, result, client);
  if (error !== result) copyFacts(result, error);
  return error;
}

function toAxiosError({ config, failed }: Sent, error: unknown, client: Axios): unknown {
  const { signal, cancelToken, transitional } = config;
  if (cancelToken?.reason) return cancelToken.reason;
  if (signal?.aborted) return new client.CanceledError(undefined, config);
  // A file that cannot be read has a message of ours.
  const isRefused =
    !!failed && (error as Error | undefined)?.cause === failed.error && !isSteadfetchError(error);
  if (!isRefused && !isSteadfetchError(error)) return error;
  const isLate = isTimeoutError(error);
  if (failed && !isLate && !isRefused) return failed.error;
  const lateCode = transitional?.clarifyTimeoutError ? 'ETIMEDOUT' : 'ECONNABORTED';
  const made = new client.AxiosError(
    (error as Error).message,
    isLate ? lateCode : 'ERR_NETWORK',
    config,
  );
  return Object.assign(made, { cause: error });
}

/** The policy knows an error of axios as it knows what that is made of. */
function copyFacts(from: unknown, to: unknown): void {
  // The reason of an abort may be a text, which says nothing.
  if (Object(from) !== from) return;
  const { latest: _, queue: __, decision: ___, ...known } = reportOf(from, 0);
  const own = reportOf(to, 0).failure;
  // A time limit of axios' own is no time limit of ours.
  reportFailure(to, own.kind === 'timeout' ? { ...known, failure: own } : known);
}

/** The body as fetch knows bodies. What it does not know, such as a stream of Node, can be sent once. */
function bodyOf(data: unknown): BodyInit | null {
  if (data === undefined || data === null) return null;
  if (typeof data === 'string') return data;
  const isKnown =
    typeof data !== 'object' ||
    ArrayBuffer.isView(data) ||
    /\[object (?:FormData|URLSearchParams|Blob|File|ArrayBuffer|ReadableStream)\]/.test(
      Object.prototype.toString.call(data),
    );
  return isKnown ? (data as BodyInit) : new ReadableStream();
}

/** The signal of a request, and what lets go of it: a CancelToken is one, too. */
function signalOf(
  { signals }: Instance,
  { signal: given, cancelToken }: Config,
): { readonly signal: AbortSignal | undefined; readonly release: () => void } {
  const signal = typeof given?.addEventListener === 'function' ? given : undefined;
  if (!cancelToken) return { signal, release: () => {} };
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  cancelToken.subscribe(abort);
  const both = signal ? firstOf([signal, controller.signal]) : controller.signal;
  const operation = signal && signals.get(signal);
  if (operation) signals.set(both, operation);
  return { signal: both, release: () => cancelToken.unsubscribe(abort) };
}
