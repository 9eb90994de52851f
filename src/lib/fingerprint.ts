import { hash128, toHex } from './hash.ts';
import { reject } from './input/check.ts';

const chunkBytes = 1 << 20;

/**
 * What a payload is known by: the same for the same content, and another for any other. It tells content
 * apart, and does not hide it: a page that can read the fingerprint can read the form.
 *
 * @throws TypeError when the payload has no content to be known by.
 */
export async function fingerprintOf(payload: unknown): Promise<string> {
  const { text, bytes } = canonicalise(payload);
  let hash = hash128(text);
  // One piece after the other: the text has said how long each is.
  for (const part of bytes) for await (const chunk of chunksOf(part)) hash = hash128(chunk, hash);
  return toHex(hash);
}

async function* chunksOf(part: Blob | Uint8Array): AsyncGenerator<Uint8Array> {
  if (part instanceof Uint8Array) return yield part;
  for (let at = 0; at < part.size; at += chunkBytes) {
    yield new Uint8Array(await part.slice(at, at + chunkBytes).arrayBuffer());
  }
}

/** A payload as text that is the same for what is the same, and the bytes that it refers to. */
export interface Canonical {
  readonly text: string;
  /** In the order in which the text has their places. */
  readonly bytes: readonly (Blob | Uint8Array)[];
}

/**
 * Writes a payload down so that no two different ones are written alike. The order of an object's
 * keys does not matter, and a key whose value is undefined is none, as in JSON; all other order does.
 *
 * @throws TypeError for what has no content to be known by: a cycle, a function, a symbol, or an
 * object of a class that does not say what it is (`toJSON`).
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
    // By its name, which is the same in another realm.
    const name = Object.prototype.toString.call(value).slice(8, -1);
    switch (name) {
      case 'Array':
      case 'FileList':
        return list(value as Iterable<unknown>, path);
      case 'Date':
        return `Date(${(value as { getTime: () => number }).getTime()})`;
      case 'Map':
      case 'Set':
      case 'URLSearchParams':
        return name + list(value as Iterable<unknown>, path);
      case 'FormData':
        return name + writeForm(value as FormData);
      case 'Blob':
      case 'File':
        return name + writeBlob(value as File, value);
      case 'ArrayBuffer':
        return (
          name + refer(new Uint8Array(value as ArrayBuffer), [(value as ArrayBuffer).byteLength])
        );
    }
    if (ArrayBuffer.isView(value)) {
      const { buffer, byteOffset, byteLength } = value;
      return name + refer(new Uint8Array(buffer, byteOffset, byteLength), [byteLength]);
    }
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return `JSON(${write(toJSON.call(value, ''), path)})`;
    const prototype: unknown = Object.getPrototypeOf(value);
    const isPlain = !prototype || Object.getPrototypeOf(prototype) === null;
    if (!isPlain || name !== 'Object') refuse(path, name);
    const entries = Object.entries(value).filter(([, part]) => part !== undefined);
    const pairs = entries
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, part]) => `${JSON.stringify(key)}:${write(part, `${path}.${key}`)}`);
    return `{${pairs.join()}}`;
  };

  const writeForm = (form: FormData): string =>
    `[${Array.from(form, ([name, value]) => {
      // A form makes files of its own, for a Blob or an empty input, whose time is that of the press.
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

function refuse(path: string, what: string): never {
  reject(
    'useSafeSubmit',
    path,
    what,
    process.env.NODE_ENV !== 'production' &&
      'something that has content of its own: JSON, FormData, File, Blob, Date, Map, Set, bigint, bytes, or an object with toJSON',
  );
}
