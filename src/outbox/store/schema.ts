/** Of the rows. One with a greater number comes from a later version of this package. */
export const rowSchema = 1;

/** What is kept of an `EntryState`: one that is paused is `sending` on the disk. */
export type RowState = 'pending' | 'sending' | 'done' | 'dead';

/** Why a row needs a user. */
export type DeadReason =
  /** The answer would be the same again: 400, 422, 404 and their like. */
  | 'refused'
  /** It may have been done, and sent once more it could be done twice. */
  | 'not-repeatable'
  /** It has been done, but its answer could not be read. */
  | 'answer-lost'
  /** It may have been done, and its key is older than its API keeps one. */
  | 'expired'
  /** It may have been done, and the age of its key is not known: the clock was set back since another page made it. */
  | 'age-unknown'
  /** It may have been done, and sent again under its key, that was not found out: its API gives a stored failure. */
  | 'cannot-find-out'
  /** The app's own limits, `maxAttempts` and `maxAgeMs`. */
  | 'max-attempts'
  | 'max-age'
  /** No handler has its name: delivered once one has. */
  | 'handler-missing'
  /** `migrate` threw, or there is none. */
  | 'not-migrated'
  /** The browser cannot read it any more, it cannot be decrypted, or what is kept of it is damaged. */
  | 'unreadable';

/** What an attempt ended in, short: nothing of headers and bodies. */
export interface RowError {
  readonly name: string;
  readonly message: string;
  readonly status?: number | undefined;
}

/** A submission on the disk. Everything but its state stays as it was written. */
export interface Row {
  /** Its place among all: the order in which they were committed. */
  readonly seq: number;
  /** Its idempotency key. */
  readonly id: string;
  readonly schema: number;
  readonly handler: string;
  /** That of the handler's variables. */
  readonly version: number;
  readonly variables: unknown;
  /** In epoch milliseconds, as all times. */
  readonly createdAt: number;
  /** How far the clock of its page was ahead of that, because that was set back before. */
  readonly aheadMs?: number;
  /** Those with the same are sent one after the other, the oldest first. */
  readonly scope?: string | undefined;
  /** The tab that has submitted it, and is told its result. */
  readonly submitter: string;
  readonly state: RowState;
  /** Who sends it: a tab, or the one that has taken over from it. */
  readonly owner: string;
  /** The same while it is to be sent; an index. */
  readonly liveOwner?: string;
  /** The scope that waits for it; an index. */
  readonly blocks?: string;
  /** Those that are sent to the same origin by the same handler; only the latter before it is known. */
  readonly lane: string;
  /** Absent while it waits behind its scope, and once it is not to be sent. */
  readonly nextRetryAt?: number;
  /** When that was decided: of a time from before the clock was set back, the wait counts. */
  readonly plannedAt?: number;
  /** The server has said when: a success of its origin draws it no nearer than this. */
  readonly notBefore?: number;
  readonly attempts: number;
  readonly lastAttemptAt?: number;
  /** The last attempt of which a request was about to go. */
  readonly noted?: number;
  /** So many attempts have sent nothing before their tab died: they were paused, or never came to it. */
  readonly unsent?: number;
  /** So many attempts have timed out: the next one has longer. */
  readonly timeouts?: number;
  readonly lastError?: RowError;
  /** It may have been done. */
  readonly isInDoubt: boolean;
  /** The attempt that was begun last has sent it without a key, because its API honours none. */
  readonly isUnkeyed?: boolean;
  /** Its database was deleted, and with it what was known of its requests. */
  readonly isRestored?: boolean;
  /** A user has sent it again: what was definitely refused takes a fresh key. */
  readonly isRedriven?: boolean;
  /** So often a user has sent it again under its key, when it was not known whether it was done. */
  readonly redrives?: number;
  /** The browser could not read it any more: only what its indexes knew is left. */
  readonly isGone?: boolean;
  /** What may have been sent of it, with its bytes, as the codec keeps them. */
  readonly steps?: unknown;
  readonly deadReason?: DeadReason;
  /** It belongs to nobody, and holds its scope up, until a tab comes that understands it; an index. */
  readonly waitsFor?: 'other-version';
  readonly doneAt?: number;
  readonly result?: unknown;
}

/** Neither of them can have a line break in a URL, nor has the name of a handler any. */
const separator = '\n';

