import type { ForeignAnswer } from '../../../operation/facts.ts';
import { headerOf } from '../../../operation/error-info.ts';

/** The media type of an answer, in lower case; empty if it has none. */
export const mediaType = ({ headers }: Response): string =>
  (headers.get('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();

/** Whether a media type is JSON: RFC 8259 §11, and the suffix of RFC 6839 §3.1. If the header was sent twice, the last value counts. */
export const isJson = (type: string): boolean => /^(.*,)?[^/,]+\/([^/,]+\+)?json$/.test(type);

/** Whether a frame at the end of the body tells the outcome of a call: gRPC-web, and the streams of Connect. */
export const isFramed = (response: Response): boolean =>
  /^application\/(grpc-web|connect\+)/.test(mediaType(response));

const streams =
  /^[^,]*(multipart\/|ndjson|jsonl|ld-?json|json-(lines|seq|stream)|event-?stream|stream[+=])[^,]*$/i;

const isStreamType = (type: string | null | undefined): boolean => streams.test(type ?? '');

/**
 * Whether a body may be silent for any time, because its parts come when there is news. Its media type says so, or the
 * requested one: tRPC declares its streams as JSON, and Kubernetes its watches.
 */
export const isQuiet = (response: Response, asked: ForeignAnswer): boolean =>
  isFramed(response) ||
  isStreamType(response.headers.get('content-type')) ||
  ['accept', 'trpc-accept'].some((name) => isStreamType(headerOf(asked, name)));

/** Whether a text of unknown length may be a stream when it is read in parts, as those of AI SDKs are. */
export const mayBeStream = (response: Response): boolean =>
  mediaType(response) === 'text/plain' && !response.headers.has('content-length');
