import { type DevelopmentText, inDevelopment } from '../lib/development.ts';
import { filesIn, unreadableIn } from '../lib/body-parts.ts';
import { isEngine } from '../lib/browser/page.ts';
import { checkMisnamed } from '../lib/input/check.ts';
import { toUrl } from '../lib/input/url.ts';
import { inPolicy, type PolicyOptions, type Timeout } from '../policy/options.ts';
import type { LateRead } from '../origin/late-read.ts';
import type { Expected } from './api.ts';

/** The init of fetch, and a key. */
export interface KeyedInit extends RequestInit {
  /**
   * Your own idempotency key for this request, sent as the profile of its API declares. Give the same key on every
   * attempt, and another key for a new submission. A header of your own takes precedence. Within a mutation of Steadfetch,
   * which has a key already, this option is refused: see `step`.
   *
   * @default none; within a mutation of Steadfetch, a key by itself for each POST and PATCH
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * The name of this request within a mutation of Steadfetch. Its key is derived from the mutation's key and this name.
   * The first request with a key needs no name; each further one does.
   * Give the same name on every attempt, and another to each request.
   *
   * @default none
   *
   * @example
   * ```ts
   * const placeOrder = mutationOptions(steady, {
   *   async mutationFn(order: { sku: string }, { json }) {
   *     const { id } = await json<{ id: string }>('/api/orders', { json: order });
   *     return json<{ receipt: string }>('/api/payments', { json: { id }, step: 'pay' });
   *   },
   * });
   * ```
   */
  readonly step?: string | undefined;
}

/** The options of `steady.fetch` besides fetch's own init. */
export interface SteadyInit extends KeyedInit {
  /** The time limit of this attempt. @default that of the policy */
  readonly timeout?: Timeout | undefined;
  /** Sending this again does no harm, whatever its method: a search sent by POST. @default false */
  readonly idempotent?: boolean | undefined;
  /**
   * The content that a good answer must have. With `json`, an answer that is neither JSON nor empty is an
   * `UnexpectedContentError`, because a portal or a proxy may have given it. The content types `application/json`,
   * `*+json`, `text/plain`, `application/octet-stream`, S3's `binary/octet-stream` and none are accepted. With any other
   * type the body decides. `any` accepts every answer.
   *
   * @default that of its API; else `json` for `steady.json`. `steady.fetch` refuses only the HTML page that a write was redirected to
   */
  readonly expect?: Expected | undefined;
  /** A policy for failures of this call, laid over the others. */
  readonly policy?: PolicyOptions | undefined;
}

/** The additional member that `steady.json` passes on. */
export interface JsonSteadyInit extends SteadyInit {
  readonly defaultExpect?: Expected | undefined;
}

/** The error of a mistake. In production its message names only what is wrong, without the rule. */
export const mistake = (what: string, rule: DevelopmentText): TypeError =>
  new TypeError(process.env.NODE_ENV !== 'production' && rule ? `${what} ${rule}.` : what);

type Input = RequestInfo | URL;

/** The first argument of fetch, if that is a Request. */
export const requestOf = (input: Input): Request | undefined =>
  // Recognised by its members, because it may be from another realm, and has no class name in React Native.
  'method' in (Object(input) as object) ? (input as Request) : undefined;

/** The Request that was passed to fetch; undefined if that was a URL. */
type Passed = Request | undefined;

/** An option of a request, as fetch reads it of its two arguments. */
export const optionOf = <K extends keyof RequestInit & keyof Request>(
  passed: Passed,
  init: RequestInit,
  name: K,
): RequestInit[K] | Request[K] | undefined => init[name] ?? passed?.[name];

/** The method of a request, in upper case, as fetch reads it of its two arguments. */
export function methodOf(passed: Passed, init: RequestInit): string {
  // Fetch turns any value into text.
  const given: string | number | undefined = init.method;
  const method = given === undefined ? (passed?.method ?? 'GET') : `${given as string | number}`;
  return method.toUpperCase();
}

