import { createSlot } from './slot.ts';

/** The files that a Blob was composed of. */
const composed = createSlot<Blob, readonly Blob[]>();

/** Remembers the files that a Blob is composed of, to report an unreadable one by its name. */
export function composeOf(blob: Blob, files: readonly Blob[]): Blob {
  composed.set(blob, files);
  return blob;
}

// By class name, which is the same in another realm.
const nameOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

const isBlob = (value: unknown): value is Blob => ['Blob', 'File'].includes(nameOf(value));

/** All values of a body; for a form, those of its fields. */
const valuesOf = (body: unknown): readonly unknown[] =>
  nameOf(body) === 'FormData' ? [...(body as FormData).values()] : [body];

/** The files and Blobs of a body, including those that it was composed of. */
export const filesIn = (body: unknown): readonly Blob[] =>
  valuesOf(body)
    .filter(isBlob)
    .flatMap((blob) => composed.get(blob) ?? blob);

/** The first file of a body that cannot be read, because it was changed or removed after it was selected. */
async function findUnreadable(body: unknown): Promise<Partial<File> | undefined> {
  for (const file of filesIn(body)) {
    try {
      // The last byte, too, because a file may have become shorter. Chromium reports size 0 for a deleted
      // file.
      const parts = file.size ? [file.slice(0, 1), file.slice(-1)] : [file];
      for (const part of parts) {
        // React Native cannot read a Blob.
        const read = await part.arrayBuffer?.();
        // Firefox reads what is left of a file.
        if (read && read.byteLength < part.size) return file;
      }
    } catch {
      return file;
    }
  }
  return undefined;
}

/** The error of a body with a file that cannot be read. */
export async function unreadableIn(body: unknown, cause?: unknown): Promise<TypeError | undefined> {
  const file = await findUnreadable(body);
  if (!file) return undefined;
  const name = file.name ? `The file "${file.name}"` : 'A file';
  return new TypeError(`${name} was changed, moved or removed. Select it again.`, { cause });
}

/** The assumed size of a body that does not report one: a stream, or a React Native form. */
export const unknownBytes = 10_000_000;

/** The approximate size of a body in bytes: a character counts as one. */
export function sizeOf(body: unknown): number {
  const name = nameOf(body);
  if (typeof body !== 'object' || name === 'URLSearchParams') return String(body).length;
  if (name === 'FormData' && 'values' in Object(body))
    return valuesOf(body).reduce((sum: number, value) => sum + sizeOf(value), 0);
  const { size, byteLength = unknownBytes } = body as Partial<Blob & ArrayBuffer>;
  return size ?? byteLength;
}
