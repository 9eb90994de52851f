import { untilAborted } from '../lib/timer.ts';
import { inDevelopment } from '../lib/development.ts';
import type { Attempt } from '../fetch/attempt/attempt.ts';
import { failed, recordFailure } from '../fetch/attempt/failure.ts';
import { isStream } from '../fetch/init.ts';
import type { SteadyRequest } from '../fetch/request.ts';
import { discard } from '../lib/discard.ts';
import { originOf, shown, toUrl } from '../lib/input/url.ts';

/** fetch itself drops these from a redirect to another origin. */
const ofFetch = /^(authorization|cookie|proxy-authorization)$/;

/**
 * How to send a request whose credentials fetch would pass on to any redirect target. To the page's own
 * origin: so that no other origin can be reached. To another: so that a redirect is seen. Undefined if fetch
 * drops them itself, or if the caller chose how to treat redirects.
 */
export function keepCredentials(
  { passed, url }: SteadyRequest,
  { redirect }: RequestInit,
  credentials: Headers,
): RequestInit | undefined {
  const isCustom = [...credentials.keys()].some((name) => !ofFetch.test(name));
  if (!isCustom || redirect !== undefined || (passed?.redirect ?? 'follow') !== 'follow')
    return undefined;
  // Not that of its URL: a sandboxed frame has none, and one of `srcdoc` has its parent's.
  const isOwn = originOf(url) === globalThis.origin;
  return isOwn ? { mode: 'same-origin' } : { redirect: 'manual' };
}

/** The maximum of fetch itself. */
const maxRedirects = 20;

/**
 * Follows the redirects of a request with such credentials, and passes them on only if `isFitting`. A browser
 * hides redirects, so there the request ends.
 *
 * @throws TypeError for a redirect in a browser; what the transport throws.
 */
export async function followRedirects(
  attempt: Attempt,
  answer: Response,
  credentials: Headers,
  isFitting: (url: string) => boolean,
): Promise<Response> {
  let response = answer;
  let init = { method: attempt.request.method, ...attempt.init };
  let { url } = attempt.request;
  if (response.type === 'opaqueredirect') throw refuse(attempt);
  for (let count = 0; count < maxRedirects; count++) {
    const target = targetOf(response, url);
    const isKept = /^30[78]$/.test(`${response.status}`);
    // A stream can be sent only once.
    if (!target || (isKept && isStream(init.body))) break;
    discard(response);
    if (!isKept && !/^(GET|HEAD)$/.test(init.method)) init = withoutBody(init);
    if (!isFitting(target)) init = { ...init, headers: without(init.headers, credentials) };
    url = target;
    try {
      const sending = attempt.context.transport(url, init);
      response = await untilAborted(attempt.signal, sending, discard);
    } catch (error) {
      throw failed(attempt, error);
    }
    Object.defineProperties(response, { redirected: { value: true }, url: { value: url } });
  }
  return response;
}

function targetOf({ status, headers }: Response, url: string): string | undefined {
  const location = /^30[12378]$/.test(`${status}`) ? headers.get('location') : null;
  const target = location === null ? undefined : toUrl(location, toUrl(url)?.href);
  return target && /^https?:$/.test(target.protocol) ? target.href : undefined;
}

/** As fetch treats 301, 302 and 303 (Fetch, "HTTP-redirect fetch"). */
function withoutBody<T extends RequestInit>(init: T): T {
  const headers = new Headers(init.headers);
  const names = [...headers.keys()].filter((name) => name.startsWith('content-'));
  for (const name of names) headers.delete(name);
  return { ...init, method: 'GET', body: null, headers };
}

function without(given: HeadersInit | undefined, credentials: Headers): Headers {
  const headers = new Headers(given);
  for (const name of credentials.keys()) headers.delete(name);
  headers.delete('cookie');
  return headers;
}

function refuse(attempt: Attempt): TypeError {
  const { name, method } = attempt.request;
  attempt.end();
  const remedy =
    inDevelopment(
      () =>
        `, because the browser would pass the headers of refreshOn401 on to any target. Request the target URL ` +
        `directly, send the credentials in Authorization, or set redirect: 'follow' if every target can be trusted`,
    ) ?? '';
  const error = new TypeError(`${shown(name)}: the redirect was not followed${remedy}.`);
  // A redirect may be the answer to a processed request (303).
  const processed = /^(GET|HEAD)$/.test(method) ? 'no' : 'unknown';
  return recordFailure(attempt, error, { kind: 'invalid', processed });
}
