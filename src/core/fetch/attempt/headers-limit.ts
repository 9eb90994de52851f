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
  /** True if the operation sends the request again when it is late. */
  readonly isRepeated: boolean;
  /** How many attempts of the operation were late. */
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

/** The size of the body that fetch sends, in bytes; 0 for a text in a Request, until that is measured. */
export function bodyBytes(request: Request | undefined, { body }: RequestInit): number {
  if (body != null) return sizeOf(body);
  if (!request) return 0;
  const length = request.headers.get('content-length') ?? '';
  // Without a check, a wrong header would remove the time limit.
  if (/^\d+$/.test(length)) return Number(length);
  return request.body && !isText(request) ? unknownBytes : 0;
}

/**
 * Measures a text in a Request, which does not tell its size. Undefined if `bodyBytes` knows the size.
 *
 * @throws TypeError if the text was used.
 */
export function measureText(request: Request, { body }: RequestInit): Promise<number> | undefined {
  if (body != null || request.headers.has('content-length') || !isText(request)) return undefined;
  // Only for texts, because the copy of a file would be large.
  return request
    .clone()
    .arrayBuffer()
    .then(({ byteLength }) => byteLength);
}

/** Whether the body of a Request is a text, as its content type says. */
const isText = ({ headers }: Request): boolean =>
  /json|^text|urlencoded|graphql|xml/i.test(headers.get('content-type') ?? '');
