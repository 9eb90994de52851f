import { checkNames, reject } from '../core/lib/input/check.ts';
import { firstOf } from '../core/lib/abort.ts';
import { createFetch, instanceOfSteady, type Instance, type Steadfetch } from '../core/internal.ts';
import { bodyOf } from './body.ts';
import { toAxiosError } from './errors.ts';
import { listHeaders } from './headers.ts';
import { type AxiosInit, clientOf, failureOf, finish, type OpenStream, type Sent } from './send.ts';
import type { Answer, Axios, AxiosStaticLike, Config, InnerAdapter } from './types.ts';
import { readTarget } from './url.ts';
import { inDevelopment } from '../core/lib/development.ts';

/** An axios adapter, in the form of any version. */
export type SteadyAxiosAdapter = (config: object) => Promise<never>;

/** The options of {@link steadyAdapter}. */
export interface SteadyAdapterOptions {
  /**
   * The time limit of a request without a `timeout` of its own. axios's 0, which is also its default, means
   * none: `axios` keeps to that. `policy` applies the `timeout` of the policy, and each progress event of the
   * upload or download restarts it. A `timeout` set in axios always counts.
   *
   * @default 'axios'
   *
   * @example
   * ```ts
   * import axios from 'axios';
   * import { createSteadfetch } from 'steadfetch';
   * import { steadyAdapter } from 'steadfetch/axios';
   *
   * const steady = createSteadfetch({ policy: { timeout: 15_000 } });
   * export const api = axios.create({ adapter: steadyAdapter(steady, axios, { timeout: 'policy' }) });
   * ```
   */
  readonly timeout?: 'axios' | 'policy' | undefined;
}

/** The adapters created here, with the adapter that each uses: one inside another would send twice. */
const inners = new WeakMap<object, unknown>();

/**
 * An adapter for axios. Every request passes the admission of its origin, and is paused while that is down,
 * rate-limited or offline. It gets its idempotency key, its outcome reaches the policy, and it appears in the
 * events. axios's own adapter sends it, so everything else is as axios documents it: interceptors,
 * transforms, `validateStatus`, progress, cancelling, `timeout`. A failure is an AxiosError, even for a
 * request that was not sent: its `cause` is then the error of Steadfetch, and its `response` the answer by which
 * its server has closed, if that was one.
 *
 * Pass React Query's `signal`: it links the request to its query. If a mock replaces axios's default adapter,
 * the mock sends.
 *
 * @param axios - axios itself, not an instance. Its current default adapter sends.
 * @throws TypeError for a wrong argument.
 *
 * @example
 * ```ts
 * import axios from 'axios';
 * import { createSteadfetch } from 'steadfetch';
 * import { steadyAdapter } from 'steadfetch/axios';
 *
 * const steady = createSteadfetch();
 * export const api = axios.create({ baseURL: '/api', adapter: steadyAdapter(steady, axios) });
 * ```
 */
export function steadyAdapter(
  steady: Steadfetch,
  axios: AxiosStaticLike,
  options: SteadyAdapterOptions = {},
): SteadyAxiosAdapter {
  const instance = instanceOfSteady(steady, 'steadyAdapter');
  const client = axios as AxiosStaticLike & Axios;
  if (typeof client?.AxiosError !== 'function')
    reject('steadyAdapter', 'its second argument', axios, 'axios itself, from version 0.27 on');
  inDevelopment(() => check(options));
  const isByPolicy = options.timeout === 'policy';
  let own: unknown = client.defaults.adapter;
  while (typeof own === 'function' && inners.has(own)) own = inners.get(own);
  const { rawFetch: fetch } = createFetch({ ...instance.context, client: clientOf(client) });

  const adapter = async (given: object): Promise<Answer> => {
    const config: Config = given;
    const { method = 'get', timeout = 0 } = config;
    const { signal, release } = signalOf(instance, config);
    const isLimited = isByPolicy && !(timeout > 0);
    let sent: Sent | undefined;
    let isReleased = true;
    try {
      sent = {
        ...senderOf(client, own, config),
        given: config,
        target: readTarget(client, config),
        body: /^(get|head)$/i.test(method) ? null : bodyOf(config.data),
        headers: listHeaders(config.headers),
        caller: signal,
        isLimited,
      };
      const { target, body, headers } = sent;
      const init: AxiosInit & { readonly duplex: 'half' } = {
        method,
        headers,
        body,
        duplex: 'half',
        ...(signal && { signal }),
        timeout: isLimited ? undefined : Infinity,
        sent,
      };
      return await finish(sent, await fetch(target.url, init), (stream) => {
        isReleased = false;
        if (stream) holdOpen(instance, stream, release);
      });
    } catch (error) {
      throw sent
        ? failureOf(client, sent, error)
        : toAxiosError(client, config, error, undefined, signal?.aborted);
    } finally {
      if (isReleased) release();
    }
  };
  inners.set(adapter, own);
  return adapter as SteadyAxiosAdapter;
}

function check(options: SteadyAdapterOptions): void {
  checkNames('steadyAdapter', options, ['timeout'], { timeoutMs: 'timeout' });
  const { timeout = 'axios' } = options;
  if (timeout !== 'axios' && timeout !== 'policy')
    reject('steadyAdapter', 'timeout', timeout, 'axios or policy');
}

/** The adapter of axios that sends, with its name if it is a standard one. */
function senderOf(
  { getAdapter }: Axios,
  own: unknown,
  config: Config,
): Pick<Sent, 'inner' | 'sender'> {
  const hasXhr = typeof XMLHttpRequest !== 'undefined';
  const name = hasXhr ? 'xhr' : 'http';
  // In 0.x it is a function.
  if (!getAdapter) return { inner: own as InnerAdapter, sender: name };
  const inner = getAdapter(own, config);
  let native: unknown;
  try {
    native = getAdapter(name, config);
  } catch {
    // Not available in this environment.
  }
  return { inner, sender: inner === native ? name : undefined };
}

/**
 * Keeps a request open until its Node stream has been read: until then the caller can abort it, and the time
 * does not count as other work of the attempt.
 */
function holdOpen(
  { signals }: Instance,
  { stream, sender, caller }: OpenStream,
  release: () => void,
): void {
  const endRequest = caller && signals.get(caller)?.attemptLimit?.beginRequest();
  const abort = (): void => {
    if (stream.destroyed) return;
    // Without a listener, the error of the stream would end the process.
    const isHeard = stream.listenerCount('error') > 0;
    stream.destroy(
      isHeard ? Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' }) : undefined,
    );
    // The stream may only decompress the answer, so its source must end too.
    sender?.destroy?.();
  };
  // After axios, which aborts the stream itself from 1.0 on.
  const onAbort = (): void => queueMicrotask(abort);
  caller?.addEventListener('abort', onAbort);
  stream.once('close', () => {
    caller?.removeEventListener('abort', onAbort);
    endRequest?.();
    release();
  });
}

/** The signal of a request, which may also come from a CancelToken, and a function that releases it. */
function signalOf(
  { signals }: Instance,
  { signal: given, cancelToken }: Config,
): { readonly signal: AbortSignal | undefined; readonly release: () => void } {
  const signal = typeof given?.addEventListener === 'function' ? given : undefined;
  if (!cancelToken) return { signal, release: () => {} };
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  cancelToken.subscribe(abort);
  const both = signal ? firstOf([signal, controller.signal]) : controller.signal;
  const operation = signal && signals.get(signal);
  if (operation) signals.set(both, operation);
  return { signal: both, release: () => cancelToken.unsubscribe(abort) };
}
