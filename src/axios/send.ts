import {
  isSteadfetchError,
  isTimeoutError,
  type Client,
  type ClientInit,
  type Progress,
  type SteadyInit,
} from '../core/internal.ts';
import { originOf } from '../core/lib/input/url.ts';
import { firstOf } from '../core/lib/abort.ts';
import {
  answerTo,
  isNodeStream,
  isWebStream,
  type NodeStream,
  readData,
  toResponse,
} from './answer.ts';
import { forSending } from './body.ts';
import { copyFacts, toAxiosError } from './errors.ts';
import { changeHeaders } from './headers.ts';
import { isSimple, watchProgress } from './progress.ts';
import type { Answer, Axios, AxiosFailure, Config, InnerAdapter } from './types.ts';
import type { Target } from './url.ts';

/** A request on its way through axios's own adapter. */
export interface Sent {
  /** The config that axios passed, which errors and answers must name. */
  readonly given: Config;
  readonly target: Target;
  readonly inner: InnerAdapter;
  /** The known adapter that sends it. Only for these is it safe to listen to progress. */
  readonly sender: 'xhr' | 'http' | undefined;
  /** The body that was passed. If a different one is sent, a key has fixed its bytes. */
  readonly body: BodyInit | null;
  readonly headers: Headers;
  /** The caller's signal and CancelToken, combined. */
  readonly caller: AbortSignal | undefined;
  /** Whether the policy, not axios, limits its time. */
  readonly isLimited: boolean;
  answer?: Answer | undefined;
  /** Boxed, because it may be any value. */
  failed?: { readonly error: AxiosFailure } | undefined;
}

export interface AxiosInit extends SteadyInit, Pick<ClientInit, 'credentialNames'> {
  readonly sent: Sent;
}

/** axios's codes of a request that it did not send, or not to its end: the last where the app has closed its stream. */
const unsent =
  /^ERR_(?:BAD_OPTION|BAD_OPTION_VALUE|BAD_REQUEST|NOT_SUPPORT|INVALID_URL|FR_MAX_BODY_LENGTH_EXCEEDED|CANCELED)$/;

/** A Node stream of the app's has failed. One that is piped does not fail with its receiver. */
const isErrored = (data: unknown): boolean => isNodeStream(data) && !!data.errored;

const answerOf = ({ answer, failed }: Sent): Answer | undefined => answer ?? failed?.error.response;

/** Sends the requests of an instance with axios. */
export function clientOf(axios: Axios): Client {
  return {
    transport: (_, init, progress) => transmit(init as AxiosInit, progress),
    isUnsent: (cause, init) =>
      unsent.test(`${(cause as AxiosFailure | undefined)?.code}`) ||
      isErrored((init as AxiosInit).sent.given.data),
    readData: (init) => readData(answerOf((init as AxiosInit).sent)),
    errorOf: (init) => (init as AxiosInit).sent.failed?.error,
    errorMaker(init) {
      const { given } = (init as AxiosInit).sent;
      return (error) => toAxiosError(axios, given, error);
    },
  };
}

/** Sends with axios's own adapter. The returned Response is only for the policy: the app gets axios's own. */
async function transmit(init: AxiosInit, progress: Progress): Promise<Response> {
  const { sent, body } = init;
  const { url, config } = sent.target;
  const signal = init.signal as AbortSignal;
  // The answer to the first send, if new credentials followed its 401.
  discard(answerOf(sent));
  sent.answer = undefined;
  sent.failed = undefined;
  const isFixed = body !== sent.body;
  const headers = changeHeaders(config.headers, sent.headers, new Headers(init.headers));
  if (isFixed && body instanceof Blob && body.type) headers.set('content-type', body.type);
  try {
    sent.answer = await sent.inner({
      ...config,
      ...watched(sent, progress),
      headers: headers.bag,
      beforeRedirect: keepHeaders(config, url, init.credentialNames),
      // The app reads a stream after the request has ended, and may still abort it.
      signal: isStreamed(config) && sent.caller ? firstOf([signal, sent.caller]) : signal,
      cancelToken: undefined,
      ...(isFixed && { data: await forSending(body) }),
    });
    return toResponse(sent.answer, url);
  } catch (error) {
    sent.failed = { error: error as AxiosFailure };
    const answer = answerTo(sent.failed.error);
    if (answer) return toResponse(answer, url, sent.failed.error);
    throw error;
  }
}

