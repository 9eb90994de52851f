import type { Policy } from '../../policy/options.ts';
import { isStream } from '../init.ts';

/** A body of so many bytes goes in one packet: nothing is added for it. */
const packetBytes = 1400;
/** What a body counts as whose size cannot be read: that of a `Request`, or a form of React Native. */
const unknownBytes = 10_000_000;
/** The slowest line that is believed in: 2G. */
const slowestBytesPerMs = 8;
/** A longer text is measured by so many of its characters. */
const mostSamples = 4096;
/** What a part of a form has around it: its boundary and its headers. */
const partBytes = 150;

/**
 * How long the headers of an answer are waited for, in milliseconds: as long as the policy says, and the time
 * that the body takes at `uploadBytesPerSecond`.
 */
export function headersLimitOf(
  { timeout, uploadBytesPerSecond }: Pick<Policy, 'timeout' | 'uploadBytesPerSecond'>,
  bytes: number | undefined,
  factor: number,
): number {
  const leastMs = typeof timeout === 'object' ? timeout.headersMs : timeout;
  const uploadMs =
    bytes && bytes > packetBytes ? Math.ceil((bytes / uploadBytesPerSecond) * 1000) : 0;
  return factor * (leastMs + uploadMs);
}

/** Whether so large a body may still be on its way at the end of that limit: then the server owes no answer yet. */
export const mayBeUploading = (bytes: number | undefined, limitMs: number): boolean =>
  bytes === undefined || bytes > slowestBytesPerMs * limitMs;

/** The size of the body that fetch sends of its two arguments, in bytes: undefined for a stream. */
export function bodyBytes(
  input: RequestInfo | URL,
  { body }: { readonly body?: BodyInit | null | undefined },
): number | undefined {
  if (body !== undefined && body !== null) return bytesOf(body);
  if (typeof input === 'string') return 0;
  const { body: stream, headers } = input as Partial<Request>;
  if (!stream || !headers) return 0;
  const length = Number(headers.get('content-length') ?? Number.NaN);
  if (length >= 0) return length;
  // Of a Request, its type is all that is known of its size.
  return /json|^text|urlencoded/i.test(headers.get('content-type') ?? '') ? 0 : unknownBytes;
}

/** The body itself or, of a stream that can still be read, one that tells of each part that is taken from it. */
export function watchStream(body: BodyInit, onPart: () => void): BodyInit {
  if (!isStream(body)) return body;
  try {
    // Throws where fetch would: it was read before.
    void new Response(body);
    return body.pipeThrough(
      new TransformStream<unknown, unknown>({
        transform(part, controller) {
          onPart();
          controller.enqueue(part);
        },
      }),
    );
  } catch {
    return body;
  }
}

/** By what it is called: it may be of another realm. */
function bytesOf(body: BodyInit): number | undefined {
  if (typeof body === 'string') return utf8Bytes(body);
  if (ArrayBuffer.isView(body)) return body.byteLength;
  switch (Object.prototype.toString.call(body)) {
    case '[object ArrayBuffer]':
    case '[object SharedArrayBuffer]':
      return (body as ArrayBuffer).byteLength;
    case '[object URLSearchParams]':
      return `${body as URLSearchParams}`.length;
    case '[object FormData]':
      return formBytes(body as FormData);
  }
  if (isStream(body)) return undefined;
  // A File or a Blob; that of React Native is not called so.
  const { size } = body as Partial<Blob>;
  if (typeof size === 'number') return size;
  return 'getParts' in Object(body) ? unknownBytes : 0;
}

function formBytes(form: FormData): number {
  if (typeof form[Symbol.iterator] !== 'function') return unknownBytes;
  let sum = 0;
  for (const [name, value] of form)
    sum +=
      partBytes + utf8Bytes(name) + (typeof value === 'string' ? utf8Bytes(value) : value.size);
  return sum;
}

/** The size of a text in UTF-8: of a long one, about. */
function utf8Bytes(text: string): number {
  const step = Math.max(1, Math.floor(text.length / mostSamples));
  let bytes = 0;
  let count = 0;
  for (let at = 0; at < text.length; at += step, count++) {
    const unit = text.charCodeAt(at);
    const isHalf = (unit & 0xf8_00) === 0xd8_00;
    bytes += unit < 0x80 ? 1 : unit < 0x8_00 || isHalf ? 2 : 3;
  }
  return count && Math.ceil((bytes / count) * text.length);
}
