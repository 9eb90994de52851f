import type { Settings } from './options.ts';
import type { StoredAnswer } from './stores/store.ts';

/**
 * Headers that a replay leaves out: those of one connection or one moment (RFC 9110 §7.6.1, Date,
 * Content-Length), and cookies, which are secrets of the first answer.
 */
const leftOut: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Copies an answer. The original can still be sent.
 *
 * @throws the reason of the signal once it is aborted. Reading then stops.
 */
export async function copyAnswer(response: Response, signal: AbortSignal): Promise<StoredAnswer> {
  const copy = response.clone();
  const reader = copy.body?.getReader();
  const stop = (): void => {
    // The source ends when both branches are cancelled.
    for (const one of [reader, response.body]) one?.cancel(signal.reason).catch(() => {});
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (!value) break;
    chunks.push(value);
  }
  // A lease that ends later, while the store commits, must not stop the answer.
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  const body = new Uint8Array(await new Blob(chunks).arrayBuffer());
  const headers = [...response.headers].filter(([name]) => !leftOut.has(name));
  return { status: response.status, headers, body };
}

/** Sends a stored answer again. */
export function replayAnswer({ status, headers, body }: StoredAnswer): Response {
  const response = new Response(body.length > 0 ? body : null, {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  });
  response.headers.set('idempotent-replayed', 'true');
  return response;
}

/** Why a request did not reach the handler: the `code` of its problem. */
export type ProblemCode =
  | 'key-missing'
  | 'key-malformed'
  | 'in-progress'
  | 'payload-mismatch'
  | 'body-too-large'
  | 'store-full'
  | 'store-unavailable';

const problems: Readonly<
  Record<ProblemCode, readonly [status: number, title: string, detail: string]>
> = {
  'key-missing': [400, 'Bad Request', 'This request needs an idempotency key.'],
  'key-malformed': [400, 'Bad Request', 'The idempotency key is malformed.'],
  'in-progress': [409, 'Conflict', 'A request with this idempotency key is still being processed.'],
  'payload-mismatch': [
    422,
    'Unprocessable Content',
    'This idempotency key has been used with another payload.',
  ],
  'body-too-large': [413, 'Content Too Large', 'The body is too large. Nothing was done.'],
  'store-full': [
    503,
    'Service Unavailable',
    'There is no room for another idempotency key at the moment. Nothing was done.',
  ],
  'store-unavailable': [
    503,
    'Service Unavailable',
    'The store of the keys does not answer at the moment. Send the same request again, with the same key.',
  ],
};

/** Whether the same request may succeed later. */
const isTemporary = (code: ProblemCode): boolean =>
  code === 'in-progress' || code === 'store-full' || code === 'store-unavailable';

type ProblemSettings = Pick<Settings<unknown>, 'header' | 'retryAfterSeconds' | 'documentationUrl'>;

/** A problem as in RFC 9457. Of the request it repeats only the header's name. */
export function createProblem(
  code: ProblemCode,
  { header, retryAfterSeconds, documentationUrl }: ProblemSettings,
  more = '',
): Response {
  const [status, title, detail] = problems[code];
  const headers = new Headers({ 'content-type': 'application/problem+json' });
  if (isTemporary(code)) headers.set('retry-after', `${retryAfterSeconds}`);
  if (documentationUrl !== undefined) {
    headers.set('link', `<${documentationUrl}>; rel="describedby"`);
  }
  const type = documentationUrl ?? 'about:blank';
  const body = { type, title, status, detail: `${header}: ${detail}${more}`, code };
  return new Response(JSON.stringify(body), { status, headers });
}
