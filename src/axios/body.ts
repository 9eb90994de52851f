/** A form of the `form-data` package, which axios creates in Node for an object that is sent as multipart. */
interface NodeForm {
  readonly getBoundary: () => string;
  readonly getBuffer: () => { readonly toString: (encoding: 'latin1') => string };
}

/**
 * Converts axios's data to a body that fetch accepts. A type that fetch does not know, such as a Node stream,
 * can be sent only once.
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

/** Node forms draw a random boundary each time. This fixed one makes equal forms equal bytes. */
let boundary: string | undefined;

/** Latin-1 maps each byte to one character. */
function fixForm(form: NodeForm): BodyInit {
  // The parts and their headers, each followed by a function that ends it.
  const parts = Reflect.get(form, '_streams') as readonly unknown[];
  const isWhole = parts.every((part) => typeof part !== 'object' || ArrayBuffer.isView(part));
  // At least one part is a stream.
  if (!isWhole) return new ReadableStream();
  boundary ??= `steadfetch-${crypto.randomUUID()}`;
  const text = form.getBuffer().toString('latin1').replaceAll(form.getBoundary(), boundary);
  // `from` would first create an array with one element per byte.
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return new Blob([bytes], { type: `multipart/form-data; boundary=${boundary}` });
}

/** axios 0.x does not accept a Blob in Node. */
export const forSending = async (body: unknown): Promise<unknown> =>
  body instanceof Blob && typeof XMLHttpRequest === 'undefined' ? body.arrayBuffer() : body;