/** The signal of a request. @throws TypeError for a value that is no signal, before anything begins. */
export function signalOf(passed: Passed, init: RequestInit): AbortSignal | undefined {
  const signal = init.signal === undefined ? passed?.signal : init.signal;
  if (signal && typeof signal.addEventListener !== 'function') {
    throw mistake(
      'steady.fetch: signal',
      inDevelopment(() => 'is no AbortSignal, and must be one, or null'),
    );
  }
  return signal ?? undefined;
}

/** Recognised by its class name, which is the same in another realm. React Native has no streams. */
export function isStream(body: unknown): body is ReadableStream {
  return Object.prototype.toString.call(body) === '[object ReadableStream]';
}

/** The headers that fetch will send of its two arguments. */
export function readHeaders(passed: Passed, init: RequestInit): Headers {
  return new Headers(init.headers ?? passed?.headers);
}

/**
 * Headers in the form in which the caller gave them: a plain object, unless those are `Headers`. A page may wrap `fetch`, and
 * spread the headers: of `Headers` nothing would be left, also not the key. The names are spelt as in most code, so that
 * such a wrapper replaces them.
 */
export function inGivenForm(given: HeadersInit | undefined, headers: Headers): HeadersInit {
  if ('get' in (Object(given) as object)) return headers;
  const spell = (name: string): string =>
    name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
  return Object.fromEntries(Array.from(headers, ([name, value]) => [spell(name), value]));
}

/** Whether the body was used before. Asked before it is sent, because sending uses it. */
export function isBodySpent(passed: Passed, { body }: RequestInit): boolean {
  if (body == null) return passed?.bodyUsed === true;
  return isStream(body) && body.locked;
}

/** Whether the body can be sent only once: a stream, or that of a Request. */
export function isSentOnce(passed: Passed, { body }: RequestInit): boolean {
  return !!passed?.body || isStream(body);
}

/**
 * Whether a Request can be made of these arguments. Asked only after fetch has rejected, to tell a mistake in the program
 * (a bad URL, credentials, a GET with a body) from a failed network. A Request costs more than the rest of the wrapper.
 */
export function isSendable(passed: Passed, url: string, init: RequestInit): boolean {
  const target = toUrl(url);
  if (!target || (isStream(init.body) && !('duplex' in init))) return false;
  // The body was used by now. Only whether there was one matters.
  const body = (init.body ?? passed?.body) == null ? null : '';
  try {
    void new Request(target, { ...init, method: methodOf(passed, init), signal: null, body });
    return true;
  } catch {
    return false;
  }
}

/** Whether the request needs no server: the page, or the browser's cache, has the answer. */
export function isLocal(url: string, passed: Passed, init: RequestInit): boolean {
  return /^(data|blob|about):/i.test(url) || optionOf(passed, init, 'cache') === 'only-if-cached';
}

/** A request, and the origin that it is sent to. */
interface Addressed {
  readonly passed: Passed;
  readonly method: string;
  /** Method and URL. */
  readonly name: string;
  readonly operation: { readonly ref: { readonly id: number } };
  readonly admission: { readonly origin: { readonly late: ReadonlySet<LateRead> } } | undefined;
}

/**
 * The cache mode that replaces that of the caller; undefined if none does. A failure may be in the browser's cache, so a
 * retry or a probe must not be answered from there. And browsers let a read wait in their cache for an earlier one of its
 * URL, so a read beside a late one goes past it. Elsewhere there is no such cache: React Native would put a time into the URL,
 * and Cloudflare's Workers refuse the mode.
 */
