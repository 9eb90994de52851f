import type { ForeignAnswer } from '../../../operation/facts.ts';
import { headerOf } from '../../../operation/parts/foreign-error.ts';

/** The media type of an answer, in lower case; empty where it has none. */
export const mediaType = ({ headers }: Response): string =>
  (headers.get('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();

/** RFC 8259 §11, and the suffix of RFC 6839 §3.1. Of a field that was sent twice, the last one counts. */
export const isJson = (type: string): boolean => /^(.*,)?[^/,]+\/([^/,]+\+)?json$/.test(type);

/** Whether what has become of a call is said by a frame at the end of its body: gRPC-web, and the streams of Connect. */
export const isFramed = (response: Response): boolean =>
  /^application\/(grpc-web|connect\+)/.test(mediaType(response));

const streams =
  /^[^,]*(multipart\/|ndjson|jsonl|ld-?json|json-(lines|seq|stream)|event-?stream|stream[+=])[^,]*$/i;

/**
 * Whether the parts of a body come when there is something to say: it may be quiet for as long as it likes. By its
 * type, or because nothing else was asked for: tRPC says JSON of its streams, and Kubernetes of a watch.
 */
export function isStream(response: Response, asked: ForeignAnswer): boolean {
  const accepted = ['accept', 'trpc-accept'].map((name) => headerOf(asked, name));
  const types = [response.headers.get('content-type'), ...accepted];
  return isFramed(response) || types.some((type) => streams.test(type ?? ''));
}

/** Whether a text of unknown length may be a stream, where it is read part by part: those of AI SDKs are. */
export const mayBeStream = (response: Response): boolean =>
  mediaType(response) === 'text/plain' && !response.headers.has('content-length');
