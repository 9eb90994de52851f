import { joinOperation } from '../fetch/bind-fetch.ts';
import type { RawFetch } from '../fetch/send.ts';
import { reject } from '../lib/input/check.ts';
import { type Instance, instanceOfSteady } from './instance.ts';
import type { Steadfetch } from './steadfetch.ts';

/**
 * `steady.rawFetch` for the query or the mutation of a signal. Each request that it sends belongs to that query or
 * mutation and ends with the signal, even if the client passes another signal or none, and however late it sends.
 *
 * For a client that takes a `fetch` with each call. `linkClient` passes it to every call.
 *
 * @param signal - The signal of the `queryFn` or the `mutationFn`. Before their first `await`, any other signal will do.
 *
 * @throws TypeError when its first argument is not what `createSteadfetch` returns.
 *
 * @example
 * ```ts
 * import createClient from 'openapi-fetch';
 * import { createSteadfetch, rawFetchFor } from 'steadfetch';
 *
 * const steady = createSteadfetch();
 * const api = createClient<{ '/names': { get: { responses: object } } }>();
 * export const names = ({ signal }: { signal: AbortSignal }) =>
 *   api.GET('/names', { fetch: rawFetchFor(steady, signal) });
 * ```
 */
export function rawFetchFor(steady: Steadfetch, signal: AbortSignal | null | undefined): RawFetch {
  return fetchFor(instanceOfSteady(steady, 'rawFetchFor'), signal);
}

function fetchFor(
  { rawFetch, signals, operations }: Instance,
  signal: AbortSignal | null | undefined,
): RawFetch {
  if (!signal) return rawFetch;
  const operation = signals.get(signal) ?? operations.current;
  return async (input, init) =>
    rawFetch(input, joinOperation(signals, operation, signal, input, init));
}

/**
 * The same client, whose requests are linked to their query or mutation by the `signal` of the call. This also works
 * after an `await`, behind middleware, and if the client makes a `Request`. Each call with a `signal`, and without a
 * `fetch` of its own, gets the `rawFetch` of the signal's query or mutation. So it is for a client that takes a `fetch`
 * with each call: openapi-fetch, ky, Hey API. A client that it makes itself, as by `ky.extend`, is linked, too.
 *
 * A browser does not tell from which signal the signal of a `Request` was made. Without this link, a request that
 * openapi-fetch sends after an `await` belongs to no operation: it gets no idempotency key, and not the policy of its
 * query.
 *
 * @throws TypeError when its first argument is not what `createSteadfetch` returns, or its second is no client.
 *
 * @example
 * ```ts
 * import createClient from 'openapi-fetch';
 * import { createSteadfetch, linkClient } from 'steadfetch';
 *
 * const steady = createSteadfetch();
 * export const api = linkClient(steady, createClient<object>({ fetch: steady.rawFetch }));
 * ```
 */
export function linkClient<T extends object>(steady: Steadfetch, client: T): T {
  const instance = instanceOfSteady(steady, 'linkClient');
  if (!isMember(client)) reject('linkClient', 'its second argument', client, 'a client');
  /** By the member, and by its proxy. */
  const links = new WeakMap<object, { readonly member: object; readonly proxy: object }>();
  const handler: ProxyHandler<object> = {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      const { configurable = true } = Reflect.getOwnPropertyDescriptor(target, key) ?? {};
      // A proxy must return a frozen member unchanged.
      return isMember(value) && configurable && typeof key === 'string' ? link(value) : value;
    },
    apply(target, caller, args: unknown[]) {
      // A proxy as `this` could not read private fields.
      const self: unknown = links.get(caller as object)?.member ?? caller;
      const given = args.map((arg) => withFetch(instance, arg));
      const made: unknown = Reflect.apply(target as () => unknown, self, given);
      // Another client, as `ky.extend` returns it.
      return typeof made === 'function' ? link(made) : made;
    },
  };
  const link = <M extends object>(member: M): M => {
    let known = links.get(member);
    if (!known) {
      known = { member, proxy: new Proxy(member, handler) };
      links.set(member, known).set(known.proxy, known);
    }
    return known.proxy as M;
  };
  return link(client);
}

const isMember = (value: unknown): value is object =>
  typeof value === 'function' || (typeof value === 'object' && value !== null);

/** The options of a call, with the `fetch` of its query or mutation. */
function withFetch(instance: Instance, arg: unknown): unknown {
  if (!isMember(arg)) return arg;
  const prototype: unknown = Object.getPrototypeOf(arg);
  const isPlain = prototype === Object.prototype || prototype === null;
  const { signal, fetch } = arg as { readonly signal?: Partial<AbortSignal>; fetch?: unknown };
  // The data of an app may have a field of that name.
  const isSignal = typeof signal?.addEventListener === 'function';
  if (!isPlain || fetch !== undefined || !isSignal) return arg;
  return { ...arg, fetch: fetchFor(instance, signal as AbortSignal) };
}
