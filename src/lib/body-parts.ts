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

/** The least number of bytes that a body has; 0 for a stream. */
export function sizeOf(body: unknown): number {
  let bytes = 0;
  for (const value of valuesOf(body)) {
    const text = typeof value === 'string' || nameOf(value) === 'URLSearchParams';
    const { size = 0, byteLength = 0 } = Object(value) as { size?: number; byteLength?: number };
    bytes += text ? String(value).length : Math.max(size, byteLength);
  }
  return bytes;
}
