import {
  isIdempotentMethod,
  isSteadfetchError,
  openBody,
  readJson,
  type Attempt,
  type ErrorReader,
  type Extension,
  type Failure,
  type HttpFailure,
} from '../core/internal.ts';
import { checkNames, reject } from '../core/lib/input/check.ts';
import { code, type MadeBy } from '../core/lib/input/made-by.ts';
import { createBase64, endFlagOf, FrameCheck, headBytes, isText } from './frames.ts';
import { type CallStatus, failureOf, isRefusingRetries, toCode } from './status.ts';
import { inDevelopment } from '../core/lib/development.ts';

/** Stops the retries of an API while most of its calls fail: `retryThrottling` of a gRPC service config. */
export interface RetryThrottling {
  /** The initial and maximum number of tokens, up to 1000. A failure costs one. */
  readonly maxTokens: number;
  /** The part of a token that a success returns. */
  readonly tokenRatio: number;
}

/** The options of {@link grpcOutcomes}. */
export interface GrpcOptions {
  /**
   * While at most half of the tokens are left, an answered call is not retried. Failures that may be retried,
   * or whose server asks for no retry, cost a token. @default none
   */
  readonly retryThrottling?: RetryThrottling | undefined;
}

const pushbackName = 'grpc-retry-pushback-ms';

/**
 * Reads the outcome of a gRPC-web or Connect call, for `apis: [{ match, outcomes: grpcOutcomes() }]`: from
 * `grpc-status` in the headers or in trailers at the start of a body, from Connect's JSON, and from the
 * errors of clients that bring their own transport (`ConnectError`, `RpcError`, `ClientError`).
 *
 * A code counts as its HTTP equivalent, and `grpc-retry-pushback-ms` as `Retry-After`; a negative or
 * unreadable pushback forbids the retry. A body is awaited up to its first message.
 *
 * Every call is a POST: it is sent again only if the profile says `idempotent`, or has keys.
 *
 * @throws TypeError for an invalid option.
 *
 * @example
 * ```ts
 * import { createSteadfetch } from 'steadfetch';
 * import { grpcOutcomes } from 'steadfetch/grpc';
 *
 * export const steady = createSteadfetch({
 *   apis: [{ match: '/shop.v1.Products', idempotent: true, outcomes: grpcOutcomes() }],
 * });
 * ```
 */
export function grpcOutcomes(options: GrpcOptions = {}): MadeBy<'classifyOutcomes'> {
  inDevelopment(() => check(options));
  const { maxTokens = 0, tokenRatio = 0 } = options.retryThrottling ?? {};
  let tokens = maxTokens;
  /** Counts the outcome of a call. @returns whether it may be retried at all. */
  const count = (isFailure: boolean): boolean => {
    tokens = isFailure ? Math.max(0, tokens - 1) : Math.min(maxTokens, tokens + tokenRatio);
    return !options.retryThrottling || tokens > maxTokens / 2;
  };
  const throttle = (failure: HttpFailure, status: CallStatus): HttpFailure => {
    const isServers = failure.status >= 500 || failure.status === 429 || failure.shouldRetry;
    const isCounted = isRefusingRetries(status) || !!isServers;
    return isCounted && !count(true) ? { ...failure, shouldRetry: false } : failure;
  };

  const made: Extension & ErrorReader = {
    by: 'classifyOutcomes',
    async classify(attempt, response, failure) {
      // An opaque answer cannot be read, and an answer with the wrong content is not the API's.
      if (response.status === 0 || failure?.kind === 'body') return failure;
      const status = await readStatus(attempt, response, failure);
      if (!status || status.code === 'OK') {
        if (failure) return throttle(failure, { code: 'UNKNOWN', pushback: undefined });
        count(false);
        return undefined;
      }
      const { method, idempotent = isIdempotentMethod(method) } = attempt.request;
      const header = (name: string): string | null => response.headers.get(name);
      return throttle(failureOf(status, idempotent, header, attempt.context.clock.now()), status);
    },
    checkBody({ headers, ok }) {
      const contentType = headers.get('content-type') ?? '';
      const endFlag = endFlagOf(contentType);
      // Trailers that came as headers are the whole answer.
      if (endFlag === undefined || !ok || headers.get('grpc-status') !== null) return undefined;
      return new FrameCheck(endFlag, isText(contentType));
    },
    ofError(error, known) {
      // The outcome of the request is known better than from the client's error.
      if (known.kind !== 'error' || isSteadfetchError(error)) return undefined;
      const status = readError(error);
      return status && failureOf(status, false, () => null, 0);
    },
  };
  return { [code]: made };
}

/** The status that an answer reports for its call; undefined if it reports none. */
async function readStatus(
  attempt: Attempt,
  response: Response,
  failure: Failure | undefined,
): Promise<CallStatus | undefined> {
  const { headers } = response;
  const given = headers.get('grpc-status');
  const pushback = headers.get(pushbackName) ?? headers.get(`trailer-${pushbackName}`);
  // Trailers without a body.
  if (given !== null) return { code: toCode(given) ?? 'UNKNOWN', pushback };
  if (failure) {
    const [, body] = await readJson(attempt, response, failure);
    const known = toCode((Object(body) as ConnectBody).code);
    return known && { code: known, pushback };
  }
  return readFirstFrame(response);
}

