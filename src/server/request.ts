import { readStringItem } from '../core/headers/structured-field.ts';
import type { IdempotentOptions, Settings } from './options.ts';
import { createProblem } from './response.ts';

/** Visible ASCII, without quotes and without the comma that joins repeated headers. */
const rawKey = /^[!#-+\--~]+$/;

/**
 * The key of a request, or the answer to a request without a valid key
 * (draft-ietf-httpapi-idempotency-key-header §2.1: the value is a String of RFC 9651).
 */
export function readKey(request: Request, settings: Settings<unknown>): string | Response {
  const { header, acceptRaw, maxKeyLength } = settings;
  const field = request.headers.get(header);
  if (field === null) return createProblem('key-missing', settings);
  const key = readStringItem(field) ?? (acceptRaw && rawKey.test(field) ? field : undefined);
  if (key !== undefined && key.length > 0 && key.length <= maxKeyLength) return key;
  const form = acceptRaw ? 'a key, in quotes or without them' : 'a key in quotes ("8e03978e")';
  const rule = ` It must be ${form}, of 1 to ${maxKeyLength} characters.`;
  return createProblem('key-malformed', settings, rule);
}

/**
 * The whole body of a request; undefined when it is longer than allowed. A body that is too long is not
 * read to its end.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.bodyUsed) {
    throw new TypeError(
      'idempotent: the body of the request has been read already. Read it only in the handler: a key is compared by the bytes of its body.',
    );
  }
  if (Number(request.headers.get('content-length')) > maxBytes) return undefined;
  // Firefox has no `Request.body`: there, only Content-Length can stop a body that is too long.
  if (!request.body) return withinLimit(await request.arrayBuffer(), maxBytes);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { value } = await reader.read();
    if (!value) break;
    length += value.length;
    if (length > maxBytes) {
      // Not awaited: a sender that ignores it must not delay the answer.
      reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

const withinLimit = (buffer: ArrayBuffer, maxBytes: number): Uint8Array<ArrayBuffer> | undefined =>
  buffer.byteLength > maxBytes ? undefined : new Uint8Array(buffer);

/**
 * The owner of the key. It must be the same for every attempt, because a key in another scope is another key.
 *
 * @throws TypeError if the scope is not an id, or is a credential, which changes when it is renewed.
 */
export async function readScope(
  request: Request,
  scope: IdempotentOptions<unknown>['scope'],
): Promise<string> {
  if (!scope) return '';
  const credentials = ['authorization', 'cookie'].map((name) => request.headers.get(name));
  return requireOwner('idempotent', await scope(request), ...credentials);
}

/**
 * @param credentials - Those of the request, as far as they are known.
 * @throws TypeError if it is not an id, or is a credential.
 */
export function requireOwner(
  operation: string,
  owner: unknown,
  ...credentials: readonly (string | null)[]
): string {
  const what =
    typeof owner !== 'string' || !owner
      ? 'not a string, or empty'
      : isCredential(owner, credentials)
        ? 'a credential (a token, or the Authorization or Cookie header)'
        : undefined;
  if (!what) return owner as string;
  // The value is not shown, because it may be a secret.
  throw new TypeError(
    `${operation}: scope is ${what}, and must be the id of the user. A token that is renewed between two ` +
      `attempts makes two orders of one.`,
  );
}

const scheme = /^(?:basic|bearer|digest|dpop|token)\s/i;
const jsonWebToken = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;

const isCredential = (owner: string, headers: readonly (string | null)[]): boolean =>
  scheme.test(owner) ||
  jsonWebToken.test(owner) ||
  headers.some(
    (header) => header !== null && [header, header.replace(/\S+\s+/, '')].includes(owner),
  );

/** SHA-256 of method, path, query and body. The host is left out: one server may have several names. */
export async function fingerprintOf(
  { method, url }: Request,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const { pathname, search } = new URL(url);
  // A URL has no line break, so the URL and the body cannot run together.
  const head = new TextEncoder().encode(`${method} ${pathname}${search}\n`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return digestOf(bytes);
}

export async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** An index of PostgreSQL holds 2,704 bytes, and its text neither NUL nor half a surrogate pair. */
const isStorable = (text: string): boolean =>
  text.length <= 512 && !/[\0\p{Surrogate}]/u.test(text);

/** A text that every store can keep and find: the text itself, or its SHA-256. */
export async function toStorable(text: string): Promise<string> {
  // JSON distinguishes unpaired surrogates, which UTF-8 does not.
  const bytes = (): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(text));
  return isStorable(text) ? text : `sha256:${await digestOf(bytes())}`;
}
