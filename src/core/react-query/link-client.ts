import { joinOperation } from '../fetch/bind-fetch.ts';
import type { RawFetch } from '../fetch/fetch.ts';
import { reject } from '../lib/input/check.ts';
import { type Instance, instanceOfSteady } from './instance.ts';
import type { Steadfetch } from './steadfetch.ts';

/**
 * `steady.rawFetch` for the query or the mutation that a signal is of. Whatever it sends belongs to that, and ends
 * with the signal: also where the client gives it another signal, or none, and however late it sends.
 *
 * For a client that takes a `fetch` with each call. `linkClient` gives it to every call.
 *
 * @param signal - That of the `queryFn` or the `mutationFn`. In the part of them before the first `await`, any other
 * will do.
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
 * The same client, whose requests are known by the `signal` that its calls are given, also where the client makes a
 * `Request` of it: after an `await`, and behind middleware. It gives every call that has a `signal`, and no `fetch`
 * of its own, the `rawFetch` of the query or mutation that the signal is of. So it is for a client that takes a
 * `fetch` with each call: openapi-fetch, ky, Hey API. What it makes of itself, as by `ky.extend`, is linked, too.
 *
 * A browser does not tell which signal that of a `Request` was made from. Without this, a request that openapi-fetch
 * sends after an `await` belongs to no operation: it gets no idempotency key, and no policy of its query.
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
  /** By the member, and by the proxy that stands for it. */
  const links = new WeakMap<object, { readonly member: object; readonly proxy: object }>();
  const handler: ProxyHandler<object> = {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      const { configurable = true } = Reflect.getOwnPropertyDescriptor(target, key) ?? {};
      // A proxy must return a frozen member unchanged.
      return isMember(value) && configurable && typeof key === 'string' ? link(value) : value;
    },
    apply(target, caller, args: unknown[]) {
      // Its own fields may be private.
      const self: unknown = links.get(caller as object)?.member ?? caller;
      const given = args.map((arg) => withFetch(instance, arg));
      const made: unknown = Reflect.apply(target as () => unknown, self, given);
      // Another client, as that of `ky.extend`.
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

/** The options of a call, with a fetch that knows whose they are. */
function withFetch(instance: Instance, arg: unknown): unknown {
  if (!isMember(arg)) return arg;
  const prototype: unknown = Object.getPrototypeOf(arg);
  const isPlain = prototype === Object.prototype || prototype === null;
  const { signal, fetch } = arg as { readonly signal?: unknown; readonly fetch?: unknown };
  if (!isPlain || fetch !== undefined || !isMember(signal)) return arg;
  return { ...arg, fetch: fetchFor(instance, signal as AbortSignal) };
}
