import {
  instanceOfSteady,
  originStatus,
  watchOrigins,
  type Instance,
  type OriginState,
  type Origins,
  type Steadfetch,
} from '../core/internal.ts';
import { notifyApp } from '../core/lib/input/callback.ts';
import { keepIfSame, type Readable } from '../core/lib/store.ts';
import { originOf, toUrl } from '../core/lib/input/url.ts';
import { reject } from '../core/lib/input/check.ts';

/** An endpoint that is down. */
export interface EndpointHealth {
  /** The endpoint: method and path, with ids folded, or the name from its API's profile. */
  readonly endpoint: string;
  /** The declared partition of the origin; undefined without one. */
  readonly partition: string | undefined;
  /** Since when, in epoch milliseconds. */
  readonly downSince: number;
}

/** The state of one origin, and its endpoints that are down. */
export interface OriginHealthState extends OriginState {
  readonly origin: string;
  /** The endpoints that went down since the call of `watchHealth`. */
  readonly down: readonly EndpointHealth[];
}

/** The origins of recent requests, in the order of their first request. */
export type HealthState = readonly OriginHealthState[];

/** Requests since the call of `watchHealth`. */
export interface RequestTotals {
  /** Requests that were sent. */
  readonly requests: number;
  /** Requests that did not succeed, not counting those that the caller aborted. */
  readonly failures: number;
}

/** The requests to one origin, and to each of its endpoints. */
export interface OriginTotals extends RequestTotals {
  readonly origin: string;
  /** At most 100 endpoints: later ones count only for their origin. */
  readonly endpoints: readonly (RequestTotals & { readonly endpoint: string })[];
}

/** The health of all origins: read it, watch it, and reset it by hand. */
export interface WatchedHealth extends Readable<HealthState> {
  /** The current counts, in the order of the first request, as an immutable value. */
  readonly totals: () => readonly OriginTotals[];
  /**
   * Forgets the outages of one origin, or of all, in this tab. Paused requests are then sent one after the
   * other, and show at once whether it is still down. A Retry-After or a rate limit stays, because the server
   * set it.
   *
   * @throws TypeError for an invalid URL.
   */
  readonly reset: (origin?: string) => void;
  /** Ends the watch. */
  readonly stop: () => void;
}

const none: readonly EndpointHealth[] = [];
const maxEndpoints = 100;

/** Counts the requests of an instance. */
function countRequests({ emitter }: Pick<Instance, 'emitter'>) {
  type Count = { requests: number; failures: number };
  const origins = new Map<
    string,
    { readonly own: Count; readonly endpoints: Map<string, Count> }
  >();
  const zero = (): Count => ({ requests: 0, failures: 0 });
  const stop = emitter.subscribe((event) => {
    if (event.type !== 'request:start' && event.type !== 'request:end') return;
    const origin = originOf(event.url);
    const known = origins.get(origin) ?? { own: zero(), endpoints: new Map<string, Count>() };
    origins.set(origin, known);
    const { own, endpoints } = known;
    const isNew = !endpoints.has(event.endpoint) && endpoints.size < maxEndpoints;
    if (isNew) endpoints.set(event.endpoint, zero());
    for (const count of [own, endpoints.get(event.endpoint)]) {
      if (!count) continue;
      if (event.type === 'request:start') count.requests++;
      else if (event.outcome.kind !== 'ok' && event.outcome.kind !== 'aborted') count.failures++;
    }
  });
  const totals = (): readonly OriginTotals[] =>
    [...origins].map(([origin, { own, endpoints }]) => ({
      origin,
      ...own,
      endpoints: [...endpoints].map(([endpoint, count]) => ({ endpoint, ...count })),
    }));
  return { totals, stop };
}

/**
 * Watches the health of origins and endpoints: for a status page, a support tool, or a button that ends an
 * outage by hand. Call it at start-up, because it sees only endpoints that go down after the call.
 *
 * @throws TypeError if the argument is not from `createSteadfetch`.
 *
 * @example
 * ```ts
 * const health = watchHealth(steady);
 * health.subscribe(() => console.table(health.getState()));
 * health.reset('https://api.example');
 * ```
 */
