import type { DeadReason, NewRow, OwnerRecord, Row, RowState } from './row.ts';

/** How sure a write must be before it counts. */
type Durability = 'strict' | 'relaxed';

/** One transaction: nothing else is awaited in it, and nobody sees half of it. */
export interface Transaction {
  readonly row: (seq: number) => Promise<Row | undefined>;
  readonly rowById: (id: string) => Promise<Row | undefined>;
  /** @returns its place. */
  readonly add: (row: NewRow) => Promise<number>;
  readonly put: (row: Row) => Promise<unknown>;
  readonly remove: (seq: number) => Promise<unknown>;
  /** The oldest row that holds up a scope. */
  readonly headOf: (scope: string) => Promise<Row | undefined>;
  /** The lanes in which an owner has rows that have a time. */
  readonly lanes: (owner: string) => Promise<readonly string[]>;
  /** The places of the rows of a lane that are due: so many at most, the first due first. */
  readonly due: (
    owner: string,
    lane: string,
    nowMs: number,
    limit: number,
  ) => Promise<readonly number[]>;
  /** When the next one of a lane is due later. */
  readonly nextDueAt: (owner: string, lane: string, nowMs: number) => Promise<number | undefined>;
  /** Rows that are due later, in a lane of an owner or in all: so many at most, the first due first. */
  readonly planned: (
    owner: string,
    lane: string | undefined,
    nowMs: number,
    limit?: number,
  ) => Promise<readonly Row[]>;
  readonly countDue: (owner: string, nowMs: number) => Promise<number>;
  /** Rows of an owner whose time was decided in what is now the future, whenever they are due. */
  readonly postdated: (owner: string, nowMs: number, limit?: number) => Promise<readonly Row[]>;
  readonly hasLive: (owner: string) => Promise<boolean>;
  /** In the order of their places, after one of them. */
  readonly list: (
    state: RowState | undefined,
    after: number,
    limit: number,
  ) => Promise<readonly Row[]>;
  readonly count: (state: RowState) => Promise<number>;
  /** Those that wait for a newer version, in the order of their places, after one of them. */
  readonly tooNew: (after: number, limit: number) => Promise<readonly Row[]>;
  /** Those that are dead with this reason, in the order of their places, after one of them. */
  readonly dead: (reason: DeadReason, after: number, limit: number) => Promise<readonly Row[]>;
  readonly doneBefore: (ms: number, limit: number) => Promise<readonly number[]>;
  /** Whether there are rows that nobody would look for. */
  readonly hasStrays: () => Promise<boolean>;
  readonly owner: (owner: string) => Promise<OwnerRecord | undefined>;
  readonly owners: () => Promise<readonly OwnerRecord[]>;
  readonly putOwner: (record: OwnerRecord) => Promise<unknown>;
  readonly removeOwner: (owner: string) => Promise<unknown>;
  readonly clear: () => Promise<unknown>;
}

/** Where rows are. */
export interface Backend {
  /** Whether they are still there after this page. */
  readonly isDurable: boolean;
  readonly read: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;
  /** Resolves once it is complete. */
  readonly write: <T>(durability: Durability, work: (tx: Transaction) => Promise<T>) => Promise<T>;
  readonly close: () => void;
}
