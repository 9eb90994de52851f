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

const isStreamType = (type: string | null | undefined): boolean => streams.test(type ?? '');

/**
 * Whether the parts of a body come when there is something to say: it may be quiet for as long as it likes. By its
 * type, or because nothing else was asked for: tRPC says JSON of its streams, and Kubernetes of a watch.
 */
export const isQuiet = (response: Response, asked: ForeignAnswer): boolean =>
  isFramed(response) ||
  isStreamType(response.headers.get('content-type')) ||
  ['accept', 'trpc-accept'].some((name) => isStreamType(headerOf(asked, name)));

/** Whether a text of unknown length may be a stream, where it is read part by part: those of AI SDKs are. */
export const mayBeStream = (response: Response): boolean =>
  mediaType(response) === 'text/plain' && !response.headers.has('content-length');
