import type { NewRow, Row } from './row.ts';

/** The right of a tab to write. It is refused after another tab has taken over. */
export interface Fence {
  readonly owner: string;
  readonly token: string;
}

/** An owner of rows. Only the tab that has taken it last, and knows its token, may change them. */
export interface OwnerRecord extends Fence {
  /** When its tab last signed, in epoch milliseconds; 0 after it has given the owner up. */
  readonly signedAt: number;
}

export type Index =
  | 'id'
  | 'handler'
  | 'due'
  | 'lanes'
  | 'blocks'
  | 'state'
  | 'owner'
  | 'deadReason'
  | 'waitsFor'
  | 'doneAt'
  | 'parents'
  | 'formerIds'
  | 'thing';

/** The fields of each index. A row is in an index if it has the fields. */
export const indexes: Readonly<Record<Index, keyof Row | readonly (keyof Row)[]>> = {
  id: 'id',
  // This index still knows the handler of a row that cannot be read any more.
  handler: 'handler',
  due: ['owner', 'nextRetryAt'],
  lanes: ['owner', 'lane', 'nextRetryAt'],
  blocks: 'blocks',
  state: 'state',
  owner: 'owner',
  deadReason: 'deadReason',
  waitsFor: 'waitsFor',
  doneAt: 'doneAt',
  parents: 'parents',
  formerIds: 'formerIds',
  thing: 'thing',
};

/** Whether the index has a row under each of a list of keys. */
export const isMulti = (index: string): boolean => index === 'parents' || index === 'formerIds';

export const stores = ['rows', 'owners', 'large'] as const;

/** Makes the stores that are missing: those of version 1 are not changed. */
export function layOut(database: IDBDatabase): void {
  database.createObjectStore('large');
  if (database.objectStoreNames.contains('rows')) return;
  const rows = database.createObjectStore('rows', { keyPath: 'seq', autoIncrement: true });
  for (const [name, field] of Object.entries(indexes))
    rows.createIndex(name, field, { unique: name === 'id', multiEntry: isMulti(name) });
  database.createObjectStore('owners', { keyPath: 'owner' });
}

/** A key of an index. Numbers come before texts, and texts before lists, so an empty list is greater than all numbers and texts. */
export type Key = number | string | readonly Key[];

/** Keys from the first to the last, or only one key. `isAfter` excludes the first. */
export type Range = readonly [first: Key, last?: Key, isAfter?: boolean];

/** How durable a write must be before it counts. `page`: it changes only rows of this page. */
export type Durability = 'strict' | 'relaxed' | 'page';

/** One transaction. Nothing else may be awaited in it. */
export interface Transaction {
  readonly row: (seq: number) => Promise<Row | undefined>;
  /** Rows in the order of an index, and then of their places. */
  readonly rows: (index: Index, range: Range, limit?: number) => Promise<readonly Row[]>;
  readonly places: (index: Index, range: Range, limit?: number) => Promise<readonly number[]>;
  /** The first key of an index. */
  readonly firstKey: (index: Index, range: Range) => Promise<Key | undefined>;
  /** The number of rows in an index, or of all rows. */
  readonly count: (index?: Index, range?: Range) => Promise<number>;
  /** Rows with this key of an index, or (without one) all, in the order of their places, after one of them. */
  readonly page: (
    index: Index,
    key: string | undefined,
    after: number,
    limit: number,
  ) => Promise<readonly Row[]>;
  readonly add: (row: NewRow) => Promise<number>;
  readonly put: (row: Row) => Promise<unknown>;
  readonly remove: (seq: number) => Promise<unknown>;
  readonly owner: (owner: string) => Promise<OwnerRecord | undefined>;
  readonly owners: () => Promise<readonly OwnerRecord[]>;
  readonly putOwner: (record: OwnerRecord) => Promise<unknown>;
  readonly removeOwner: (owner: string) => Promise<unknown>;
  readonly clear: () => Promise<unknown>;
}

export interface Backend {
  readonly read: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;
  /** Runs a transaction. Resolves once it is complete. */
  readonly write: <T>(durability: Durability, work: (tx: Transaction) => Promise<T>) => Promise<T>;
}

/** A connection to rows on the disk. */
export interface Database extends Backend {
  readonly close: () => void;
}
