import { hash128, toHex } from './hash.ts';
import { inDevelopment } from './development.ts';
import { classOf, reject } from './input/check.ts';

const chunkBytes = 1 << 20;

/**
 * Identifies the content of a payload: equal for equal content, and different otherwise. It does not hide the content,
 * and need not: a page that can read the fingerprint can read the form.
 *
 * @throws TypeError for a payload without comparable content.
 */
export async function fingerprintOf(payload: unknown): Promise<string> {
  const { text, bytes } = canonicalise(payload);
  let hash = hash128(text);
  // Pieces need no separator, because the text contains their lengths.
  for (const part of bytes) for await (const chunk of chunksOf(part)) hash = hash128(chunk, hash);
  return toHex(hash);
}

async function* chunksOf(part: Blob | Uint8Array): AsyncGenerator<Uint8Array> {
  if (part instanceof Uint8Array) return yield part;
  for (let at = 0; at < part.size; at += chunkBytes) {
    yield new Uint8Array(await part.slice(at, at + chunkBytes).arrayBuffer());
  }
}

/** A payload in canonical form: equal for equal content. */
export interface Canonical {
  readonly text: string;
  /** The binary parts, in the order of their references in the text. */
  readonly bytes: readonly (Blob | Uint8Array)[];
}

/**
 * Writes a payload in canonical form, so that different payloads never have the same text. The order of an object's
 * keys does not matter, and keys whose value is undefined are left out, as in JSON. All other order matters.
 *
 * @throws TypeError for a value without comparable content: a cycle, a function, a symbol, or an object of a class
 * without `toJSON`.
 */
export function canonicalise(payload: unknown): Canonical {
  const bytes: (Blob | Uint8Array)[] = [];
  const above = new Set<unknown>();

  const list = (values: Iterable<unknown>, path: string): string =>
    `[${Array.from(values, (value, index) => write(value, `${path}[${index}]`)).join()}]`;

  const refer = (part: Blob | Uint8Array, facts: readonly unknown[]): string => {
    bytes.push(part);
    return `(${JSON.stringify(facts)})`;
  };

  const writeObject = (value: object, path: string): string => {
    // By class name, which is the same in another realm.
    const name = Object.prototype.toString.call(value).slice(8, -1);
    if (/^(Array|FileList|Map|Set|URLSearchParams)$/.test(name))
      return name + list(value as Iterable<unknown>, path);
    if (name === 'Date') return `Date(${(value as Date).getTime()})`;
    if (name === 'FormData') return name + writeForm(value as FormData);
    if (name === 'Blob' || name === 'File') return name + writeBlob(value as File, value);
    const raw = bytesIn(value, name);
    if (raw) return name + refer(raw, [raw.byteLength]);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return `JSON(${write(toJSON.call(value, ''), path)})`;
    const prototype: unknown = Object.getPrototypeOf(value);
    const isPlain = !prototype || Object.getPrototypeOf(prototype) === null;
    if (!isPlain || name !== 'Object') refuse(path, inDevelopment(() => classOf(value)) ?? name);
    const entries = Object.entries(value).filter(([, part]) => part !== undefined);
    const pairs = entries
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, part]) => `${JSON.stringify(key)}:${write(part, `${path}.${key}`)}`);
    return `{${pairs.join()}}`;
  };

  const writeForm = (form: FormData): string =>
    `[${Array.from(form, ([name, value]) => {
      // For a Blob or an empty input, FormData creates a File whose lastModified is the current time.
      const part =
        typeof value === 'string' ? JSON.stringify(value) : writeBlob(value, { name: value.name });
      return `${JSON.stringify(name)}:${part}`;
    }).join()}]`;

  const writeBlob = (blob: Blob, { name, lastModified }: Partial<File>): string =>
    refer(blob, [name, lastModified, blob.type, blob.size]);

  const write = (value: unknown, path: string): string => {
    if (typeof value === 'string') return JSON.stringify(value);
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'function' || typeof value === 'symbol') refuse(path, typeof value);
    if (typeof value !== 'object' || value === null) return String(value);
    if (above.has(value)) refuse(path, 'a part of itself');
    above.add(value);
    const text = writeObject(value, path);
    above.delete(value);
    return text;
  };

  return { text: write(payload, 'variables'), bytes };
}

function bytesIn(value: object, name: string): Uint8Array | undefined {
  if (name === 'ArrayBuffer') return new Uint8Array(value as ArrayBuffer);
  if (!ArrayBuffer.isView(value)) return undefined;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

function refuse(path: string, what: string): never {
  reject(
    'useSafeSubmit',
    path,
    what,
    inDevelopment(
      () =>
        'something that has content of its own: JSON, FormData, File, Blob, Date, Map, Set, bigint, bytes, or an object with toJSON',
    ),
  );
}
