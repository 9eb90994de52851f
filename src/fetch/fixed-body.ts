import type { FixedBody } from './intent.ts';
import { boundaryOf, toMultipart } from './multipart.ts';

type Given = BodyInit | null;

/**
 * The body as it is now, whatever becomes of the objects it was made from, with the content type
 * that fetch gives it by itself.
 *
 * @throws TypeError for a stream: it can be sent once, and Firefox sends its name.
 */
export function fixBody(body: Given, boundary: () => string): FixedBody {
  // By its name, which is the same in another realm.
  switch (Object.prototype.toString.call(body).slice(8, -1)) {
    case 'Null':
      return null;
    case 'FormData':
      return toMultipart(body as FormData, boundary());
    case 'URLSearchParams':
      return new URLSearchParams(body as URLSearchParams);
    case 'Blob':
    case 'File':
      // Without its name and its date, which are not sent.
      return (body as Blob).slice(0, (body as Blob).size, (body as Blob).type);
    case 'ArrayBuffer':
      return (body as ArrayBuffer).slice(0);
    case 'ReadableStream':
      throw new TypeError(
        `steady.fetch: body is a stream, which can be sent only once.${
          process.env.NODE_ENV === 'production'
            ? ''
            : ' A request with an idempotency key is sent again: give a Blob or text.'
        }`,
      );
    default:
      return ArrayBuffer.isView(body) ? copy(body) : String(body as unknown);
  }
}

/** Whether a body, given once more, still has the bytes that were fixed. */
export async function isSameBody(fixed: FixedBody, body: Given): Promise<boolean> {
  const again = fixBody(body, () => boundaryOf(fixed) ?? '');
  if (typeof fixed === 'string' || fixed === null) return again === fixed;
  const [before, now] = await Promise.all([bytesOf(fixed), bytesOf(again)]);
  return before.length === now.length && before.every((byte, index) => byte === now[index]);
}

const copy = ({ buffer, byteOffset, byteLength }: ArrayBufferView): ArrayBuffer =>
  buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;

const bytesOf = async (body: FixedBody): Promise<Uint8Array> =>
  new Uint8Array(await new Response(body).arrayBuffer());
