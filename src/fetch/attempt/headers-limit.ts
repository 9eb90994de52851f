import { sizeOf, unknownBytes } from '../../lib/body-parts.ts';
import type { Policy } from '../../policy/options.ts';

/** A body of so many bytes goes in one packet: nothing is added for it. */
const packetBytes = 1400;
/** The slowest line that is believed in: 2G. */
const slowestBytesPerMs = 8;

/**
 * How long the headers of an answer are waited for, in milliseconds: as long as the policy says, and the time
 * that the body takes at `uploadBytesPerSecond`.
 */
export function headersLimitOf(
  { timeout, uploadBytesPerSecond }: Pick<Policy, 'timeout' | 'uploadBytesPerSecond'>,
  bytes: number,
  factor: number = 1,
): number {
  const leastMs = typeof timeout === 'object' ? timeout.headersMs : timeout;
  const uploadMs = bytes > packetBytes ? Math.ceil((bytes / uploadBytesPerSecond) * 1000) : 0;
  return factor * (leastMs + uploadMs);
}

/** Whether so large a body may still be on its way at the end of that limit: then the server owes no answer yet. */
export const mayBeUploading = (bytes: number, limitMs: number): boolean =>
  bytes > slowestBytesPerMs * limitMs;

/** The size of the body that fetch sends of its two arguments, in bytes. */
export function bodyBytes(
  input: RequestInfo | URL,
  { body }: { readonly body?: BodyInit | null | undefined },
): number {
  if (body !== undefined && body !== null) return sizeOf(body);
  const { body: stream, headers } = Object(input) as Partial<Request>;
  // Of a Request, its type is all that is known of its size. Texts are short.
  const isText = /json|^text|urlencoded/i.test(headers?.get('content-type') ?? '');
  return stream && !isText ? unknownBytes : 0;
}
