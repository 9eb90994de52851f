import { cancelBody } from '../../../lib/discard.ts';

/** One part of a body, or its end. */
export type Part =
  | { readonly done?: false | undefined; readonly value: Uint8Array<ArrayBuffer> }
  | { readonly done: true; readonly value?: undefined };

/** Reads a body part by part. */
export interface PartReader {
  readonly read: () => Promise<Part>;
  readonly cancel: (reason?: unknown) => Promise<unknown>;
}

/** Checks the parts of a body as they arrive. */
export interface BodyCheck {
  readonly take: (part: Uint8Array<ArrayBuffer>) => void;
  /** @throws TypeError if the body has ended too early. */
  readonly end: () => void;
}

/** The members of web streams and of Node streams. */
interface Streaming {
  readonly getReader?: () => PartReader;
  readonly on?: (event: string, listener: () => void) => unknown;
  readonly [Symbol.asyncIterator]?: () => { readonly next: () => Promise<Part> };
}

/** Whether a body arrives in parts. Buffers, texts and the bodies of React Native do not. */
export const isStreaming = (body: unknown): body is Streaming =>
  isWebStream(body) || typeof (body as Streaming | null)?.[Symbol.asyncIterator] === 'function';

/** Whether a body is a web stream. */
export const isWebStream = (body: unknown): body is ReadableStream<Uint8Array<ArrayBuffer>> =>
  typeof (body as Streaming | null)?.getReader === 'function';

/** Locks a body that arrives in parts. @throws TypeError if another reader has locked it. */
export function openBody(body: unknown): PartReader | undefined {
  if (isWebStream(body)) return body.getReader() as PartReader;
  const iterator = (body as Streaming | null)?.[Symbol.asyncIterator]?.();
  return iterator && { read: () => iterator.next(), cancel: () => cancelBody(body) };
}

/** node-fetch emits an abort as an error of the Node stream, and an error without a listener ends the process. */
export function ignoreErrors(body: unknown): void {
  const { on } = Object(body) as Streaming;
  if (!isWebStream(body)) on?.call(body, 'error', () => {});
}

/** Joins parts. */
export function joinParts(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first] = parts;
  if (first && parts.length === 1) return first;
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}
