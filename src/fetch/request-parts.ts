type Input = RequestInfo | URL;

/** What fetch's two arguments say together, as fetch itself reads them. */
export interface RequestParts {
  /** The first argument, when it is a Request. */
  readonly request: Request | undefined;
  /** In upper case. */
  readonly method: string;
  readonly url: string;
  readonly signal: AbortSignal | undefined;
}

/** @throws TypeError for a signal that is none. */
export function readParts(input: Input, init: RequestInit): RequestParts {
  const request = isRequest(input) ? input : undefined;
  const signal = init.signal === undefined ? request?.signal : init.signal;
  // Refused before anything is begun for it.
  if (signal && typeof signal.addEventListener !== 'function') {
    throw new TypeError('steady.fetch: signal is no AbortSignal, and must be one, or null.');
  }
  // Whatever it is, fetch makes a text of it.
  const given: string | number | undefined = init.method;
  const method = given === undefined ? (request?.method ?? 'GET') : `${given as string | number}`;
  return {
    request,
    method: method.toUpperCase(),
    url: request?.url ?? `${input as string | URL}`,
    signal: signal ?? undefined,
  };
}

/** By its name, which is the same in another realm. */
function isRequest(input: Input): input is Request {
  return typeof input === 'object' && Object.prototype.toString.call(input) === '[object Request]';
}

/** The headers that fetch will send of its two arguments. */
export function readHeaders(request: Request | undefined, init: RequestInit): Headers {
  return new Headers(init.headers ?? request?.headers);
}

/** Whether the body cannot be sent (any more): asked before it is sent, which spends it. */
export function isBodySpent({ request }: RequestParts, { body }: RequestInit): boolean {
  if (body === undefined || body === null) return request?.bodyUsed === true;
  return body instanceof ReadableStream && body.locked;
}

/**
 * Whether a Request can be made of these arguments at all. Asked after fetch has rejected, to tell
 * a mistake in the program (a bad URL, credentials, a GET with a body) from the network. Building a
 * Request costs more than the rest of the wrapper, so the good path never does.
 */
export function isSendable({ url, method, request }: RequestParts, init: RequestInit): boolean {
  const target = toUrl(url);
  if (!target || (init.body instanceof ReadableStream && !('duplex' in init))) return false;
  // It is spent by now; that there was a body still counts.
  const body = (init.body ?? request?.body) == null ? null : '';
  try {
    void new Request(target, { ...init, method, signal: null, body });
    return true;
  } catch {
    return false;
  }
}

/** Whether it asks no server: what it gets is in the page, or in the browser's cache. */
export function isLocal({ url, request }: RequestParts, { cache }: RequestInit): boolean {
  return /^(data|blob|about):/i.test(url) || (cache ?? request?.cache) === 'only-if-cached';
}

/**
 * Whether fetch may reject because of what is demanded of the answer (its hash, or no redirect),
 * which cannot be told from a network that failed.
 */
export function isDemanding(
  { request }: RequestParts,
  { integrity, redirect }: RequestInit,
): boolean {
  return !!(integrity ?? request?.integrity) || (redirect ?? request?.redirect) === 'error';
}

/** The absolute form of a URL as fetch resolves it; undefined when there is none. */
export function toUrl(
  url: string,
  base: string | undefined = globalThis.location?.href,
): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}

/** Without the query string: it carries tokens, and messages travel to logs. */
export function shown(name: string): string {
  return name.replace(/[?#].*/s, '');
}
