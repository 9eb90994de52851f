import type { Client, ClientInit, Progress } from '../fetch/attempt/attempt.ts';
import type { SteadyInit } from '../fetch/init.ts';
import { originOf } from '../lib/input/url.ts';
import { firstOf } from '../lib/abort.ts';
import { isSteadfetchError, isTimeoutError } from '../operation/errors.ts';
import { isNodeStream, isWebStream, type NodeStream, readData, toResponse } from './answer.ts';
import { forSending } from './body.ts';
import { copyFacts, toAxiosError } from './errors.ts';
import { changeHeaders } from './headers.ts';
import { isSimple, watchProgress } from './progress.ts';
import type { Answer, Axios, AxiosFailure, Config, InnerAdapter } from './types.ts';
import type { Target } from './url.ts';

/** A request on its way through axios' own adapter. */
export interface Sent {
  /** As axios has given it, and as errors and answers name it. */
  readonly given: Config;
  readonly target: Target;
  readonly inner: InnerAdapter;
  /** What sends it: only of these is it known that listening to its progress changes nothing else. */
  readonly sender: 'xhr' | 'http' | undefined;
  /** As it was given to us: where it comes back as another, a key has fixed its bytes. */
  readonly body: BodyInit | null;
  readonly headers: Headers;
  /** The signal and the CancelToken of the caller. */
  readonly caller: AbortSignal | undefined;
  /** By the policy, and not by axios. */
  readonly isLimited: boolean;
  answer?: Answer | undefined;
  /** Boxed, for it may be any value. */
  failed?: { readonly error: AxiosFailure } | undefined;
}

export interface AxiosInit extends SteadyInit, Pick<ClientInit, 'credentialNames'> {
  readonly sent: Sent;
}

/** What axios says of a request that it has not sent. */
const unsent =
  /^ERR_(?:BAD_OPTION|BAD_OPTION_VALUE|BAD_REQUEST|NOT_SUPPORT|INVALID_URL|FORM_DATA_TOO_DEEP)$/;

const answerOf = ({ answer, failed }: Sent): Answer | undefined => answer ?? failed?.error.response;

/** Sends the requests of an instance by axios. */
export function clientOf(axios: Axios): Client {
  return {
    transport: (_, init, progress) => transmit(init as AxiosInit, progress),
    isUnsent: (cause) => unsent.test(`${(cause as AxiosFailure | undefined)?.code}`),
    readData: (init) => readData(answerOf((init as AxiosInit).sent)),
    errorMaker(init) {
      const { given } = (init as AxiosInit).sent;
      return (error) => toAxiosError(axios, given, error);
    },
  };
}

/** Sends by axios' own adapter. The answer is one for the policy to read: axios has its own. */
async function transmit(init: AxiosInit, progress: Progress): Promise<Response> {
  const { sent, body } = init;
  const { url, config } = sent.target;
  const signal = init.signal as AbortSignal;
  // Of a first time, whose 401 has brought new credentials.
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
      // The app reads a stream when the request has ended, and may still abort it.
      signal: isStreamed(config) && sent.caller ? firstOf([signal, sent.caller]) : signal,
      cancelToken: undefined,
      ...(isFixed && { data: await forSending(body) }),
    });
    return toResponse(sent.answer, url);
  } catch (error) {
    sent.failed = { error: error as AxiosFailure };
    const { response } = sent.failed.error;
    if (response) return toResponse(response, url);
    throw error;
  }
}

const isStreamed = ({ responseType }: Config): boolean => responseType === 'stream';

/** Where Node follows a redirect to another origin, credentials stay behind. */
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

/** Its connection would stay, because the app never gets it. */
function discard(answer: Answer | undefined): void {
  if (isNodeStream(answer?.data)) answer.data.destroy();
}

/**
 * Where the policy limits it, a listener of ours is added as far as that changes nothing else: one to an upload
 * makes the browser ask another origin first.
 */
function watched({ isLimited, sender, given, target, headers }: Sent, progress: Progress): Config {
  if (!isLimited) return {};
  const { method = 'get' } = given;
  const isHarmless = sender === 'http' || !isSimple(method, target.url, headers);
  const added = { upload: !!sender && isHarmless, download: !!sender && !isStreamed(given) };
  return watchProgress(given, () => progress.recordProgress(), added);
}

/** A body of Node that is still to be read. */
export interface OpenStream {
  readonly stream: NodeStream;
  readonly sender: Answer['request'];
  readonly caller: AbortSignal | undefined;
}

/** What axios resolves with. Its body may be a stream, which the app has still to read. */
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
  // The policy watches it like that of any fetch.
  if (answer && isWebStream(data)) answer.data = response.body;
  // All of it has come.
  else await response.arrayBuffer();
  const { failed } = sent;
  if (!failed) return answer as Answer;
  copyFacts(response, failed.error);
  throw failed.error;
}

/** What axios rejects with. */
export function failureOf(axios: Axios, sent: Sent, error: unknown): unknown {
  const { given, failed } = sent;
  const { signal, cancelToken } = given;
  const answer = nameConfig(sent);
  // Thrown as it is by `finish`.
  if (failed && error === failed.error) return error;
  const isAborted = !!signal?.aborted;
  const isOwn = failed && isSteadfetchError(error) && !isTimeoutError(error) && !isAborted;
  if (!cancelToken?.reason && !isOwn) return toAxiosError(axios, given, error, answer, isAborted);
  const own = cancelToken?.reason ?? failed?.error;
  copyFacts(error, own);
  return own;
}

/** A request is often made again of the config that its error or answer names. */
function nameConfig(sent: Sent): Answer | undefined {
  const { given: config, failed } = sent;
  const answer = answerOf(sent);
  if (answer) answer.config = config;
  if (failed?.error.config) failed.error.config = config;
  return answer;
}