export function cacheModeOf(
  { passed, method, name, admission }: Addressed,
  init: RequestInit,
  isAgain: boolean,
): RequestCache | undefined {
  if (!isEngine() || (method !== 'GET' && method !== 'HEAD')) return undefined;
  const own = optionOf(passed, init, 'cache') ?? 'default';
  for (const { given } of admission?.origin.late ?? [])
    if (given.name === name && own !== 'no-store') return 'reload';
  return isAgain && own === 'default' ? 'no-cache' : undefined;
}

/** Headers that name one sending of a request: an id for logs, a trace, a time. */
const ofOneSending = /trace|baggage|timestamp|(request|correlation)-?id/;

/** Equal for two requests of an operation that may have the same answer. Undefined if their bodies cannot be compared. */
export function identityOf(
  { passed, name, operation }: Addressed,
  init: RequestInit,
): string | undefined {
  const { body = null } = init;
  if (passed?.body || (body !== null && typeof body !== 'string')) return undefined;
  const credentials = optionOf(passed, init, 'credentials');
  return JSON.stringify([
    operation.ref.id,
    name,
    [...readHeaders(passed, init)].filter(([header]) => !ofOneSending.test(header)),
    body,
    credentials,
  ]);
}

/**
 * Reads init once, as fetch does, into a plain object. Inherited members and getters count, also those of a class or of a
 * Request; `null` is no init.
 *
 * @throws TypeError for an init that is no object; the error of a getter.
 */
export function readInit<T extends object>(operation: string, init: T | null | undefined): T {
  const members: Record<string, unknown> = {};
  if (init == null) return members as T;
  if (typeof init !== 'object' && typeof init !== 'function') {
    throw mistake(
      `${operation}: init`,
      inDevelopment(() => `is a ${typeof init}, and must be an object`),
    );
  }
  const given = init as Record<string, unknown>;
  for (const name in given) members[name] = given[name];
  // The loop above does not see the getters of a class, or all members of a proxy.
  for (const name of replacing) {
    if (name in members) continue;
    const value = given[name];
    if (value !== undefined) members[name] = value;
  }
  return members as T;
}

/** The members of fetch's init that replace something of a Request. */
const replacing = [
  'method',
  'headers',
  'body',
  'mode',
  'credentials',
  'cache',
  'redirect',
  'referrer',
  'referrerPolicy',
  'integrity',
  'keepalive',
  'signal',
  'duplex',
  'priority',
  'window',
];

/** The members that `steady.fetch` and `steady.json` take besides. */
const own = ['idempotencyKey', 'step', 'timeout', 'idempotent', 'expect', 'policy', 'json'];

/**
 * For development: finds misspelt options, which fetch would ignore.
 *
 * @throws TypeError that names what was meant.
 */
export function checkInit(init: SteadyInit): void {
  checkMisnamed('steady.fetch', init, own, [...replacing, 'defaultExpect'], inPolicy(false));
}

/**
 * Copies the referrer of a Request into the init, unless the caller's init replaces something. We add members to the init,
 * and any member makes fetch forget the Request's referrer (Fetch, "new Request", step 13).
 */
export function keepReferrer<T extends RequestInit>(passed: Passed, init: T): T {
  if (!passed || replacing.some((name) => (init as Record<string, unknown>)[name] !== undefined))
    return init;
  const { referrer, referrerPolicy } = passed;
  return { ...init, referrer, referrerPolicy };
}

/**
 * Reads a little of each file before it is sent. For a file that was changed or removed, Firefox and WebKit would announce
 * its old length, and then send other bytes or wait for ever. Undefined if there is no file, and with `keepalive`, because
 * the page may be about to close.
 *
 * @throws TypeError for one that cannot be read.
 */
export function checkFiles(passed: Passed, init: RequestInit): Promise<void> | undefined {
  const hasFile = isEngine() && filesIn(init.body).some((file) => 'name' in file);
  return hasFile && !optionOf(passed, init, 'keepalive') ? requireReadable(init.body) : undefined;
}

async function requireReadable(body: unknown): Promise<void> {
  const error = await unreadableIn(body);
  if (error) throw error;
}
