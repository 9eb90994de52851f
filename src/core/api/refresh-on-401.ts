import type { FetchContext } from '../fetch/attempt/attempt.ts';
import { type Extension, renewableAt } from '../fetch/extension.ts';
import { inGivenForm, isStream, readHeaders } from '../fetch/init.ts';
import { reportOf } from '../operation/error-info.ts';
import type { Live } from '../operation/parts/session.ts';
import { whyRetry } from '../policy/decide.ts';
import type { HttpFailure } from '../policy/outcome.ts';
import type { SteadyRequest } from '../fetch/request.ts';
import { followRedirects, keepCredentials } from './redirects.ts';
import { textOf } from '../lib/input/callback.ts';
import { checkNames, reject } from '../lib/input/check.ts';
import { code, type MadeBy } from '../lib/input/made-by.ts';
import { untilAborted, withLimit } from '../lib/timer.ts';
import { warn } from '../lib/input/warn.ts';
import { inDevelopment } from '../lib/development.ts';

/** The options of {@link refreshOn401}. */
export interface RefreshOptions {
  /**
   * Returns the headers that carry the credentials. Called whenever a request is about to be sent; they
   * replace headers of the same name. If it throws, or takes longer than `timeoutMs`, the request is sent
   * without them.
   *
   * @default none: the credentials are cookies, or another part of the app sets them
   */
  readonly headers?: (() => HeadersInit | Promise<HeadersInit>) | undefined;
  /**
   * Gets new credentials, and resolves once `headers` returns them or the cookie is set. Resolve with `false`
   * if there are none; reject if the login server could not be reached. Either way the caller gets the 401. After a
   * rejection an outbox entry waits. All else is retried if the error is one of the
   * network, or has a status that passes, such as 503. Pass its `signal` on: it aborts after `timeoutMs` and at a log-out,
   * and a request that carries it is never refreshed itself.
   */
  readonly refresh: (context: RefreshContext) => unknown;
  /** How long a refresh may take, in milliseconds. @default 10000 */
  readonly timeoutMs?: number | undefined;
}

/** The argument of `refresh`. */
export interface RefreshContext {
  /** Aborted when the refresh takes too long, or its session ends. */
  readonly signal: AbortSignal;
}

/** The pause after a failed refresh. It doubles with each failure. */
const leastPauseMs = 1000;
const greatestPauseMs = 60_000;
/** An endpoint that answers 401 to new credentials, too, causes no refresh for this long. */
const refusedMs = 60_000;
/** At most this many such endpoints are remembered. */
const maxRefused = 100;

/** The credentials that a request was sent with. */
interface Signed {
  /** The number of refreshes before it. */
  readonly epoch: number;
  readonly text: string;
  /** True for the resend after a 401. */
  readonly isAgain: boolean;
  /** True if the body cannot be sent again. */
  readonly isOnce: boolean;
  /** The request without the credentials. */
  readonly init: RequestInit;
  /** The credentials that redirects must not pass on. */
  readonly kept: Headers | undefined;
}

/**
 * Answers a 401 with one refresh for all requests of an API that are in flight, and then sends each of them
 * once more: `apis: [{ match, auth: refreshOn401({ … }) }]`.
 *
 * The caller gets the 401 if the resend is answered 401 too, or if the refresh fails, hangs, or failed a
 * moment ago. The request is sent again unchanged, with the same body and idempotency key: a 401 means that
 * it was not processed. Only a stream body cannot be sent twice.
 *
 * Two profiles with the same value share their refreshes. The credentials go only to what `match` fits. When
 * a redirect leads elsewhere, browsers drop `Authorization` but no other header. With any other header, a
 * redirect from the page's own origin to another fails, and a redirect of another origin is refused.
 * `redirect: 'follow'` on the request allows it.
 *
 * @throws TypeError for an invalid option.
 *
 * @example
 * ```ts
 * import { createSteadfetch, refreshOn401 } from 'steadfetch';
 *
 * let accessToken = '';
 *
 * export const steady = createSteadfetch({
 *   apis: [
 *     {
 *       match: 'https://api.example',
 *       auth: refreshOn401({
 *         headers: () => ({ authorization: `Bearer ${accessToken}` }),
 *         async refresh({ signal }) {
 *           const response = await fetch('https://login.example/token', { method: 'POST', signal });
 *           const { ok, status } = response;
 *           if (status >= 500) throw Object.assign(new Error('The login server is down.'), { status });
 *           if (ok) accessToken = await response.text();
 *           return ok;
 *         },
 *       }),
 *     },
 *   ],
 * });
 * ```
 */
