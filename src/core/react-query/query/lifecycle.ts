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

/** A client whose caches are followed. */
interface KnownClient {
  /** Called when the session ends. */
  readonly listeners: Set<() => void>;
  /** Ends the subscriptions to its caches. */
  readonly stop: () => void;
}

interface LifecycleContext extends RefetchContext {
  readonly operations: Operations;
}

/**
 * Keeps the operations of queries and React Query's fetches in step. When React Query ends a fetch, the operation ends,
 * too: also during a wait, when no code of ours runs (`cancelQueries`, `resetQueries`, `removeQueries`, `clear`, the
 * last component unmounts), and when the app's own `retry` stops. One subscription serves each client.
 */
export class Lifecycle {
  readonly pauses: QueryPauses;
  readonly #context: LifecycleContext;
  /** Only in development. */
  readonly #watchSharing: ((client: QueryClient) => void) | undefined;
  readonly #known: WeakMap<QueryClient, KnownClient> = new WeakMap();
  readonly #references: Set<WeakRef<QueryClient>> = new Set();

  constructor(context: LifecycleContext) {
    this.#context = context;
    this.pauses = new QueryPauses(context.clock, context.byQuery);
    this.#watchSharing = inDevelopment(() => createSharingWatch(context.operations));
  }

  /** A query of this client fetches. */
  meet(client: QueryClient): void {
    // A server makes a client for each page, and never waits.
    if (!isServer()) this.#follow(client);
    else this.#watchSharing?.(client);
  }

  /** The clients whose queries have fetched in this page. */
  clients(): readonly QueryClient[] {
    return [...this.#references].map((one) => one.deref()).filter((one) => one !== undefined);
  }

  /** Shows React Query whether an operation is paused. */
  showPause(client: QueryClient, query: Query, operation: Operation): void {
    if (operation.pauses.list.length > 0) this.#follow(client);
    this.pauses.show(query, operation);
    this.#context.byQuery.changes.emit(query);
  }

  /** Calls the listener when the session ends. It is kept as long as the client. */
  onSessionEnd(client: QueryClient, listener: () => void): void {
    this.#follow(client).listeners.add(listener);
  }

  /** Ends all mutations and fetches of the clients. */
  endSession(): void {
    const { byQuery, clock } = this.#context;
    for (const client of this.clients()) {
      for (const mutation of client.getMutationCache().getAll())
        endMutation(mutation, true, this.#context);
      for (const query of client.getQueryCache().findAll({ predicate: isFetching }))
        endFetch(query, byQuery.get(query), clock.now());
      for (const listener of this.#follow(client).listeners) listener();
    }
  }

  dispose(): void {
    for (const client of this.clients()) this.#known.get(client)?.stop();
    this.#references.clear();
  }

  #follow(client: QueryClient): KnownClient {
    let known = this.#known.get(client);
    if (known) return known;
    this.#references.add(new WeakRef(client));
    const ends = [
      client.getQueryCache().subscribe((event) => this.#receive(event)),
      followMutations(client, this.#context),
    ];
    known = { listeners: new Set(), stop: () => ends.forEach((end) => end()) };
    this.#known.set(client, known);
    return known;
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
    } else if (type === 'updated') {
      const { action } = event;
      const isFailure = action.type === 'error' && !(action.error instanceof CancelledError);
      if (action.type === 'error' || (action.type === 'success' && !action.manual)) {
        record.endFetch();
        if (operation && isFailure) refetchWhenBack(query, operation, this.#context);
        endIfActive(operation, isFailure ? 'failed' : 'cancelled');
      } else if (query.state.fetchStatus === 'idle') endWithFetch(query, record);
    } else if (type === 'observerAdded') operation?.pauses.each('renew');
    else if (type === 'observerRemoved') {
      record.removeObserver(query);
      dropIfLeft(query, operation);
    }
    dropIfDisabled(query, record);
  }
}

/**
 * Ends the operation of a query that is idle: at once if its fetch is over, as after a cancel. Another tab, or devtools,
 * may have overwritten the state of the query: then the fetch goes on.
 */
function endWithFetch(query: Query, record: QueryRecord): void {
  const { operation } = record;
  const end = (): void => endIfActive(operation, 'cancelled');
  if (record.isItsFetch(query)) void query.promise?.then(end, end);
  else end();
}

function endIfActive(operation: Operation | undefined, result: OperationResult): void {
  if (operation && operation.phase.kind !== 'ended') operation.end(result);
}

/** Cancels a paused fetch when its last component unmounts. React Query does so for retries only. */
function dropIfLeft(query: Query, operation: Operation | undefined): void {
  if (!operation?.pauses.list.length || query.getObserversCount() > 0) return;
  if (query.state.fetchStatus !== 'idle') void query.cancel({ revert: true });
  operation.end('cancelled');
}

/** Cancels a paused fetch whose query was disabled. One that waits for its retry is cancelled at the end of the wait, because it may be enabled again by then. */
function dropIfDisabled(query: Query, record: QueryRecord): void {
  const isPaused = record.operation?.phase.kind === 'paused';
  if (record.isDisabled(query) && isPaused && query.state.fetchStatus !== 'idle')
    void query.cancel({ revert: true });
}

const isFetching = ({ state }: Query): boolean => state.fetchStatus !== 'idle';

/** Ends a fetch at the end of the session. A query without data fails, because nothing would fetch it again; one with data keeps them. */
function endFetch(query: Query, operation: Operation | undefined, nowMs: number): void {
  const isAwaited = query.state.data === undefined && query.getObserversCount() > 0;
  if (!isAwaited || !operation) return void query.cancel({ revert: true });
  const error: unknown = operation.errors.lastError ?? endedWithSession(operation, true, 'no');
  endFetchWith(query, operation, error, nowMs);
}

/** Only in development. */
function warnOf({ byQuery, operations }: LifecycleContext, event: QueryCacheNotifyEvent): void {
  const { query } = event;
  warnOfPersister(operations, query);
  const operation = byQuery.get(query);
  if (operation && event.type === 'updated' && event.action.type === 'failed')
    warnOfOwnRetry(operations, query, operation);
}
