import { focusManager, type Query, type QueryClient } from '@tanstack/react-query';
import type { Operation } from '../../operation/operation.ts';
import { noOwner, Owner, unprovenOwner } from '../../operation/owner.ts';
import type { Ask } from '../../origin/ask.ts';
import type { Lifecycle } from './lifecycle.ts';
import { retryTimes } from './react-query-alone.ts';

/**
 * Whether a user waits for the query: the page is visible, and there are no data yet, or the user loads more of an
 * infinite query. For a query without observers, its caller waits, such as a router.
 */
function isAwaited({ state }: Query): boolean {
  const isMore = !!state.fetchMeta?.fetchMore;
  return focusManager.isFocused() && (state.data === undefined || isMore);
}

/**
 * Whether a user has just asked for this fetch. True for a new fetch in a visible page, unless the query polls. Polls
 * leave a paused fetch alone, so a fetch that replaces a paused one was asked for, too.
 */
export function isWish({ observers }: Query, before: Operation | undefined): boolean {
  if (!focusManager.isFocused()) return false;
  return before?.phase.kind === 'paused' || !observers.some(isPolling);
}

const isPolling = ({ options: { refetchInterval } }: Query['observers'][number]): boolean =>
  !!refetchInterval;

/** Whether the query is fetched offline. The app's own persister runs offline, but its requests need the network. */
function isOfflineToo({ options: { networkMode = 'online' } }: Query, isOurs: boolean): boolean {
  return networkMode === 'always' || (networkMode === 'offlineFirst' && isOurs);
}

/** Connects an operation with its query. */
export class QueryOwner extends Owner<Operation> {
  override readonly mayBeOffline: boolean;
  readonly #client: QueryClient;
  readonly #query: Query;
  readonly #lifecycle: Lifecycle;
  /** Our persister wraps no persister of the app. */
  readonly #isOurs: boolean;

  constructor(client: QueryClient, query: Query, lifecycle: Lifecycle, isOurs: boolean) {
    super();
    this.mayBeOffline = isOfflineToo(query, isOurs);
    this.#client = client;
    this.#query = query;
    this.#lifecycle = lifecycle;
    this.#isOurs = isOurs;
  }

  override onChange(operation: Operation): void {
    this.#lifecycle.showPause(this.#client, this.#query, operation);
  }

  /** Read anew each time: at the start `retryNow` sets another network mode for a moment. */
  override isUnproven(): boolean {
    return isOfflineToo(this.#query, this.#isOurs);
  }

  override foreground(): () => boolean {
    const query = this.#query;
    return () => isAwaited(query);
  }

  override retries(operation: Operation): Pick<Ask, 'isRefreshSeen' | 'retriesAt'> {
    const isRefresh = this.#query.state.data !== undefined;
    return {
      ...(!operation.isOnce && { retriesAt: retryTimes(this.#query, operation) }),
      ...(isRefresh && { isRefreshSeen: () => focusManager.isFocused() }),
    };
  }

  override past(): Owner<Operation> {
    return this.isUnproven() ? unprovenOwner : noOwner;
  }
}
