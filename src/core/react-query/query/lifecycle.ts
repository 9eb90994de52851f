import { inDevelopment } from '../../lib/development.ts';
import {
  CancelledError,
  type Query,
  type QueryCacheNotifyEvent,
  type QueryClient,
} from '@tanstack/react-query';
import type { OperationResult } from '../../operation/events.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Operations } from '../../operation/operations.ts';
import { endedWithSession } from '../../operation/parts/session.ts';
import { isServer } from '../instance.ts';
import { endMutation, followMutations } from '../mutation/lifecycle.ts';
import { warnOfOwnRetry, warnOfPersister, createSharingWatch } from '../misuse.ts';
import { QueryPauses } from './pause.ts';
import type { QueryRecord } from './records.ts';
import { endFetchWith, type RefetchContext, refetchWhenBack } from './refetch.ts';

interface LifecycleContext extends RefetchContext {
  readonly operations: Operations;
}

/**
 * Keeps the operations of queries and React Query's fetches together: both are paused, and end, as one.
 *
 * It ends the operation of a query when React Query ends its fetch: also in a wait, where nothing of
 * ours runs (`cancelQueries`, `resetQueries`, `removeQueries`, `clear`, the last component goes), and
 * where the app's own `retry` has the last word. One subscription serves each client.
 */
export class Lifecycle {
  readonly pauses: QueryPauses;
  readonly #context: LifecycleContext;
  /** In development. */
  readonly #watchSharing: ((client: QueryClient) => void) | undefined;
  readonly #stops: WeakMap<QueryClient, () => void> = new WeakMap();
  readonly #listeners: WeakMap<QueryClient, Set<() => void>> = new WeakMap();
  readonly #references: Set<WeakRef<QueryClient>> = new Set();

  constructor(context: LifecycleContext) {
    this.#context = context;
    this.pauses = new QueryPauses(context.clock, context.byQuery);
    this.#watchSharing = inDevelopment(() => createSharingWatch(context.operations));
  }

  /** A query of this client fetches. */
  meet(client: QueryClient): void {
    // A server makes a client for each page, and waits for nothing.
    if (!isServer()) this.#follow(client);
    else this.#watchSharing?.(client);
  }

  /** The clients that were met in a page. */
  clients(): readonly QueryClient[] {
    return [...this.#references].map((one) => one.deref()).filter((one) => one !== undefined);
  }

  /** Shows React Query whether an operation is paused. */
  showPause(client: QueryClient, query: Query, operation: Operation): void {
    if (operation.pauses.list.length > 0) this.#follow(client);
    this.pauses.show(query, operation);
    this.#context.byQuery.emitChange(query);
  }

  /** Calls a listener when the session ends, for as long as the client is there. */
  onSessionEnd(client: QueryClient, listener: () => void): void {
    const known = this.#listeners.get(client) ?? new Set();
    this.#listeners.set(client, known.add(listener));
  }

  /** Ends what the clients have begun. */
  endSession(): void {
    const { byQuery, clock } = this.#context;
    for (const client of this.clients()) {
      for (const mutation of client.getMutationCache().getAll())
        endMutation(mutation, true, this.#context);
      for (const query of client.getQueryCache().findAll({ predicate: isFetching }))
        endFetch(query, byQuery.get(query), clock.now());
      for (const listener of this.#listeners.get(client) ?? []) listener();
    }
  }

  dispose(): void {
    for (const client of this.clients()) this.#stops.get(client)?.();
    this.#references.clear();
  }

  #follow(client: QueryClient): void {
    if (this.#stops.has(client)) return;
    this.#references.add(new WeakRef(client));
    const ends = [
      client.getQueryCache().subscribe((event) => this.#receive(event)),
      followMutations(client, this.#context),
    ];
    this.#stops.set(client, () => ends.forEach((end) => end()));
  }

  #receive(event: QueryCacheNotifyEvent): void {
    const { type, query } = event;
    inDevelopment(() => warnOf(this.#context, event));
    const record = this.#context.byQuery.find(query);
    if (!record) return;
    const { operation } = record;
    if (type === 'removed') {
      record.endWatch();
      endIfActive(operation, 'cancelled');
    } else if (type === 'updated' && query.state.fetchStatus === 'idle') {
      const { action } = event;
      const isFailure = action.type === 'error' && !(action.error instanceof CancelledError);
      if (operation && isFailure) refetchWhenBack(query, operation, this.#context);
      endIfActive(operation, isFailure ? 'failed' : 'cancelled');
    } else if (type === 'observerAdded') operation?.pauses.each('renew');
    else if (type === 'observerRemoved') {
      record.removeObserver(query);
      dropIfLeft(query, operation);
    }
    dropIfDisabled(query, record);
  }
}

function endIfActive(operation: Operation | undefined, result: OperationResult): void {
  if (operation && operation.phase.kind !== 'ended') operation.end(result);
}

/** React Query itself drops a retry that no component is left for, but no fetch that is paused. */
function dropIfLeft(query: Query, operation: Operation | undefined): void {
  if (!operation?.pauses.list.length || query.getObserversCount() > 0) return;
  if (query.state.fetchStatus !== 'idle') void query.cancel({ revert: true });
  operation.end('cancelled');
}

/** React Query goes on with the retries of a query that is disabled meanwhile. */
function dropIfDisabled(query: Query, record: QueryRecord): void {
  const kind = record.operation?.phase.kind;
  if (!record.isDisabled(query) || query.state.fetchStatus === 'idle') return;
  if (kind === 'waiting' || kind === 'paused') void query.cancel({ revert: true });
}

const isFetching = ({ state }: Query): boolean => state.fetchStatus !== 'idle';

/** With data it stays as it was. One that a component waits for fails: nothing else would fetch it again. */
function endFetch(query: Query, operation: Operation | undefined, nowMs: number): void {
  const isAwaited = query.state.data === undefined && query.getObserversCount() > 0;
  if (!isAwaited || !operation) return void query.cancel({ revert: true });
  const error: unknown = operation.errors.lastError ?? endedWithSession(operation, true, 'no');
  endFetchWith(query, operation, error, nowMs);
}

/** In development. */
function warnOf({ byQuery, operations }: LifecycleContext, event: QueryCacheNotifyEvent): void {
  const { query } = event;
  warnOfPersister(operations, query);
  const operation = byQuery.get(query);
  if (operation && event.type === 'updated' && event.action.type === 'failed')
    warnOfOwnRetry(operations, query, operation);
}
