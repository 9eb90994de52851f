import type { Query, QueryClient } from '@tanstack/react-query';
import { createSlot } from '../../lib/slot.ts';
import type { Alarm } from '../../lib/timer.ts';
import type { Operation } from '../../operation/operation.ts';

/** The fallback that a query shows. */
export interface ShownFallback {
  readonly error: unknown;
  /** The last data that was none. */
  readonly lastData: unknown;
  /** Which one of its data it is, counted as React Query does, from its latest reset on. */
  readonly count: number;
  /** When it became that. */
  shownAt?: number;
}

/** All that an instance knows of one query. */
export class QueryRecord {
  /** The newest one. */
  operation: Operation | undefined;
  fallback: ShownFallback | undefined;
  /** A component that is enabled has wanted its newest operation. */
  #wasActive = false;
  #endWatch: (() => void) | undefined;
  /** When its pause is to end. */
  limitAt: number = Infinity;
  #alarm: Alarm | undefined;
  /** When it was known that others are answered while its endpoint fails. */
  #brokenAt = Infinity;

  /** The client of the app. */
  #client: QueryClient | undefined;
  /** It is fetched beside the query of another record, as its probe. */
  isProbe: boolean = false;

  /** @returns the client that its queryFn is given: that of the app, if it is a probe. */
  meet(client: QueryClient): QueryClient {
    return (this.#client ??= client);
  }

  /** It is fetched in the place of another query, and goes on with the operation of that. */
  standFor(query: Query, other: QueryRecord, operation: Operation): void {
    this.#client = other.#client;
    this.isProbe = true;
    this.begin(operation, query);
  }

  /** A fetch begins, or goes on, with this operation. */
  begin(operation: Operation, query: Query): void {
    this.operation = operation;
    this.#wasActive = query.isActive();
  }

  /** An enabled component has wanted its newest operation, and those that are left are disabled. */
  isDisabled(query: Query): boolean {
    this.#wasActive ||= query.isActive();
    return this.#wasActive && query.getObserversCount() > 0 && !query.isActive();
  }

  /** A component has gone: the disabled ones that are left may show what another one has wanted. */
  removeObserver(query: Query): void {
    this.#wasActive = query.isActive();
  }

  /** Until `endWatch` is called the end of an outage is watched for, which `stop` ends. */
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

  /** Whether others are answered while its endpoint fails. @returns since when that is known; `Infinity` where it is not so. */
  recordBroken(isBroken: boolean, now: number): number {
    this.#brokenAt = isBroken ? Math.min(this.#brokenAt, now) : Infinity;
    return this.#brokenAt;
  }

  /** Its pause is bounded from now on, by an alarm that `create` makes. */
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
  /** Undefined where nothing is known yet. */
  readonly find: (query: Query) => QueryRecord | undefined;
  /** The newest operation of the query. */
  readonly get: (query: Query) => Operation | undefined;
  /** Its operation has changed, and React Query does not show it: it is paused, goes on, or is sent again. */
  readonly emitChange: (query: Query) => void;
  /** Calls the listener at each such change, until the returned function is called. */
  readonly onChange: (listener: (query: Query) => void) => () => void;
}

export function createQueryRecords(): QueryRecords {
  const records = createSlot<Query, QueryRecord>();
  const listeners = new Set<(query: Query) => void>();
  return {
    of(query) {
      let record = records.get(query);
      if (!record) records.set(query, (record = new QueryRecord()));
      return record;
    },
    find: records.get,
    get: (query) => records.get(query)?.operation,
    emitChange(query) {
      for (const listener of listeners) listener(query);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
