import type { StoredAnswer } from './store.ts';

/**
 * What a replay leaves out: what belongs to one connection or one moment (RFC 9110 §7.6.1, Date,
 * Content-Length), and cookies, which are for whoever got the first answer, and are secrets at rest.
 */
const left: ReadonlySet<string> = new Set([
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

/** Copies an answer, and leaves the original to be sent. */
export async function copyAnswer(response: Response): Promise<StoredAnswer> {
  const body = new Uint8Array(await response.clone().arrayBuffer());
  const headers = [...response.headers].filter(([name]) => !left.has(name));
  return { status: response.status, headers, body };
}

/** The same answer once more. */
export function replayAnswer({ status, headers, body }: StoredAnswer): Response {
  const response = new Response(body.length > 0 ? body : null, {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  });
  response.headers.set('idempotent-replayed', 'true');
  return response;
}