/** The status in the body of a call that has ended without a message. */
async function readFirstFrame(response: Response): Promise<CallStatus | undefined> {
  const contentType = response.headers.get('content-type') ?? '';
  const endFlag = endFlagOf(contentType);
  const reader = endFlag === undefined ? undefined : openBody(response.clone().body);
  if (endFlag === undefined || !reader) return undefined;
  const frame = new FirstFrame(endFlag);
  const decode = isText(contentType) ? createBase64() : undefined;
  for (let isDone = false; !isDone;) {
    const { done, value } = await reader.read();
    isDone = done || frame.take(decode ? decode(value) : value);
  }
  // The end may have been read already, or be an error.
  reader.cancel().catch(() => {});
  const { text } = frame;
  if (text === undefined) return undefined;
  return endFlag === 2 ? readEnd(text) : readTrailers(text);
}

function readTrailers(text: string): CallStatus {
  const trailers = parseTrailers(text);
  const sent = trailers.get('grpc-status');
  return { code: toCode(sent) ?? 'UNKNOWN', pushback: trailers.get(pushbackName) };
}

/** Connect's JSON for a failed unary call. */
interface ConnectBody {
  readonly code?: unknown;
}

/** Reads the end of a Connect stream. */
function readEnd(text: string): CallStatus | undefined {
  try {
    const { error, metadata } = Object(JSON.parse(text)) as {
      readonly error?: ConnectBody;
      readonly metadata?: Readonly<Record<string, unknown>>;
    };
    if (!error) return { code: 'OK', pushback: undefined };
    return { code: toCode(error.code) ?? 'UNKNOWN', pushback: readMetadata(metadata) };
  } catch {
    return undefined;
  }
}

/** Reads metadata: Headers, or an object of strings or of lists of strings. */
function readMetadata(metadata: unknown): string | undefined {
  if (metadata instanceof Headers) return metadata.get(pushbackName) ?? undefined;
  const value = (Object(metadata) as Record<string, unknown>)[pushbackName];
  const text: unknown = Array.isArray(value) ? value[0] : value;
  return typeof text === 'string' ? text : undefined;
}

/**
 * connect-es; grpc-web and protobuf-ts; nice-grpc-web. The name is checked because a DOMException has a
 * numeric code, too.
 */
const names = ['ConnectError', 'RpcError', 'ClientError'];

function readError(error: unknown): CallStatus | undefined {
  try {
    const { name, code: given, metadata, meta } = Object(error) as Record<string, unknown>;
    const known = names.includes(name as string) ? toCode(given) : undefined;
    if (!known || known === 'OK') return undefined;
    return { code: known, pushback: readMetadata(metadata ?? meta) };
  } catch {
    // A getter of another library's error threw.
    return undefined;
  }
}

function check(options: GrpcOptions): void {
  checkNames('grpcOutcomes', options, ['retryThrottling']);
  const { retryThrottling } = options;
  if (retryThrottling === undefined) return;
  const { maxTokens, tokenRatio } = Object(retryThrottling) as Partial<RetryThrottling>;
  if (!(Number(maxTokens) > 0 && Number(maxTokens) <= 1000))
    reject('grpcOutcomes', 'retryThrottling.maxTokens', maxTokens, 'a number above 0, up to 1000');
  if (!(Number(tokenRatio) > 0))
    reject('grpcOutcomes', 'retryThrottling.tokenRatio', tokenRatio, 'a number above 0');
}

/** The end of a call is small. Anything larger is left to the client. */
const mostBytes = 65_536;

/**
 * Reads the end of a call that has no message, chunk by chunk. If a message comes first, the call has not
 * failed yet.
 */
class FirstFrame {
  readonly #endFlag: number;
  #bytes: number[] = [];
  /** The end of the call; undefined if a message comes first, if it is compressed, or if the body is empty. */
  text: string | undefined;

  constructor(endFlag: number) {
    this.#endFlag = endFlag;
  }

  /** @returns whether it needs no more. */
  take(chunk: Uint8Array): boolean {
    const bytes = this.#bytes;
    for (const byte of chunk.subarray(0, headBytes + mostBytes - bytes.length)) bytes.push(byte);
    const [flag, ...length] = bytes.slice(0, headBytes);
    if (flag === undefined) return false;
    if (flag !== this.#endFlag) return true;
    if (bytes.length < headBytes) return false;
    const end = headBytes + length.reduce((sum, byte) => sum * 256 + byte, 0);
    if (end > headBytes + mostBytes) return true;
    if (bytes.length < end) return false;
    this.text = new TextDecoder().decode(new Uint8Array(bytes.slice(headBytes, end)));
    return true;
  }
}

/** The trailers of gRPC-web, by lower-case name. */
const parseTrailers = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text.split('\r\n').map((line): [string, string] => {
      const [name = '', ...value] = line.split(':');
      return [name.trim().toLowerCase(), value.join(':').trim()];
    }),
  );
