import { composeOf, filesIn } from '../lib/body-parts.ts';
import { inDevelopment } from '../lib/development.ts';
import type { FixedBody } from '../operation/parts/submission.ts';
import { insertBodyText, readBodyText, removeBodyText } from './json-body.ts';

type Given = BodyInit | null;

/**
 * A copy of a body that no longer changes, with the content type that fetch gives it by itself.
 *
 * @param boundary - Makes the boundary of a form.
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
      // Without its name and its date, which are not sent, and would make another body of it after a reload.
      return composeOf((body as Blob).slice(0, (body as Blob).size, (body as Blob).type), [
        body as Blob,
      ]);
    case 'ArrayBuffer':
      return (body as ArrayBuffer).slice(0);
    case 'ReadableStream':
      return refuseBody('a stream, which can be sent only once', 'a Blob or text');
  }
  // The FormData of React Native has no such name, and its parts cannot be read.
  if (body instanceof FormData)
    return refuseBody('a FormData that cannot be read', 'text or a Blob');
  if (!ArrayBuffer.isView(body)) return String(body as unknown);
  return body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength);
}

function refuseBody(what: string, remedy: string): never {
  const message = `steady.fetch: body is ${what}.`;
  inDevelopment(() => {
    throw new TypeError(
      `${message} A request with an idempotency key is sent again: give ${remedy}.`,
    );
  });
  throw new TypeError(message);
}

/** Whether a body, given once more, still has the bytes that were fixed. */
export async function isSameBody(fixed: FixedBody, body: Given): Promise<boolean> {
  const again = fixBody(body, () => boundaryOf(fixed) ?? '');
  const [before, now] = await Promise.all([bytesOf(fixed), bytesOf(again)]);
  return before.length === now.length && before.every((byte, index) => byte === now[index]);
}

const bytesOf = async (body: FixedBody): Promise<Uint8Array> =>
  new Uint8Array(await new Response(body).arrayBuffer());

/**
 * A form as multipart/form-data (RFC 7578), as browsers write it (HTML, "Multipart form data"). Its bytes are the same
 * each time; those of fetch itself are not, because it draws a new boundary. A Blob of its parts, so that no file is
 * read before it is sent.
 */
function toMultipart(form: FormData, boundary: string): Blob {
  const parts = [...form].flatMap(([name, value]) => partOf(boundary, name, value));
  // A Blob lowers the case of its type, and so must the boundary be.
  const type = `multipart/form-data; boundary=${boundary}`;
  return composeOf(new Blob([...parts, `--${boundary}--\r\n`], { type }), filesIn(form));
}

function partOf(boundary: string, name: string, value: FormDataEntryValue): BlobPart[] {
  const field = `--${boundary}\r\nContent-Disposition: form-data; name="${escape(toCrlf(name))}"`;
  if (typeof value === 'string') return [`${field}\r\n\r\n${toCrlf(value)}\r\n`];
  const file = `; filename="${escape(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}`;
  return [`${field}${file}\r\n\r\n`, value, '\r\n'];
}

/** The boundary of a form that was fixed. */
export function boundaryOf(body: unknown): string | undefined {
  return body instanceof Blob ? body.type.split('; boundary=')[1] : undefined;
}

const toCrlf = (text: string): string => text.replaceAll(/\r\n?|\n/g, '\r\n');

const escape = (text: string): string =>
  text.replaceAll(/["\r\n]/g, (character) => encodeURIComponent(character));

/** A body, and the fields of it that are used up by one request: they are no part of what its key stands for. */
export interface TakenFields {
  readonly given: Given;
  /** Without the fields. */
  readonly body: Given;
  readonly fields: readonly (readonly [path: string, value: FormDataEntryValue])[];
}

/** Takes these fields out of a body: of JSON given as text, of a FormData, or of URLSearchParams. */
export function takeFields(given: Given, paths: readonly string[] | undefined): TakenFields {
  const fields: [string, FormDataEntryValue][] = [];
  let body = given;
  if (!paths) return { given, body, fields };
  if (typeof body === 'string')
    for (const path of paths) {
      const value = readBodyText(body, path);
      if (value === undefined) continue;
      fields.push([path, value]);
      body = removeBodyText(body, path);
    }
  else if (body instanceof FormData || body instanceof URLSearchParams) {
    const rest = body instanceof FormData ? new FormData() : new URLSearchParams();
    for (const [name, value] of body)
      if (paths.includes(name)) fields.push([name, value]);
      else rest.append(name, value as string);
    body = rest;
  }
  return { given, body, fields };
}

/** Puts the fields of the body that was given now into the one that was fixed. */
export function putFields(fixed: FixedBody, { given, body, fields }: TakenFields): FixedBody {
  if (typeof fixed === 'string') {
    if (fixed === body) return given as string;
    return fields.reduce(
      (text, [path, value]) => insertBodyText(text, path, value as string),
      fixed,
    );
  }
  if (fixed instanceof URLSearchParams)
    return new URLSearchParams([...fixed, ...(fields as [string, string][])]);
  const boundary = boundaryOf(fixed);
  if (boundary === undefined) return fixed;
  const { type } = fixed as Blob;
  const parts = fields.flatMap(([name, value]) => partOf(boundary, name, value));
  const files = fields.flatMap(([, value]) => filesIn(value));
  return composeOf(new Blob([...parts, fixed as Blob], { type }), [...files, ...filesIn(fixed)]);
}
