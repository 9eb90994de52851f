import {
  instanceOfSteady,
  type ConnectivityState,
  type Instance,
  type Steadfetch,
  type SteadfetchEvent,
} from '../core/internal.ts';
import { notifyApp } from '../core/lib/input/callback.ts';
import { checkNames } from '../core/lib/input/check.ts';
import type { Readable } from '../core/lib/store.ts';
import type { OutboxState } from '../outbox/state.ts';
import { onLead, onOutage } from './watch-health.ts';
import { inDevelopment } from '../core/lib/development.ts';

interface StateEventBase {
  /** When it happened, in epoch milliseconds. */
  readonly at: number;
}

/** An event that belongs to no operation: of an origin, the network, or the outbox. */
export type StateEvent =
  /** An endpoint went down or, without `endpoint`, the whole origin. */
  | (StateEventBase & {
      readonly type: 'outage:start';
      readonly origin: string;
      readonly partition: string | undefined;
      readonly endpoint: string | undefined;
    })
  /** The endpoint or origin is no longer down. */
  | (StateEventBase & {
      readonly type: 'outage:end';
      readonly origin: string;
      readonly partition: string | undefined;
      readonly endpoint: string | undefined;
      readonly downMs: number;
    })
  /** This tab begins to probe it for all tabs, as the leader. Only with `shareAcrossTabs`. */
  | (StateEventBase & {
      readonly type: 'leader:start';
      readonly origin: string;
      readonly partition: string | undefined;
      readonly endpoint: string | undefined;
    })
  /** This tab stops probing it: it recovered, another tab took over, or no request waits here any more. */
  | (StateEventBase & {
      readonly type: 'leader:end';
      readonly origin: string;
      readonly partition: string | undefined;
      readonly endpoint: string | undefined;
    })
  /** The state of the network changed. Only with `watchConnectivity`. */
  | (StateEventBase & {
      readonly type: 'connectivity';
      readonly status: ConnectivityState['status'];
    })
  /** The entries of the outbox changed. */
  | (StateEventBase & {
      readonly type: 'outbox';
      readonly due: number;
      readonly waiting: number;
      readonly sending: number;
      readonly paused: number;
      readonly dead: number;
    });

/** Any event. */
export type TelemetryEvent = SteadfetchEvent | StateEvent;

/** Calls the function for the type of an event; undefined if there is none. */
export const byType =
  <E extends { readonly type: string }, R = void>(table: {
    readonly [T in E['type']]?: (event: Extract<E, { readonly type: T }>) => R;
  }) =>
  (event: E): R | undefined =>
    (table as Readonly<Record<string, ((given: E) => R) | undefined>>)[event.type]?.(event);

/** Sources of events besides the instance. */
export interface TelemetrySources {
  /** An outbox whose entries emit events, too. @default none */
  readonly outbox?: Readable<OutboxState> | undefined;
}

const counts = ['due', 'waiting', 'sending', 'paused', 'dead'] as const;

/**
 * Subscribes to everything: the events of `steady.subscribe` and, in chronological order with them, outages
 * of endpoints and origins, which of them this tab probes for all tabs, the state of the network, and the
 * entries of an outbox.
 *
 * @returns A function that ends the subscription.
 * @throws TypeError if the first argument is not from `createSteadfetch`.
 *
 * @example
 * ```ts
 * subscribeAll(steady, consoleLogger(), { outbox });
 * ```
 */
export function subscribeAll(
  steady: Steadfetch,
  listener: (event: TelemetryEvent) => void,
  sources: TelemetrySources = {},
): () => void {
  const instance = instanceOfSteady(steady, 'subscribeAll');
  inDevelopment(() => checkNames('subscribeAll', sources, ['outbox']));
  return subscribeInstance(instance, listener, sources);
}

/** The same, for an instance's internals. */
export function subscribeInstance(
  { connectivity, origins, wall, emitter }: Instance,
  listener: (event: TelemetryEvent) => void,
  { outbox }: TelemetrySources,
): () => void {
  const emit = (event: TelemetryEvent): void => notifyApp(listener, event);

  const stops = [
    emitter.subscribe(emit),
    onOutage(origins, ({ origin, partition, endpoint, downMs }) => {
      const what = { at: wall.now(), origin, partition, endpoint };
      emit(
        downMs === undefined
          ? { type: 'outage:start', ...what }
          : { type: 'outage:end', ...what, downMs },
      );
    }),
    onLead(origins, ({ isLeader, ...what }) =>
      emit({ type: isLeader ? 'leader:start' : 'leader:end', at: wall.now(), ...what }),
    ),
  ];
  if (connectivity) {
    let { status: shown } = connectivity.getState();
    stops.push(
      connectivity.subscribe(() => {
        const { status } = connectivity.getState();
        if (status === shown) return;
        shown = status;
        emit({ type: 'connectivity', at: wall.now(), status });
      }),
    );
  }
  if (outbox) {
    let shown = outbox.getState();
    stops.push(
      outbox.subscribe(() => {
        const state = outbox.getState();
        const { due, waiting, sending, paused, dead } = state;
        // While the database cannot be read, the counts are not known.
        if (due === undefined || waiting === undefined || sending === undefined) return;
        if (paused === undefined || dead === undefined) return;
        const isNews = counts.some((name) => state[name] !== (shown[name] ?? 0));
        shown = state;
        if (isNews) emit({ type: 'outbox', at: wall.now(), due, waiting, sending, paused, dead });
      }),
    );
  }
  return () => {
    for (const stop of stops) stop();
  };
}
