import { onlineManager, type QueryClient, type QueryKey } from '@tanstack/react-query';
import { plainKey } from '../core/lib/json.ts';
import {
  instanceOfSteady,
  mutationStatus,
  queryStatus,
  runOf,
  stateOf,
  type AnyPauseReason,
  type Instance,
  type Operation,
  type OperationRef,
  type Origin,
  type RetryReason,
  type Steadfetch,
  type StopReason,
} from '../core/internal.ts';
import { endpointsOf, type InspectedEndpoint, probedBy } from './endpoints.ts';

/** The state of one origin, or of a declared partition of it. */
export interface InspectedOrigin {
  readonly origin: string;
  readonly partition: string | undefined;
  readonly status: 'up' | 'recovering' | 'down' | 'rate-limited';
  /** When it went down, in epoch milliseconds; undefined while it is up. */
  readonly downSince: number | undefined;
  /** When it is next tried, or accepts requests again, in epoch milliseconds; undefined when not known. */
  readonly retryAt: number | undefined;
  /** The tab that probes; undefined if nothing is down, or no request waits for it. */
  readonly probedBy: 'this-tab' | 'another-tab' | undefined;
  /** The number of attempts that wait. */
  readonly waiting: number;
  /** The number of attempts whose headers have not arrived. */
  readonly inFlight: number;
  /** The limit of `limitConcurrency`; undefined without one. */
  readonly maxInFlight: number | undefined;
  readonly endpoints: readonly InspectedEndpoint[];
  readonly limits: readonly InspectedLimit[];
}

/** A rate limit that the server has announced. */
export interface InspectedLimit {
  /** The endpoint or API that it applies to, by name. */
  readonly scope: string;
  /** Until when requests wait, in epoch milliseconds; undefined if none has to wait. */
  readonly pausedUntil: number | undefined;
  /** The number of requests left until `resetAt`; undefined when not known. */
  readonly remaining: number | undefined;
  readonly resetAt: number | undefined;
}

/** An operation in progress. */
export interface InspectedOperation {
  /** The id in its events; undefined before its first attempt, and for a plain mutation without a failure. */
  readonly id: number | undefined;
  readonly kind: OperationRef['kind'];
  /** The JSON form of the key: a BigInt in it is text here. */
  readonly queryKey: QueryKey | undefined;
  readonly mutationKey: QueryKey | undefined;
  readonly status: 'sending' | 'waiting' | 'paused';
  /** The current attempt or, during a wait, the one that failed. */
  readonly attempt: number;
  /** The number of attempts that its policy allows; undefined when not known, or without a limit. */
  readonly maxAttempts: number | undefined;
  /** Why it waits or is paused. */
  readonly reason: RetryReason | StopReason | AnyPauseReason | undefined;
  /** When it continues, in epoch milliseconds; undefined when not known. */
  readonly retryAt: number | undefined;
  /** Its latest request: method and path, without the query string. */
  readonly request: string | undefined;
  /** The number of its requests that are paused. */
  readonly paused: number;
}

/** This tab's view of the tabs of the app. */
export interface InspectedTabs {
  /** Whether the instance was created with `tabs: shareAcrossTabs()`. */
  readonly areShared: boolean;
  /** Whether this tab is hidden. */
  readonly isHidden: boolean;
  /** Everything that is probed, and by which tab. */
  readonly probes: readonly {
    readonly origin: string;
    /** Undefined for the origin itself. */
    readonly endpoint: string | undefined;
    readonly by: 'this-tab' | 'another-tab';
  }[];
}

/** A snapshot as plain data, which can be cloned, posted to another page, or written as JSON. */
export interface Inspection {
  /** In epoch milliseconds, like all times. */
  readonly at: number;
  readonly isOffline: boolean;
  /** The origins of recent requests. */
  readonly origins: readonly InspectedOrigin[];
  /** The operations in progress. A lone `steady.fetch` is not one: its requests are in the events. */
  readonly operations: readonly InspectedOperation[];
  readonly tabs: InspectedTabs;
}

/**
 * The current state of an instance: its origins and endpoints, the operations in progress, and the tabs. An
 * immutable plain value for a bug report or a support page. To watch changes, use `subscribeAll` of
 * steadfetch/telemetry.
 *
 * @throws TypeError if the argument is not from `createSteadfetch`.
 *
 * @example
 * ```ts
 * import { createSteadfetch } from 'steadfetch';
 * import { inspect } from 'steadfetch/devtools';
 *
 * const steady = createSteadfetch();
 * export const report = () => JSON.stringify(inspect(steady), undefined, 2);
 * ```
 */
export function inspect(steady: Steadfetch): Inspection {
  const instance = instanceOfSteady(steady, 'inspect');
  return inspectInstance(instance, instance.lifecycle.clients());
}

/** The same for an instance's internals, with the queries and mutations of these clients. */
export function inspectInstance(instance: Instance, clients: readonly QueryClient[]): Inspection {
  const onWall = wallOf(instance);
  const own = [
    ...clients.flatMap((client) => queriesOf(client, instance, onWall)),
    ...clients.flatMap((client) => mutationsOf(client, instance, onWall)),
  ];
  const shown = new Set(own.map(({ id }) => id));
  for (const loop of instance.operations.loops)
    if (!shown.has(loop.ref.id) && loop.phase.kind !== 'ended') own.push(loopOf(loop, onWall));
  return { ...inspectOrigins(instance), operations: own };
}

/** A snapshot without operations, of which there may be thousands. */
export type OriginInspection = Omit<Inspection, 'operations'>;