/** The lane of an entry: its handler and, once it is known, the origin that it goes to. */
export const laneOf = (handler: string, origin?: string): string =>
  origin === undefined ? handler : `${handler}${separator}${origin}`;

export const splitLane = (lane: string): [handler: string, origin: string | undefined] =>
  lane.split(separator, 2) as [string, string | undefined];

/** The origin of a lane, as far as that is known. */
export const originOfLane = (lane: string): string | undefined => splitLane(lane)[1];

/** A row before it has its place. */
export type NewRow = Omit<Row, 'seq'>;

/** A field that a row need not have. */
type Optional = { [K in keyof NewRow]-?: object extends Pick<NewRow, K> ? K : never }[keyof NewRow];

/** The same row without these fields. */
export function without<T extends NewRow>(row: T, ...fields: readonly Optional[]): T {
  const rest = { ...row };
  for (const field of fields) Reflect.deleteProperty(rest, field);
  return rest;
}

/** Who may change the rows of an owner: whoever has taken it last. */
export interface OwnerRecord {
  readonly owner: string;
  readonly token: string;
  /** Where there are no Web Locks: until when it counts as alive. */
  readonly leaseUntil?: number;
}

/** What a tab writes with: refused once another has taken over. */
export interface Fence {
  readonly owner: string;
  readonly token: string;
}

/** A row before it has an owner. */
export type Unplaced = Omit<NewRow, 'owner' | 'liveOwner'>;

export type Index =
  | 'id'
  | 'handler'
  | 'due'
  | 'planned'
  | 'lanes'
  | 'blocks'
  | 'state'
  | 'liveOwner'
  | 'deadReason'
  | 'waitsFor'
  | 'doneAt';

/** What each index is of. A row is in the indexes of the fields that it has. */
export const indexes: Readonly<Record<Index, keyof Row | readonly (keyof Row)[]>> = {
  id: 'id',
  // By it, an entry that cannot be read any more still knows whether its scope waits for it.
  handler: 'handler',
  due: ['liveOwner', 'nextRetryAt'],
  planned: ['liveOwner', 'plannedAt'],
  lanes: ['liveOwner', 'lane', 'nextRetryAt'],
  blocks: 'blocks',
  state: 'state',
  liveOwner: 'liveOwner',
  deadReason: 'deadReason',
  waitsFor: 'waitsFor',
  doneAt: 'doneAt',
};

/** Lays out a database that is new. */
export function layOut(database: IDBDatabase): void {
  const rows = database.createObjectStore('rows', { keyPath: 'seq', autoIncrement: true });
  for (const [name, field] of Object.entries(indexes))
    rows.createIndex(name, field, { unique: name === 'id' });
  database.createObjectStore('owners', { keyPath: 'owner' });
}

/** A key of an index. In order: numbers, then texts, then lists; so an empty list is beyond all others. */
export type Key = number | string | readonly Key[];

/** Keys from the first to the last; with one, that alone. `isAfter`: the first is not among them. */
export type Range = readonly [first: Key, last?: Key, isAfter?: boolean];

/** How sure a write must be before it counts. */
type Durability = 'strict' | 'relaxed';

/** One transaction: nothing else is awaited in it, and nobody sees half of it. */
export interface Transaction {
  readonly row: (seq: number) => Promise<Row | undefined>;
  /** Rows in the order of an index, and then of their places. */
  readonly rows: (index: Index, range: Range, limit?: number) => Promise<readonly Row[]>;
  /** The places of the same. */
  readonly places: (index: Index, range: Range, limit?: number) => Promise<readonly number[]>;
  /** The first key of an index. */
  readonly firstKey: (index: Index, range: Range) => Promise<Key | undefined>;
  /** How many rows there are in an index, or in all. */
  readonly count: (index?: Index, range?: Range) => Promise<number>;
  /** Rows with this key of an index, or (without one) all, in the order of their places, after one of them. */
  readonly page: (
    index: Index,
    key: string | undefined,
    after: number,
    limit: number,
  ) => Promise<readonly Row[]>;
  /** @returns its place. */
  readonly add: (row: NewRow) => Promise<number>;
  readonly put: (row: Row) => Promise<unknown>;
  readonly remove: (seq: number) => Promise<unknown>;
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
  /** Whether a row of the scope is being sent: known at once of what is in this page alone. */
  readonly isSending?: (scope: string) => boolean;
  readonly close: () => void;
}
