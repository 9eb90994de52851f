import { focusManager, type Query, type QueryClient } from '@tanstack/react-query';
import type { Operation } from '../../operation/operation.ts';
import { noOwner, Owner, unprovenOwner } from '../../operation/owner.ts';
import type { Ask } from '../../origin/ask.ts';
import type { Lifecycle } from './lifecycle.ts';
import { retryTimes } from './react-query-alone.ts';

/**
 * Whether a user waits for it: the page is seen, and there is nothing of it to show. A query without
 * observers is awaited by its caller, such as a router; more of an infinite one, by a user.
 */
function isAwaited({ state }: Query): boolean {
  const isMore = !!state.fetchMeta?.fetchMore;
  return focusManager.isFocused() && (state.data === undefined || isMore);
}

/**
 * Whether a user has just asked for it: what is fetched anew in a visible page, but for a poll of its own. A
 * poll leaves a paused fetch alone: what replaces one was asked for, too.
 */
export function isWish({ observers }: Query, before: Operation | undefined): boolean {
  if (!focusManager.isFocused()) return false;
  return before?.phase.kind === 'paused' || !observers.some(isPolling);
}

const isPolling = ({ options: { refetchInterval } }: Query['observers'][number]): boolean =>
  !!refetchInterval;

/** A persister of the app's is asked offline; its request needs the network like any other. */
function isOfflineToo({ options: { networkMode = 'online' } }: Query, isOurs: boolean): boolean {
  return networkMode === 'always' || (networkMode === 'offlineFirst' && isOurs);
}

/** Knows the query of an operation. */
export class QueryOwner extends Owner<Operation> {
  override readonly mayBeOffline: boolean;
  readonly #client: QueryClient;
  readonly #query: Query;
  readonly #lifecycle: Lifecycle;
  /** No persister of the app's is within ours. */
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

  /** Not as at its start: `retryNow` lends it another mode for that. */
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
