import { sizeOf, unknownBytes } from '../../lib/body-parts.ts';
import { defaultTimeoutMs, type Policy } from '../../policy/options.ts';

/** A body up to this size is one packet, and adds nothing to the limit. */
const packetBytes = 1400;
/** The slowest connection that is assumed: 2G. */
const slowestBytesPerMs = 8;

/**
 * The default for a write that must not be sent twice. A shorter limit would end it for good, usually after the server did
 * it. The default is recognised by its value, because an app may spread a preset.
 */
const unrepeatableMs = 60_000;
/** How often the limit of an operation is doubled. A server that has not answered by then is not slow, but hangs. */
const mostDoublings = 2;

/** The facts that the time limit of an attempt depends on. */
export interface Limited {
  /** Its operation sends it again if it is late. */
  readonly isRepeated: boolean;
  /** How many attempts of its operation were late. */
  readonly timeouts: number;
  /** The usual latency of its endpoint, in milliseconds; undefined if not known. */
  readonly usualMs: number | undefined;
  /** @default 1 */
  readonly factor?: number | undefined;
}

/**
 * The time limit for the headers of an answer, in milliseconds: that of the policy, and the time that the body takes at
 * `uploadBytesPerSecond`. It is longer after the first attempts that were late, and for an endpoint that is usually slow.
 */
export function headersLimitOf(
  { timeout, uploadBytesPerSecond }: Pick<Policy, 'timeout' | 'uploadBytesPerSecond'>,
  bytes: number,
  { isRepeated, timeouts, usualMs = 0, factor = 1 }: Limited,
): number {
  const givenMs = typeof timeout === 'object' ? timeout.headersMs : timeout;
  const leastMs = isRepeated || timeout !== defaultTimeoutMs ? givenMs : unrepeatableMs;
  const uploadMs = bytes > packetBytes ? Math.ceil((bytes / uploadBytesPerSecond) * 1000) : 0;
  // After that it is short again, so that more retries begin before the deadline; but not for a large body.
  const isHanging = timeouts > mostDoublings && !uploadMs;
  const doublings = isHanging ? 0 : Math.min(timeouts, mostDoublings);
  const limitMs = factor * 2 ** doublings * (leastMs + uploadMs);
  return usualMs > limitMs ? 2 * usualMs : limitMs;
}

/** Whether a body of this size may still be on its way at the end of the limit. Then the server owes no answer yet. */
export const mayBeUploading = (bytes: number, limitMs: number): boolean =>
  bytes > slowestBytesPerMs * limitMs;

type BodyInput = readonly [
  input: RequestInfo | URL,
  init: { readonly body?: BodyInit | null | undefined },
];

/** The size of the body that fetch sends, in bytes; 0 for a text in a Request, until that is measured. */
export function bodyBytes(...[input, { body }]: BodyInput): number {
  if (body !== undefined && body !== null) return sizeOf(body);
  const { body: stream, headers } = Object(input) as Partial<Request>;
  const length = headers?.get('content-length');
  if (length && /^\d+$/.test(length)) return Number(length);
  return stream && !isText(headers) ? unknownBytes : 0;
}

/** Measures a text in a Request, which does not tell its size. Undefined if `bodyBytes` knows the size, or the text was used. */
export function measureText(...[input, { body }]: BodyInput): Promise<number> | undefined {
  const { body: stream, headers, bodyUsed } = Object(input) as Partial<Request>;
  const isGone = !stream || stream.locked || bodyUsed;
  const isKnown = (body !== undefined && body !== null) || headers?.has('content-length');
  if (isGone || isKnown || !isText(headers)) return undefined;
  // Only for texts, because the copy of a file would be large.
  return (input as Request)
    .clone()
    .arrayBuffer()
    .then(({ byteLength }) => byteLength);
}

const isText = (headers: Headers | undefined): boolean =>
  /json|^text|urlencoded|graphql|xml/i.test(headers?.get('content-type') ?? '');
