import { checkNames, reject } from '../lib/input/check.ts';
import { firstOf } from '../lib/abort.ts';
import { type Instance, instanceOfSteady } from '../react-query/instance.ts';
import type { Steadfetch } from '../react-query/steadfetch.ts';
import { bodyOf } from './body.ts';
import { toAxiosError } from './errors.ts';
import { listHeaders } from './headers.ts';
import { type AxiosInit, clientOf, failureOf, finish, type OpenStream, type Sent } from './send.ts';
import type { Answer, Axios, AxiosStaticLike, Config, InnerAdapter } from './types.ts';
import { readTarget } from './url.ts';

/** An adapter as axios takes it, of any version. */
export type SteadyAxiosAdapter = (config: object) => Promise<never>;

/** How requests by axios are sent. */
export interface SteadyAdapterOptions {
  /**
   * Whose time limit a request has that has no `timeout` of its own. axios' 0, which is also its default,
   * means none: `axios` keeps to that. With `policy` it is the `timeout` of the policy, and each progress of
   * the upload or the download starts it anew. A `timeout` of axios' own always counts.
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

/** The adapters that this has made, with what they stand on: one within another would send twice. */
const inners = new WeakMap<object, unknown>();

/**
 * An adapter for axios: every request passes the admission of its origin, and is paused while that is
 * down, rate-limited or offline. It gets its idempotency key, its outcome is known to the policy, and events
 * tell of it. axios' own adapter sends it, so everything else is as axios documents it: interceptors,
 * transforms, `validateStatus`, progress, cancelling, `timeout`. A failure is an AxiosError as ever, also of a
 * request that was not sent: its `cause` is then the error of Steadfetch.
 *
 * Pass React Query's `signal`: by it the request belongs to its query. Where axios is mocked by a default
 * adapter of its own, that sends.
 *
 * @param axios - axios itself, not an instance: what sends is its default adapter of this moment.
 * @throws TypeError when one of them is not what it must be.
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
  if (process.env.NODE_ENV !== 'production') check(options);
  const isByPolicy = options.timeout === 'policy';
  let own: unknown = client.defaults.adapter;
  while (typeof own === 'function' && inners.has(own)) own = inners.get(own);
  const fetch = instance.fetchBy(clientOf(client));

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

/** What sends: axios' own adapter, by the name under which that is known. */
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
    // Not in this environment.
  }
  return { inner, sender: inner === native ? name : undefined };
}

/**
 * A stream of Node is read after its request has ended: until it has, too, the caller can abort it, and its time
 * is none that the attempt spends on something else.
 */
function holdOpen(
  { signals }: Instance,
  { stream, sender, caller }: OpenStream,
  release: () => void,
): void {
  const endRequest = caller && signals.get(caller)?.attemptLimit?.beginRequest();
  const abort = (): void => {
    if (stream.destroyed) return;
    // Without a listener, its error would end the process.
    const isHeard = stream.listenerCount('error') > 0;
    stream.destroy(
      isHeard ? Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' }) : undefined,
    );
    // It may be what an answer is unpacked by.
    sender?.destroy?.();
  };
  // After axios, which does so itself from 1.0 on.
  const onAbort = (): void => queueMicrotask(abort);
  caller?.addEventListener('abort', onAbort);
  stream.once('close', () => {
    caller?.removeEventListener('abort', onAbort);
    endRequest?.();
    release();
  });
}

/** The signal of a request, and what lets go of it: a CancelToken is one, too. */
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
