import type { Query, QueryClient } from '@tanstack/react-query';
import { createSlot } from '../../lib/slot.ts';
import { createEmitter, type Emitter } from '../../lib/store.ts';
import type { Alarm } from '../../lib/timer.ts';
import type { Operation } from '../../operation/operation.ts';

/** The fallback that a query shows. */
export interface ShownFallback {
  readonly error: unknown;
  /** The last data of the query that were no fallback. */
  readonly lastData: unknown;
  /** React Query's `dataUpdateCount` for the fallback. A reset starts that count anew. */
  readonly count: number;
  /** When it became the data of the query. */
  shownAt?: number;
}

/** The state that an instance keeps for one query. */
export class QueryRecord {
  /** The newest operation. */
  operation: Operation | undefined;
  /** The operation that was begun because a limit was over: it is not fetched again after another one. */
  refetched: Operation | undefined;
  fallback: ShownFallback | undefined;
  /** React Query's promise of the fetch that the operation is. The state of a query is no proof: `hydrate`, devtools and other tabs overwrite it. */
  #fetch: Query['promise'];
  /** An enabled component has observed the query during its newest operation. */
  #wasActive = false;
  #endWatch: (() => void) | undefined;
  /** When its pause ends at the latest. */
  limitAt: number = Infinity;
  #alarm: Alarm | undefined;
  /** Since when other endpoints are answered while its own fails. */
  #brokenAt = Infinity;

  /** The client of the app. */
  #client: QueryClient | undefined;
  /** True for the record of a probe, which is fetched beside the query of another record. */
  isProbe: boolean = false;
  /** True once the queryFn has the client, by which it may write to the query, as that of `streamedQuery` does. */
  hasClient: boolean = false;

  /** @returns the client that the queryFn gets. For a probe that is the client of the app. */
  meet(client: QueryClient): QueryClient {
    return (this.#client ??= client);
  }

  /** @returns the same client, for the queryFn that reads it. */
  takeClient(): QueryClient | undefined {
    this.hasClient = true;
    return this.#client;
  }

  /** The probe continues the operation of another query, with the client of that query. */
  standFor(query: Query, other: QueryRecord, operation: Operation): void {
    this.#client = other.#client;
    this.isProbe = true;
    this.begin(operation, query);
  }

  /** A fetch begins or continues with this operation. */
  begin(operation: Operation, query: Query): void {
    this.operation = operation;
    this.#fetch = query.promise;
    this.#wasActive = query.isActive();
  }

  /** Whether the query still runs the fetch that the newest operation is. */
  isItsFetch({ promise }: Query): boolean {
    return promise !== undefined && promise === this.#fetch;
  }

  /** The fetch is over. Its promise would keep its data. */
  endFetch(): void {
    this.#fetch = undefined;
  }

  /** Whether an enabled component observed the newest operation, and only disabled ones are left. */
  isDisabled(query: Query): boolean {
    this.#wasActive ||= query.isActive();
    return this.#wasActive && query.getObserversCount() > 0 && !query.isActive();
  }

  /** A component unmounted. The disabled components that are left may still show the result. */
  removeObserver(query: Query): void {
    this.#wasActive = query.isActive();
  }

  /** Keeps `stop`, which ends the watch for the end of an outage, until `endWatch` is called. */
  watch(stop: () => void): void {
    this.endWatch();
    this.#endWatch = stop;
  }

  endWatch(): void {
    this.#endWatch?.();
    this.#endWatch = undefined;
  }

  show(fallback: ShownFallback): void {
    this.fallback = fallback;
  }

  /** Records whether other endpoints are answered while its own fails. @returns since when that is so; else `Infinity`. */
  recordBroken(isBroken: boolean, now: number): number {
    this.#brokenAt = isBroken ? Math.min(this.#brokenAt, now) : Infinity;
    return this.#brokenAt;
  }

  /** Ends its pause at this time at the latest. `create` makes the alarm for that. */
  limit(at: number, create: () => Alarm): void {
    this.limitAt = at;
    if (at === Infinity && !this.#alarm) return;
    this.#alarm ??= create();
    this.#alarm(at);
  }
}

/** The record of each query of an instance. */
export interface QueryRecords {
  readonly of: (query: Query) => QueryRecord;
  /** Undefined if the query has no record yet. */
  readonly find: (query: Query) => QueryRecord | undefined;
  /** The newest operation of the query. */
  readonly get: (query: Query) => Operation | undefined;
  /** The changes that React Query does not emit: the operation of a query is paused, goes on, or is sent again. */
  readonly changes: Emitter<Query>;
}

export function createQueryRecords(): QueryRecords {
  const records = createSlot<Query, QueryRecord>();
  return {
    of(query) {
      let record = records.get(query);
      if (!record) records.set(query, (record = new QueryRecord()));
      return record;
    },
    find: records.get,
    get: (query) => records.get(query)?.operation,
    changes: createEmitter(),
  };
}
