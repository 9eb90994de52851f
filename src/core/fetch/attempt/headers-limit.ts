import { sizeOf, unknownBytes } from '../../lib/body-parts.ts';
import { defaultTimeoutMs, type Policy } from '../../policy/options.ts';
import { requestOf } from '../init.ts';

/** A body of so many bytes goes in one packet: nothing is added for it. */
const packetBytes = 1400;
/** The slowest line that is believed in: 2G. */
const slowestBytesPerMs = 8;

/**
 * A limit ends a write that may not be sent twice for good, and most often after it was done. So the default is longer
 * for it; told by its value, because an app may spread a preset.
 */
const unrepeatableMs = 60_000;
/** The limit of an operation is doubled so often: what has not answered by then is not slow, and hangs. */
const mostDoublings = 2;

/** The facts that the time limit of an attempt depends on. */
export interface Limited {
  /** Its operation sends it again, if it is late. */
  readonly isRepeated: boolean;
  /** How many attempts of its operation were late. */
  readonly timeouts: number;
  /** How long its endpoint takes as a rule, in milliseconds; undefined where that is not known. */
  readonly usualMs: number | undefined;
  /** @default 1 */
  readonly factor?: number | undefined;
}

/**
 * How long the headers of an answer are waited for, in milliseconds: as long as the policy says, and the time
 * that the body takes at `uploadBytesPerSecond`; longer after the first attempts that were late, and where the
 * endpoint is known to take longer.
 */
export function headersLimitOf(
  { timeout, uploadBytesPerSecond }: Pick<Policy, 'timeout' | 'uploadBytesPerSecond'>,
  bytes: number,
  { isRepeated, timeouts, usualMs = 0, factor = 1 }: Limited,
): number {
  const givenMs = typeof timeout === 'object' ? timeout.headersMs : timeout;
  const leastMs = isRepeated || timeout !== defaultTimeoutMs ? givenMs : unrepeatableMs;
  const uploadMs = bytes > packetBytes ? Math.ceil((bytes / uploadBytesPerSecond) * 1000) : 0;
  // After that it is short again, so that more retries begin before the deadline. A body may be on its way that long.
  const isHanging = timeouts > mostDoublings && !uploadMs;
  const doublings = isHanging ? 0 : Math.min(timeouts, mostDoublings);
  const limitMs = factor * 2 ** doublings * (leastMs + uploadMs);
  return usualMs > limitMs ? 2 * usualMs : limitMs;
}

/** Whether so large a body may still be on its way at the end of that limit: then the server owes no answer yet. */
export const mayBeUploading = (bytes: number, limitMs: number): boolean =>
  bytes > slowestBytesPerMs * limitMs;

/** The size of the body that fetch sends of its two arguments, in bytes; of a text in a Request, until that is measured, 0. */
export function bodyBytes(input: RequestInfo | URL, { body }: RequestInit): number {
  if (body != null) return sizeOf(body);
  const request = requestOf(input);
  if (!request) return 0;
  const length = request.headers.get('content-length');
  if (length !== null) return Number(length);
  return request.body && !isText(request) ? unknownBytes : 0;
}

/**
 * The size of a text in a Request, which does not say it. Undefined where `bodyBytes` knows more.
 *
 * @throws TypeError where the text is gone.
 */
export function measureText(request: Request, { body }: RequestInit): Promise<number> | undefined {
  if (body != null || request.headers.has('content-length') || !isText(request)) return undefined;
  // A copy: that of a file would be large.
  return request
    .clone()
    .arrayBuffer()
    .then(({ byteLength }) => byteLength);
}

/** Whether the body of a Request is a text, as its content type says. */
export const isText = ({ headers }: Request): boolean =>
  /json|^text|urlencoded|graphql|xml/i.test(headers.get('content-type') ?? '');
