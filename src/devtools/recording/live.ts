import type { QueryClient } from '@tanstack/react-query';
import { type Outbox, outboxOf } from '../../outbox/query-adapter/outbox.ts';
import {
  cancelMutation,
  instanceOf,
  queryControlsOf,
  queryStatusesOf,
  runOf,
  type Instance,
  type Operation,
  type RetryControls,
} from '../../core/internal.ts';
import { createFaults, type Faults } from '../faults.ts';
import { type Inspection, inspectInstance, inspectOrigins } from '../inspect.ts';
import { type Recorder, recordInstance } from './record.ts';
import { createTabWatch, type TabWatch } from './tab-watch.ts';
import type { OperationView } from '../view.ts';

/** The running app that a panel shows. */
export interface Live {
  readonly instance: Instance;
  readonly client: QueryClient;
  readonly recorder: Recorder;
  /** Undefined until the app has created one. */
  readonly outbox: () => Outbox | undefined;
  readonly inspect: () => Inspection;
  readonly faults: Faults;
  readonly tabs: TabWatch;
  /** The actions on an operation in progress; undefined if there are none. */
  readonly controlsOf: (operation: OperationView) => Partial<RetryControls>;
}

const lives = new WeakMap<QueryClient, Live>();

/**
 * The app of a QueryClient. It is recorded from the first call until the page ends, because events from
 * before the panel was opened matter most.
 *
 * @throws Error if the client has no default options of Steadfetch.
 */
export function liveOf(client: QueryClient): Live {
  const known = lives.get(client);
  if (known) return known;
  const instance = instanceOf(client, 'SteadfetchDevtools');
  const clients = (): readonly QueryClient[] => [
    ...new Set([client, ...instance.lifecycle.clients()]),
  ];
  const inspect = (): Inspection => inspectInstance(instance, clients());
  const live: Live = {
    instance,
    client,
    recorder: recordInstance(instance),
    outbox: () => outboxOf(client),
    inspect,
    faults: createFaults(instance),
    tabs: createTabWatch(instance, () => inspectOrigins(instance).tabs),
    controlsOf: ({ id, startedAt, status }) => {
      if (status !== 'sending' && status !== 'waiting' && status !== 'paused') return {};
      const isIt = (operation: Operation | undefined): operation is Operation =>
        operation?.ref.id === id && operation.ref.startedAt === startedAt;
      return findControls(instance, clients(), isIt) ?? {};
    },
  };
  lives.set(client, live);
  return live;
}

function findControls(
  instance: Instance,
  clients: readonly QueryClient[],
  isIt: (operation: Operation | undefined) => operation is Operation,
): Partial<RetryControls> | undefined {
  for (const client of clients) {
    const queries = client.getQueryCache().getAll();
    const query = queries.find((one) => isIt(instance.byQuery.get(one)));
    if (query)
      return queryControlsOf(queryStatusesOf(client, 'SteadfetchDevtools'), query.queryHash);
    const mutations = client.getMutationCache().getAll();
    const mutation = mutations.find((one) => isIt(runOf(one)?.operation));
    const operation = mutation && runOf(mutation)?.operation;
    if (operation)
      return {
        retryNow: () => operation.retryNow(),
        cancel: () => cancelMutation(mutation),
      };
  }
  for (const operation of instance.operations.loops)
    if (isIt(operation)) return { retryNow: () => operation.retryNow() };
  return undefined;
}
