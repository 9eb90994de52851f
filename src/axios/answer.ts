import { toUrl } from '../core/lib/input/url.ts';
import { listHeaders } from './headers.ts';
import type { Answer, AxiosFailure, Sender } from './types.ts';

/** A Node stream, as far as it is used here. */
export interface NodeStream {
  readonly destroyed?: boolean;
  /** The error of the stream; null without one. */
  readonly errored?: unknown;
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

/**
 * The answer behind an error of axios. In Node its error has none, or one without a body, where axios itself gave up:
 * the body broke off, cannot be decompressed or is too long, or there are too many redirects.
 */
export function answerTo({ response, request }: AxiosFailure): Answer | undefined {
  if (response || !request) return response;
  // Of several, where it follows redirects, the latest.
  const latest = Reflect.get(request, '_currentRequest') as Sender | undefined;
  const { res } = latest ?? request;
  if (!res) return undefined;
  const { statusCode: status, statusMessage: statusText, headers } = res;
  return { status, statusText, headers, request, config: {} };
}

/**
 * Converts an axios response for the policy: its status and headers and, if it is still unread, its body. A body that
 * axios could not read fails with `error`.
 */
export function toResponse(answer: Answer, askedUrl: string, error?: AxiosFailure): Response {
  const { status, statusText, headers: bag, request } = answer;
  // The answer to a file: URL has no status.
  if (!(status >= 200 && status <= 599)) return Response.error();
  const headers = listHeaders(bag);
  const body = error && isBroken(answer) ? failingBody(error) : bodyFor(answer, headers);
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

/** True if the body is missing, though the status is a good one. */
const isBroken = (answer: Answer): boolean => !('data' in answer) && answer.status < 300;

const failingBody = (error: AxiosFailure): ReadableStream =>
  new ReadableStream({ start: (controller) => controller.error(error) });

/** The policy reads only JSON. For any other body it needs to know only whether there is one. */
function bodyFor({ status, data }: Answer, headers: Headers): BodyInit | null {
  if (/^(204|205|304)$/.test(`${status}`)) return null;
  if (isWebStream(data)) return data;
  if (isBinary(data) && /json/i.test(headers.get('content-type') ?? '')) return data;
  return data === undefined || data === null || data === '' ? null : '';
}