export function watchHealth(steady: Steadfetch): WatchedHealth {
  const instance = instanceOfSteady(steady, 'watchHealth');
  const { origins, wall } = instance;
  const counted = countRequests(instance);
  const states = new Map<string, Readable<OriginState>>();
  const down = new Map<string, readonly EndpointHealth[]>();
  /** The listeners, each with the function that ends its subscription. */
  const listeners = new Map<() => void, () => void>();
  let shown: HealthState = [];

  const stateOf = (origin: string): OriginState => {
    const state = states.get(origin) ?? originStatus(origins, origin);
    states.set(origin, state);
    return state.getState();
  };
  const getState = (): HealthState => {
    const known = [...new Set(origins.known())];
    const next = known.map((origin, index) =>
      keepIfSame(shown[index], { ...stateOf(origin), origin, down: down.get(origin) ?? none }),
    );
    const isSame = next.length === shown.length && next.every((one, at) => one === shown[at]);
    return (shown = isSame ? shown : next);
  };
  const stop = onOutage(origins, ({ origin, partition, endpoint, downMs }) => {
    if (endpoint !== undefined) {
      const place = { endpoint, partition };
      const others = (down.get(origin) ?? none).filter(
        (one) => one.endpoint !== endpoint || one.partition !== partition,
      );
      const isDown = downMs === undefined;
      down.set(origin, isDown ? [...others, { ...place, downSince: wall.now() }] : others);
    }
    for (const notify of listeners.keys()) notifyApp(notify, undefined);
  });

  return {
    getState,
    totals: counted.totals,
    subscribe(listener) {
      const notify = (): void => listener();
      const unwatch = watchOrigins(origins, notify);
      const end = (): void => {
        if (listeners.delete(notify)) unwatch();
      };
      listeners.set(notify, end);
      return end;
    },
    reset(origin) {
      if (origin !== undefined && !toUrl(origin))
        reject('health.reset', 'its argument', origin, 'a URL, or left out');
      endOutages(origins, origin);
    },
    stop() {
      stop();
      counted.stop();
      for (const end of listeners.values()) end();
    },
  };
}

/** An origin, or an endpoint of it. */
interface Scope {
  readonly origin: string;
  /** The declared partition of the origin; undefined without one. */
  readonly partition: string | undefined;
  /** Undefined for the origin itself. */
  readonly endpoint: string | undefined;
}

/** The start or end of an outage. */
interface Outage extends Scope {
  /** How long the outage lasted, in milliseconds; undefined at its start. */
  readonly downMs: number | undefined;
}

/** Calls the listener at each start and end of an outage, until the returned function is called. */
export function onOutage(
  { outages }: Pick<Origins, 'outages'>,
  listener: (outage: Outage) => void,
): () => void {
  const notify = (key: string, scope: string, downMs?: number): void =>
    notifyApp(listener, { ...scopeOf(key, scope), downMs });
  outages.add(notify);
  return () => void outages.delete(notify);
}

/** Calls the listener when this tab starts or stops probing for all tabs, until the returned function is called. */
export function onLead(
  { leaders }: Pick<Origins, 'leaders'>,
  listener: (lead: Scope & { readonly isLeader: boolean }) => void,
): () => void {
  const notify = (key: string, scope: string, isLeader: boolean): void =>
    notifyApp(listener, { ...scopeOf(key, scope), isLeader });
  leaders.add(notify);
  return () => void leaders.delete(notify);
}

function scopeOf(key: string, scope: string): Scope {
  const [origin = ''] = key.split(' ');
  const partition = key.slice(origin.length + 1) || undefined;
  // The empty scope is the origin itself.
  return { origin, partition, endpoint: scope || undefined };
}

/** Forgets the outages of one origin, or of all. */
function endOutages({ admissions }: Pick<Origins, 'admissions'>, url?: string): void {
  for (const [key, admission] of admissions) {
    if (url !== undefined && key.split(' ')[0] !== originOf(url)) continue;
    const { health } = admission.origin;
    for (const { scope } of health.down()) admission.outcomes.recover(health.recover(scope));
    admission.reconsider();
  }
}
