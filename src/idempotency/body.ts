import { composeOf, filesIn } from '../lib/body-parts.ts';
import type { FixedBody } from '../operation/parts/submission.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The key that a JSON body carries already in the field at this path: names with dots between them. */
export function readBodyKey(body: unknown, path: string): string | undefined {
  let value: unknown = parseObject(body);
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined;
  return typeof value === 'string' && value ? value : undefined;
}

/**
 * Puts the key into a JSON body, and leaves every other byte as it is: parsing and writing it again
 * would round large numbers. The objects on the way to it are made where there are none.
 *
 * @throws TypeError when the body is no JSON object given as text.
 */
export function insertBodyKey(body: FixedBody, path: string, key: string): string {
  const names = path.split('.');
  let content: unknown = parseObject(body);
  let depth = 0;
  for (; depth < names.length - 1; depth++) {
    const inner: unknown = isObject(content) ? content[names[depth] as string] : undefined;
    if (inner === undefined) break;
    content = inner;
  }
  const [name = '', ...inner] = names.slice(depth);
  if (!isObject(content) || Object.hasOwn(content, name)) {
    // Without the body: it may tell what nobody else should read.
    throw new TypeError(
      `steady.fetch: body must be a JSON object given as text` +
        (process.env.NODE_ENV === 'production'
          ? '.'
          : `, because this API takes its idempotency key in its field ${path}, and a key that is there must be text.`),
    );
  }
  const text = body as string;
  const at = endOfBrace(text, names.slice(0, depth));
  const value = inner.reduceRight<unknown>((last, one) => ({ [one]: last }), key);
  const comma = Object.keys(content).length > 0 ? ',' : '';
  return `${text.slice(0, at)}${JSON.stringify(name)}:${JSON.stringify(value)}${comma}${text.slice(at)}`;
}

/** Where in the text of a JSON object the inside of the object at this path begins. */
function endOfBrace(text: string, path: readonly string[]): number {
  let [depth, found] = [0, -1];
  let isNext = true;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/g)) {
    if (token === '{' && isNext && ++found === path.length) return index + 1;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    // A name, in the object that was found last.
    const isName = token.endsWith(':') && depth === found + 1;
    isNext = isName && JSON.parse(token.slice(0, -1)) === path[found];
  }
  return 0;
}

/** Where the member at this path is in the text of a JSON object, if its value is a text. */
function findText(text: string, path: string): { readonly from: number; readonly to: number } {
  const names = path.split('.');
  const name = names.pop();
  const at = endOfBrace(text, names);
  let depth = 0;
  let from = -1;
  for (const { 0: token, index } of text.slice(at).matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/g)) {
    if (from >= 0) return { from, to: at + index + token.length };
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth === 0 && token.endsWith(':') && JSON.parse(token.slice(0, -1)) === name)
      from = at + index;
  }
  return { from: 0, to: 0 };
}

/** A body without its fields that are used up by one request, and these. */
export interface TakenFields {
  readonly given: Given;
  readonly body: Given;
  readonly fields: readonly (readonly [path: string, value: FormDataEntryValue])[];
}

/** Takes these fields out of a body: of JSON given as text, of a FormData, or of URLSearchParams. */
export function takeFields(given: Given, paths: readonly string[]): TakenFields {
  const fields: [string, FormDataEntryValue][] = [];
  let rest = given;
  for (const path of paths) {
    if (typeof rest === 'string') {
      const value = readBodyKey(rest, path);
      if (value === undefined) continue;
      const { from, to } = findText(rest, path);
      const [before, after] = [rest.slice(0, from), rest.slice(to)];
      rest = /^\s*,/.test(after)
        ? before + after.replace(/^\s*,\s*/, '')
        : before.replace(/\s*,\s*$/, '') + after;
      fields.push([path, value]);
    } else if (rest instanceof FormData || rest instanceof URLSearchParams) {
      const copy: FormData | URLSearchParams = copyOf(rest);
      for (const value of copy.getAll(path)) fields.push([path, value]);
      copy.delete(path);
      rest = copy;
    }
  }
  return { given, body: rest, fields };
}

/** Puts what was taken out of the body that was given now into the one that was fixed. */
export function putFields(body: FixedBody, { given, body: rest, fields }: TakenFields): FixedBody {
  if (fields.length === 0) return body;
  if (typeof body === 'string' && body === rest) return given as string;
  if (typeof body === 'string')
    return fields.reduce((text, [path, value]) => insertBodyKey(text, path, value as string), body);
  if (body instanceof URLSearchParams) {
    const copy = new URLSearchParams(body);
    for (const [name, value] of fields) copy.append(name, value as string);
    return copy;
  }
  const boundary = boundaryOf(body);
  if (boundary === undefined) return body;
  const parts = fields.flatMap(([name, value]) => partOf(boundary, name, value));
  const files = fields.flatMap(([, value]) => (typeof value === 'string' ? [] : [value]));
  return composeOf(new Blob([...parts, body as Blob], { type: (body as Blob).type }), [
    ...files,
    ...filesIn(body),
  ]);
}

function copyOf(given: FormData | URLSearchParams): FormData | URLSearchParams {
  if (given instanceof URLSearchParams) return new URLSearchParams(given);
  const copy = new FormData();
  for (const [name, value] of given) copy.append(name, value);
  return copy;
}

function parseObject(body: unknown): JsonObject | undefined {
  if (typeof body !== 'string' || !/^\s*\{/.test(body)) return undefined;
  try {
    return JSON.parse(body) as JsonObject;
  } catch {
    return undefined;
  }
}

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
      return composeOf((body as Blob).slice(0, (body as Blob).size, (body as Blob).type), [
        body as Blob,
      ]);
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
      // That of React Native: it has no name, and its parts are for nobody to see.
      if (body instanceof FormData)
        throw new TypeError(
          `steady.fetch: body is a FormData that cannot be read.${
            process.env.NODE_ENV === 'production'
              ? ''
              : ' A request with an idempotency key is sent again: give text or a Blob.'
          }`,
        );
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

/**
 * A form as multipart/form-data (RFC 7578), in the form that browsers give it (HTML, "Multipart form
 * data"): so that its bytes are the same each time, which those of fetch itself are not, because it
 * draws a new boundary. A Blob of its parts: no file is read before it is sent.
 */
function toMultipart(form: FormData, boundary: string): Blob {
  const parts: BlobPart[] = [];
  const files: File[] = [];
  for (const [name, value] of form) {
    parts.push(...partOf(boundary, name, value));
    if (typeof value !== 'string') files.push(value);
  }
  // A Blob lowers the case of its type, and so must the boundary be.
  const type = `multipart/form-data; boundary=${boundary}`;
  return composeOf(new Blob([...parts, `--${boundary}--\r\n`], { type }), files);
}

function partOf(boundary: string, name: string, value: FormDataEntryValue): BlobPart[] {
  const field = `--${boundary}\r\nContent-Disposition: form-data; name="${escape(toCrlf(name))}"`;
  if (typeof value === 'string') return [`${field}\r\n\r\n${toCrlf(value)}\r\n`];
  const file = `; filename="${escape(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}`;
  return [`${field}${file}\r\n\r\n`, value, '\r\n'];
}

/** The boundary of what {@link toMultipart} has made. */
export function boundaryOf(body: unknown): string | undefined {
  return body instanceof Blob ? body.type.split('; boundary=')[1] : undefined;
}

const toCrlf = (text: string): string => text.replaceAll(/\r\n?|\n/g, '\r\n');

const escape = (text: string): string =>
  text.replaceAll(/["\r\n]/g, (character) => encodeURIComponent(character));
