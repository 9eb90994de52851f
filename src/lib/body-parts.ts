import { createSlot } from './slot.ts';

/** The files that a Blob was composed of. */
const composed = createSlot<Blob, readonly Blob[]>();

/** Remembers the files that a Blob is composed of, so that one that cannot be read is found by its name. */
export function composeOf(blob: Blob, files: readonly Blob[]): Blob {
  composed.set(blob, files);
  return blob;
}

// By its name, which is the same in another realm.
const nameOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

const isBlob = (value: unknown): value is Blob => ['Blob', 'File'].includes(nameOf(value));

/** All values of a body: of a form, each of its fields. */
const valuesOf = (body: unknown): readonly unknown[] =>
  nameOf(body) === 'FormData' ? [...(body as FormData).values()] : [body];

/** The files and Blobs of a body, also those that it was composed of. */
export const filesIn = (body: unknown): readonly Blob[] =>
  valuesOf(body)
    .filter(isBlob)
    .flatMap((blob) => composed.get(blob) ?? blob);

/** The first file of a body that cannot be read: it was changed or removed after it was selected. */
export async function findUnreadable(body: unknown): Promise<Partial<File> | undefined> {
  for (const file of filesIn(body)) {
    try {
      // The last byte, too, because a file may have become shorter. Chromium says 0 for one that is gone.
      const parts = file.size ? [file.slice(0, 1), file.slice(-1)] : [file];
      // React Native cannot read a Blob.
      for (const part of parts) await part.arrayBuffer?.();
    } catch {
      return file;
    }
  }
  return undefined;
}

/** The size of a body that does not show it: of a stream, or a form of React Native. */
export const unknownBytes = 10_000_000;

/** The size of a body in bytes, about: a character of a text counts as one. */
export function sizeOf(body: unknown): number {
  const name = nameOf(body);
  if (typeof body !== 'object' || name === 'URLSearchParams') return String(body).length;
  if (name === 'FormData' && 'values' in Object(body))
    return valuesOf(body).reduce((sum: number, value) => sum + sizeOf(value), 0);
  const { size, byteLength = unknownBytes } = body as Partial<Blob & ArrayBuffer>;
  return size ?? byteLength;
}