export function refreshOn401(options: RefreshOptions): MadeBy<'refreshOn401'> {
  inDevelopment(() => check(options));
  const credentials = new Credentials(options);
  const refused = new Map<string, number>();

  const made: Extension & { readonly by: 'refreshOn401' } = {
    by: 'refreshOn401',
    async prepare(context, request, init) {
      const begin = async (): Promise<RequestInit> => {
        const kept = await credentials.keepBody(context, request, init);
        return credentials.sign(context, request, { ...kept, isAgain: false });
      };
      // An abort is reported when the request is admitted.
      return untilAborted(request.signal, begin()).catch(() => init);
    },
    follow(attempt, response) {
      const { context, request } = attempt;
      const { kept } = credentials.signed(request) ?? {};
      if (!kept) return undefined;
      const isFitting = (url: string): boolean => context.findApi(url)?.auth === request.api?.auth;
      return followRedirects(attempt, response, kept, isFitting);
    },
    async recover(attempt, failure, response) {
      const { context, request } = attempt;
      const { endpoint, signal: caller } = request;
      const signed = credentials.signed(request);
      const isOwn = credentials.isRefreshing(caller);
      if (failure.status !== 401 || !signed || isOwn) return undefined;
      if (signed.isAgain) {
        if (refused.size >= maxRefused) refused.clear();
        refused.set(endpoint, context.clock.now() + refusedMs);
        return undefined;
      }
      // The refresh holds no concurrency slot.
      attempt.sending?.end(failure, undefined, response);
      const mayStart = context.clock.now() >= (refused.get(endpoint) ?? 0);
      const renewal = credentials.renew(context, signed, mayStart);
      const isNew = await untilAborted(caller, renewal).catch(() => false);
      if (!isNew) credentials.explain(failure, context.clock.now());
      if (!isNew || signed.isOnce || caller?.aborted) return undefined;
      attempt.endForResend(failure, response);
      const signing = credentials.sign(context, request, { ...signed, isAgain: true });
      return { resend: await untilAborted(caller, signing).catch(() => signed.init) };
    },
  };
  return { [code]: made };
}

/**
 * Whether a refresh that was rejected with this may succeed later: the network failed, or the server does. In most apps an
 * error that says neither means a session that has expired.
 */
function isPassing(error: unknown, nowMs: number): boolean {
  const { failure } = reportOf(error, nowMs);
  if (failure.kind !== 'error') return !!whyRetry(failure);
  const { name, cause } = Object(error) as Partial<Error>;
  // `fetch` rejects with a TypeError, which some clients wrap.
  const names = [name, (Object(cause) as Partial<Error>).name];
  return names.includes('TypeError') || names.includes('TimeoutError');
}

/** The credentials of an API, the requests that carry them, and the one refresh of them that runs at a time. */
class Credentials {
  /** The error of the last refresh, if it was rejected: the login server could not be reached. */
  #unreached: { readonly error: unknown } | undefined;
  /** After a failed refresh, no other starts before. */
  #pausedUntil = -Infinity;
  readonly #options: RefreshOptions;
  readonly #signed: WeakMap<SteadyRequest, Signed> = new WeakMap();
  /** The signals of refreshes. */
  readonly #own: WeakSet<AbortSignal> = new WeakSet();
  /** Counts the refreshes that succeeded. */
  #epoch = 0;
  #running: Promise<boolean> | undefined;
  #failures = 0;
  /** The credentials that the last failed refresh left. */
  #failedText: string | undefined;

  constructor(options: RefreshOptions) {
    this.#options = options;
  }

  /** Whether it is the signal of a refresh, whose own 401 refreshes nothing. */
  isRefreshing(signal: AbortSignal | undefined): boolean {
    return !!signal && this.#own.has(signal);
  }

  /** How a request was last sent; undefined if it was not signed. */
  signed(request: SteadyRequest): Signed | undefined {
    return this.#signed.get(request);
  }

  /** Sets the current credentials on the request, and remembers them. */
  async sign(
    context: FetchContext,
    request: SteadyRequest,
    unsigned: Pick<Signed, 'init' | 'isOnce' | 'isAgain'>,
  ): Promise<RequestInit> {
    const { init } = unsigned;
    const { given, ...version } = await this.#read(context);
    const all = readHeaders(request.passed, init);
    for (const [name, value] of given) all.set(name, value);
    const guarded = context.client
      ? { credentialNames: [...given.keys()] }
      : keepCredentials(request, init, given);
    const kept = context.client || !guarded ? undefined : given;
    this.#signed.set(request, { ...unsigned, ...version, kept });
    return { ...init, ...guarded, headers: inGivenForm(init.headers, all) };
  }

  /** Replaces the body of a Request, which can be sent once, by one that can be sent again. */
  async keepBody(
    context: FetchContext,
    { passed, method }: SteadyRequest,
    init: RequestInit,
  ): Promise<Pick<Signed, 'init' | 'isOnce'>> {
    if (!passed || init.body !== undefined || /^(GET|HEAD)$/.test(method))
      return { init, isOnce: isStream(init.body) };
    try {
      const body = await this.#callWithLimit(context, () => passed.clone().blob());
      return { init: body.size > 0 ? { ...init, body } : init, isOnce: false };
    } catch {
      // The body cannot be copied. Sending the Request itself reports why.
      return { init, isOnce: true };
    }
  }