export function inspectOrigins(instance: Instance): OriginInspection {
  const { clock, network, origins: all } = instance;
  const onWall = wallOf(instance);
  const origins = [...all.admissions].map(([key, { origin }]) => originAt(key, origin, onWall));
  return {
    at: clock.now() - (clock.setBackMs?.() ?? 0),
    isOffline: network.isOffline() || !onlineManager.isOnline(),
    origins,
    tabs: tabsOf(instance, origins),
  };
}

/** Times are shown by the wall clock, even if that was set. */
function wallOf({ clock }: Instance): OnWall {
  const setBackMs = clock.setBackMs?.() ?? 0;
  return (at) => (at === undefined || Math.abs(at) === Infinity ? undefined : at - setBackMs);
}

/** Converts to the wall clock; undefined for no time. */
type OnWall = (at: number | undefined) => number | undefined;

function originAt(key: string, own: Origin, onWall: OnWall): InspectedOrigin {
  const [origin = ''] = key.split(' ');
  const { health, inFlight, maxInFlight, limits } = own;
  const { status, retryAt, waiting } = stateOf(own);
  const endpoints = endpointsOf(own, onWall);
  const all = health.all()[0];
  const isAllDown = !!all?.outage;
  return {
    origin,
    partition: key.slice(origin.length + 1) || undefined,
    status,
    downSince:
      status === 'down'
        ? (onWall(all?.outage?.since) ?? endpoints.find((one) => one.downSince)?.downSince)
        : undefined,
    retryAt: onWall(retryAt),
    probedBy: isAllDown
      ? probedBy(own, all.scope)
      : endpoints.find((one) => one.probedBy !== undefined)?.probedBy,
    waiting,
    inFlight: inFlight.size,
    maxInFlight: maxInFlight < Infinity ? maxInFlight : undefined,
    endpoints,
    limits: [...limits.known].flatMap(([scope, { remaining, resetAt }]) => {
      const until = limits.pausedUntil([scope]);
      const isKnown = onWall(resetAt) !== undefined && remaining < Infinity;
      if (until === undefined && !isKnown) return [];
      return {
        scope,
        pausedUntil: onWall(until),
        remaining: isKnown ? Math.max(0, remaining) : undefined,
        resetAt: isKnown ? onWall(resetAt) : undefined,
      };
    }),
  };
}

type Shown = Pick<InspectedOperation, 'attempt' | 'reason' | 'retryAt'> & {
  readonly status: string;
  readonly maxAttempts: number;
};

/** The inspected operation; none if it has ended. */
function underWay(
  kind: OperationRef['kind'],
  { queryKey, mutationKey }: Pick<InspectedOperation, 'queryKey' | 'mutationKey'>,
  operation: Operation | undefined,
  { status, attempt, maxAttempts, reason, retryAt }: Shown,
  onWall: OnWall,
): InspectedOperation[] {
  if (status !== 'sending' && status !== 'waiting' && status !== 'paused') return [];
  return [
    {
      id: operation?.ref.id,
      kind,
      queryKey: plainKey(queryKey),
      mutationKey: plainKey(mutationKey),
      status,
      attempt,
      maxAttempts: maxAttempts > 0 && maxAttempts < Infinity ? maxAttempts : undefined,
      reason,
      retryAt: onWall(retryAt),
      request: operation?.route.at?.name.replace(/[?#].*/s, ''),
      paused: operation?.pauses.list.length ?? 0,
    },
  ];
}

function queriesOf(
  client: QueryClient,
  instance: Instance,
  onWall: OnWall,
): readonly InspectedOperation[] {
  return client
    .getQueryCache()
    .getAll()
    .flatMap((query) =>
      underWay(
        'query',
        { queryKey: query.queryKey, mutationKey: undefined },
        instance.byQuery.get(query),
        queryStatus(query, instance),
        onWall,
      ),
    );
}

function mutationsOf(
  client: QueryClient,
  instance: Instance,
  onWall: OnWall,
): readonly InspectedOperation[] {
  const cache = client.getMutationCache();
  return cache
    .getAll()
    .flatMap((mutation) =>
      underWay(
        'mutation',
        { queryKey: undefined, mutationKey: mutation.options.mutationKey },
        runOf(mutation)?.operation,
        mutationStatus(mutation, cache, instance, undefined),
        onWall,
      ),
    );
}

/** The operation of a `retry` call or an outbox entry. */
function loopOf(operation: Operation, onWall: OnWall): InspectedOperation {
  const { ref, attempt, phase, pauses, route } = operation;
  const decision = phase.kind === 'waiting' ? phase.decision : undefined;
  const pause = pauses.list[0]?.pause;
  const reason = pause?.reason ?? decision?.reason;
  const retryAt = (pause ?? decision)?.retryAt;
  const { maxRetries } = operation.policyOf(route.at ?? {});
  const status = phase.kind === 'ended' ? 'sending' : phase.kind;
  const shown = { status, attempt, maxAttempts: maxRetries + 1, reason, retryAt } as const;
  const keys = { queryKey: undefined, mutationKey: undefined };
  const [one] = underWay(ref.kind, keys, operation, shown, onWall);
  return one as InspectedOperation;
}

function tabsOf({ origins }: Instance, known: readonly InspectedOrigin[]): InspectedTabs {
  const { document } = globalThis as Partial<typeof globalThis>;
  return {
    areShared: [...origins.admissions.values()].some(({ origin }) => !!origin.leader),
    isHidden: document?.visibilityState === 'hidden',
    probes: known.flatMap(({ origin, probedBy: by, endpoints }) => {
      type Probes = InspectedTabs['probes'];
      const own: Probes = endpoints.flatMap(({ endpoint, probedBy: tab }) =>
        tab ? { origin, endpoint, by: tab } : [],
      );
      return own.length === 0 && by ? [{ origin, endpoint: undefined, by }] : own;
    }),
  };
}