const isStreamed = ({ responseType }: Config): boolean => responseType === 'stream';

/** Drops credentials when Node follows a redirect to another origin. */
function keepHeaders(
  { beforeRedirect }: Config,
  url: string,
  names: readonly string[] = [],
): Config['beforeRedirect'] {
  if (names.length === 0) return beforeRedirect;
  return (options, ...others) => {
    if (originOf(`${options.href}`) !== originOf(url))
      for (const name of Object.keys(options.headers ?? {}))
        if (names.includes(name.toLowerCase())) Reflect.deleteProperty(options.headers ?? {}, name);
    beforeRedirect?.(options, ...others);
  };
}

/** The app never gets this stream, which would keep its connection. */
function discard(answer: Answer | undefined): void {
  if (isNodeStream(answer?.data)) answer.data.destroy();
}

/**
 * Adds progress listeners if the policy limits the time and they change nothing else: a listener on an upload
 * to another origin causes a CORS preflight.
 */
function watched({ isLimited, sender, given, target, headers }: Sent, progress: Progress): Config {
  if (!isLimited) return {};
  const { method = 'get' } = given;
  const isHarmless = sender === 'http' || !isSimple(method, target.url, headers);
  const added = { upload: !!sender && isHarmless, download: !!sender && !isStreamed(given) };
  return watchProgress(given, () => progress.recordProgress(), added);
}

/** A Node stream that is still to be read. */
export interface OpenStream {
  readonly stream: NodeStream;
  readonly sender: Answer['request'];
  readonly caller: AbortSignal | undefined;
}

/** The response for the app. Its body may be a stream that the app will read. */
export async function finish(
  sent: Sent,
  response: Response,
  onStream: (stream: OpenStream | undefined) => void,
): Promise<Answer> {
  const answer = nameConfig(sent);
  const data = answer?.data;
  const { caller, given } = sent;
  if (isStreamed(given))
    onStream(isNodeStream(data) ? { stream: data, sender: answer?.request, caller } : undefined);
  // The policy watches it like the body of any fetch.
  if (answer && isWebStream(data)) answer.data = response.body;
  // The body has arrived completely.
  else await response.arrayBuffer();
  const { failed } = sent;
  if (!failed) return answer as Answer;
  copyFacts(response, failed.error);
  throw failed.error;
}

const isAxiosError = (error: unknown): boolean =>
  !!(error as { readonly isAxiosError?: boolean } | undefined)?.isAxiosError;

/** The error for the app. */
export function failureOf(axios: Axios, sent: Sent, error: unknown): unknown {
  const { given, failed } = sent;
  const { signal, cancelToken } = given;
  const answer = nameConfig(sent);
  const isAborted = !!signal?.aborted;
  // Thrown by `finish`, or the failure of an earlier attempt.
  if (failed ? error === failed.error : !isAborted && isAxiosError(error)) return error;
  const isOwn = failed && isSteadfetchError(error) && !isTimeoutError(error) && !isAborted;
  if (!cancelToken?.reason && !isOwn) return toAxiosError(axios, given, error, answer, isAborted);
  const own = cancelToken?.reason ?? failed?.error;
  copyFacts(error, own);
  return own;
}

/** Restores the config that axios passed: apps often repeat a request with the config of its error or answer. */
function nameConfig(sent: Sent): Answer | undefined {
  const { given: config, failed } = sent;
  const answer = answerOf(sent);
  if (answer) answer.config = config;
  if (failed?.error.config) failed.error.config = config;
  return answer;
}
