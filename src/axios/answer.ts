import { toUrl } from '../lib/input/url.ts';
import { listHeaders } from './headers.ts';
import type { Answer } from './types.ts';

/** A stream of Node, as far as its end is read from it. */
export interface NodeStream {
  readonly destroyed?: boolean;
  readonly destroy: (error?: Error) => unknown;
  readonly once: (event: 'close', listener: () => void) => unknown;
  readonly listenerCount: (event: 'error') => number;
}

/** By what they have: axios polyfills neither. */
export const isNodeStream = (data: unknown): data is NodeStream =>
  typeof (data as Partial<NodeStream> | undefined)?.listenerCount === 'function';
export const isWebStream = (data: unknown): data is ReadableStream<Uint8Array<ArrayBuffer>> =>
  typeof (data as Partial<ReadableStream> | undefined)?.getReader === 'function';

/** The text or the object of an answer that axios has read; undefined for bytes and streams. */
export const readData = (answer: Answer | undefined): unknown => {
  const data = answer?.data;
  const isRead = typeof data === 'string' || (typeof data === 'object' && !isBinary(data));
  return isRead && !isNodeStream(data) && !isWebStream(data) ? data : undefined;
};

const isBinary = (data: unknown): data is ArrayBuffer | ArrayBufferView<ArrayBuffer> | Blob =>
  ArrayBuffer.isView(data) || /\[object (?:ArrayBuffer|Blob)\]/.test(toName(data));

const toName = (data: unknown): string => Object.prototype.toString.call(data);

/** An answer of axios for the policy to read: its status and headers and, where that is still to be read, its body. */
export function toResponse(answer: Answer, askedUrl: string): Response {
  const { status, statusText, headers: bag, request } = answer;
  // A file has none.
  if (!(status >= 200 && status <= 599)) return Response.error();
  const headers = listHeaders(bag);
  const body = /^(204|205|304)$/.test(`${status}`) ? null : bodyFor(answer.data, headers);
  // Without what a status text cannot have.
  const text = (statusText ?? '').replaceAll(/[^\t -~]/g, '');
  const response = new Response(body, { status, statusText: text, headers });
  // A body that is a Blob brings a type of its own, where there was none.
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

/** The policy reads no bytes but JSON; of all else, that there are some is enough. */
function bodyFor(data: unknown, headers: Headers): BodyInit | null {
  if (isWebStream(data)) return data;
  if (isBinary(data) && /json/i.test(headers.get('content-type') ?? '')) return data;
  return data === undefined || data === null || data === '' ? null : '';
}
