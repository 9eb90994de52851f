import type { ConnectivityState } from '../connectivity/connectivity.ts';
import { tellApp } from '../lib/input/callback.ts';
import { checkNames } from '../lib/input/check.ts';
import type { Readable } from '../lib/store.ts';
import type { SteadfetchEvent } from '../operation/events.ts';
import type { OutboxState } from '../outbox/state.ts';
import { type Instance, instanceOfSteady } from '../react-query/instance.ts';
import type { Steadfetch } from '../react-query/steadfetch.ts';
import { onLead, onOutage } from './watch-health.ts';

interface StateEventBase {
  /** When it happened, in epoch milliseconds. */
  readonly at: number;
}

/** What happens to no operation of its own: to an origin, the network, or the outbox. */
export type StateEvent =
  /** An endpoint is taken for down or, without `endpoint`, all of its origin. */
  | (StateEventBase & {
      readonly type: 'outage:start';
      readonly origin: string;
      readonly partition: string | undefined;
      readonly endpoint: string | undefined;
    })
  /** The same is not taken for down any more. */
  | (StateEventBase & {
      readonly type: 'outage:end';
      readonly origin: string;
      readonly partition: string | undefined;
      readonly endpoint: string | undefined;
      readonly downMs: number;
    })
  /**
   * This tab probes it from now on, for all tabs: it is the leader there. Only with `shareAcrossTabs`.
   */
  | (StateEventBase & {
      readonly type: 'leader:start';
      readonly origin: string;
      readonly partition: string | undefined;
      readonly endpoint: string | undefined;
    })
  /** It no longer does: it is up again, another tab probes it, or nobody waits for it here. */
  | (StateEventBase & {
      readonly type: 'leader:end';
      readonly origin: string;
      readonly partition: string | undefined;
      readonly endpoint: string | undefined;
    })
  /** What is known of the network has changed. Only with `watchConnectivity`. */
  | (StateEventBase & {
      readonly type: 'connectivity';
      readonly status: ConnectivityState['status'];
    })
  /** The entries of the outbox have changed. */
  | (StateEventBase & {
      readonly type: 'outbox';
      readonly due: number;
      readonly waiting: number;
      readonly sending: number;
      readonly paused: number;
      readonly dead: number;
    });

/** All that happens. */
export type TelemetryEvent = SteadfetchEvent | StateEvent;

/** What is watched beside the instance. */
export interface TelemetrySources {
  /** Its entries are told of, too. @default none */
  readonly outbox?: Readable<OutboxState> | undefined;
}

const counts = ['due', 'waiting', 'sending', 'paused', 'dead'] as const;

/**
 * Tells of all that happens: the events of `steady.subscribe` and, in the same order of time, the outages
 * of endpoints and origins, which of them this tab probes for all tabs, the state of the network, and the
 * entries of an outbox.
 *
 * @returns A function that ends the subscription.
 * @throws TypeError when the first argument is not what `createSteadfetch` returns.
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
  if (process.env.NODE_ENV !== 'production') checkNames('subscribeAll', sources, ['outbox']);
  return subscribeInstance(instance, listener, sources);
}

/** The same for the inside of an instance. */
export function subscribeInstance(
  { connectivity, origins, wall, emitter }: Instance,
  listener: (event: TelemetryEvent) => void,
  { outbox }: TelemetrySources,
): () => void {
  const tell = (event: TelemetryEvent): void => tellApp(listener, event);

  const stops = [
    emitter.subscribe(tell),
    onOutage(origins, ({ origin, partition, endpoint, downMs }) => {
      const what = { at: wall.now(), origin, partition, endpoint };
      tell(
        downMs === undefined
          ? { type: 'outage:start', ...what }
          : { type: 'outage:end', ...what, downMs },
      );
    }),
    onLead(origins, ({ isLeader, ...what }) =>
      tell({ type: isLeader ? 'leader:start' : 'leader:end', at: wall.now(), ...what }),
    ),
  ];
  if (connectivity) {
    let { status: shown } = connectivity.getState();
    stops.push(
      connectivity.subscribe(() => {
        const { status } = connectivity.getState();
        if (status === shown) return;
        shown = status;
        tell({ type: 'connectivity', at: wall.now(), status });
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
        if (!isNews) return;
        tell({ type: 'outbox', at: wall.now(), due, waiting, sending, paused, dead });
      }),
    );
  }
  return () => {
    for (const stop of stops) stop();
  };
}
