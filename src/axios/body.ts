/** A form of the `form-data` package, which axios makes in Node of an object that is sent as multipart. */
interface NodeForm {
  readonly getBoundary: () => string;
  readonly getBuffer: () => { readonly toString: (encoding: 'latin1') => string };
}

/**
 * The body as fetch knows bodies. One that fetch does not know, such as a stream of Node, can be sent once.
 */
export function bodyOf(data: unknown): BodyInit | null {
  if (data === undefined || data === null) return null;
  if (typeof data === 'string') return data;
  if (isNodeForm(data)) return fixForm(data);
  const isKnown =
    typeof data !== 'object' ||
    ArrayBuffer.isView(data) ||
    /\[object (?:FormData|URLSearchParams|Blob|File|ArrayBuffer|ReadableStream)\]/.test(
      Object.prototype.toString.call(data),
    );
  return isKnown ? (data as BodyInit) : new ReadableStream();
}

const isNodeForm = (data: unknown): data is NodeForm =>
  typeof (data as Partial<NodeForm>).getBuffer === 'function';

/** A form of Node draws one each time. The same form is to be the same bytes, so here it is always this one. */
let boundary: string | undefined;

/** Byte by byte: Latin-1 is the encoding of which every byte is one character. */
function fixForm(form: NodeForm): BodyInit {
  // Its parts and their headers, with functions that end each part.
  const parts = Reflect.get(form, '_streams') as readonly unknown[];
  const isWhole = parts.every((part) => typeof part !== 'object' || ArrayBuffer.isView(part));
  // A part is a stream.
  if (!isWhole) return new ReadableStream();
  boundary ??= `steadfetch-${crypto.randomUUID()}`;
  const text = form.getBuffer().toString('latin1').replaceAll(form.getBoundary(), boundary);
  // `from` would first make a list with one element per byte.
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return new Blob([bytes], { type: `multipart/form-data; boundary=${boundary}` });
}

/** Axios 0.x knows no Blob in Node. */
export const forSending = async (body: unknown): Promise<unknown> =>
  body instanceof Blob && typeof XMLHttpRequest === 'undefined' ? body.arrayBuffer() : body;
