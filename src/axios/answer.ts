import { toUrl } from '../core/lib/input/url.ts';
import { listHeaders } from './headers.ts';
import type { Answer } from './types.ts';

/** A Node stream, as far as it is used here. */
export interface NodeStream {
  readonly destroyed?: boolean;
  readonly destroy: (error?: Error) => unknown;
  readonly once: (event: 'close', listener: () => void) => unknown;
  readonly listenerCount: (event: 'error') => number;
}

/** By their methods: axios polyfills neither. */
export const isNodeStream = (data: unknown): data is NodeStream =>
  typeof (data as Partial<NodeStream> | undefined)?.listenerCount === 'function';
export const isWebStream = (data: unknown): data is ReadableStream<Uint8Array<ArrayBuffer>> =>
  typeof (data as Partial<ReadableStream> | undefined)?.getReader === 'function';

/** The text or object of an answer that axios has read; undefined for bytes and streams. */
export const readData = (answer: Answer | undefined): unknown => {
  const data = answer?.data;
  const isRead = typeof data === 'string' || (typeof data === 'object' && !isBinary(data));
  return isRead && !isNodeStream(data) && !isWebStream(data) ? data : undefined;
};

const isBinary = (data: unknown): data is ArrayBuffer | ArrayBufferView<ArrayBuffer> | Blob =>
  ArrayBuffer.isView(data) || /\[object (?:ArrayBuffer|Blob)\]/.test(toName(data));

const toName = (data: unknown): string => Object.prototype.toString.call(data);

/** Converts an axios response for the policy: its status and headers and, if it is still unread, its body. */
export function toResponse(answer: Answer, askedUrl: string): Response {
  const { status, statusText, headers: bag, request } = answer;
  // The answer to a file: URL has no status.
  if (!(status >= 200 && status <= 599)) return Response.error();
  const headers = listHeaders(bag);
  const body = /^(204|205|304)$/.test(`${status}`) ? null : bodyFor(answer.data, headers);
  // Without the characters that a status text must not have.
  const text = (statusText ?? '').replaceAll(/[^\t -~]/g, '');
  const response = new Response(body, { status, statusText: text, headers });
  // A Blob adds a content type of its own if the answer had none.
  if (!headers.has('content-type')) response.headers.delete('content-type');
  const end = toUrl(request?.responseURL ?? request?.res?.responseUrl ?? '', undefined);
  const asked = toUrl(askedUrl);
  if (!end || !asked) return response;
  asked.hash = '';
  return Object.defineProperties(response, {
    url: { value: end.href },
    redirected: { value: end.href !== asked.href },
  });
}

/** The policy reads only JSON. For any other body it needs to know only whether there is one. */
function bodyFor(data: unknown, headers: Headers): BodyInit | null {
  if (isWebStream(data)) return data;
  if (isBinary(data) && /json/i.test(headers.get('content-type') ?? '')) return data;
  return data === undefined || data === null || data === '' ? null : '';
}