  /** Reads the current credentials. `text` and `epoch` tell later whether they are still the same. */
  async #read(
    context: FetchContext,
  ): Promise<Pick<Signed, 'epoch' | 'text'> & { readonly given: Headers }> {
    const epoch = this.#epoch;
    const given = await this.#readHeaders(context);
    return { epoch, text: JSON.stringify([...given]), given };
  }

  /** Refreshes them, unless they are other than the refused ones already. @returns whether there are others. */
  async renew(
    context: FetchContext,
    { epoch, text }: Pick<Signed, 'epoch' | 'text'>,
    mayStart: boolean,
  ): Promise<boolean> {
    if (epoch !== this.#epoch || (await this.#read(context)).text !== text) return true;
    const isPaused = context.clock.now() < this.#pausedUntil && text === this.#failedText;
    if (!this.#running && (isPaused || !mayStart)) return false;
    this.#running ??= this.#refresh(context).finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Marks a 401 as one that passes, if the login server could not be reached. */
  explain(failure: HttpFailure, nowMs: number): void {
    if (!this.#unreached) return;
    renewableAt.set(failure, this.#pausedUntil);
    if (!isPassing(this.#unreached.error, nowMs)) return;
    const retryAfterMs = Math.max(0, this.#pausedUntil - nowMs);
    Object.assign(failure, { shouldRetry: true, retryAfterMs });
  }

  /** Runs work with a signal that is aborted at the time limit. */
  #callWithLimit<T>(
    context: FetchContext,
    work: (signal: AbortSignal) => T | Promise<T>,
    controller: AbortController = new AbortController(),
  ): Promise<T> {
    const { timeoutMs = defaultMs } = this.#options;
    const expire = (): Error => {
      const reason = new DOMException(`it has not settled within ${timeoutMs} ms`, 'TimeoutError');
      controller.abort(reason);
      return reason;
    };
    return withLimit<T | Promise<T>>(context, () => work(controller.signal), expire, timeoutMs);
  }

  async #readHeaders(context: FetchContext): Promise<Headers> {
    const { headers } = this.#options;
    try {
      return new Headers(headers && (await this.#callWithLimit(context, headers)));
    } catch (error) {
      this.#warn('headers', error, 'requests are sent without credentials');
      return new Headers();
    }
  }

  async #refresh(context: FetchContext): Promise<boolean> {
    const { clock, random, operations } = context;
    const { session } = operations;
    const controller = new AbortController();
    const live: Live = { endSession: () => controller.abort() };
    operations.live.add(live);
    try {
      const callRefresh = (signal: AbortSignal): unknown => {
        this.#own.add(signal);
        return this.#options.refresh({ signal });
      };
      const said = await this.#callWithLimit(context, callRefresh, controller);
      this.#unreached = undefined;
      if (said !== false) {
        this.#epoch++;
        this.#failures = 0;
        return true;
      }
    } catch (error) {
      if (session.isOver) return false;
      this.#unreached = { error };
      this.#warn(
        'refresh',
        error,
        isPassing(error, clock.now()) ? 'it is tried again' : 'the caller gets the 401',
      );
    } finally {
      operations.live.delete(live);
    }
    this.#failedText = (await this.#read(context)).text;
    const pauseMs = Math.min(greatestPauseMs, leastPauseMs * 2 ** this.#failures++);
    // Spread, so that not all tabs refresh at once.
    this.#pausedUntil = clock.now() + pauseMs * (1 + random() / 2);
    return false;
  }

  #warn(option: string, error: unknown, effect: string): void {
    inDevelopment(() => {
      const message = `refreshOn401: ${option} failed (${textOf(error)}); ${effect}.`;
      warn(this.#options, option, message, 'apis/credentials.md#options');
    });
  }
}

const defaultMs = 10_000;

function check(options: RefreshOptions): void {
  const operation = 'refreshOn401';
  checkNames(operation, options, ['headers', 'refresh', 'timeoutMs'], {
    timeout: 'timeoutMs',
    refreshToken: 'refresh',
    token: 'headers',
  });
  const { headers, refresh, timeoutMs = defaultMs } = options;
  if (typeof refresh !== 'function') reject(operation, 'refresh', refresh, 'a function');
  if (headers !== undefined && typeof headers !== 'function')
    reject(operation, 'headers', headers, 'a function that returns them');
  if (!(timeoutMs >= 1 && timeoutMs <= 2 ** 31 - 1))
    reject(operation, 'timeoutMs', timeoutMs, `a number from 1 to ${2 ** 31 - 1}`);
}
