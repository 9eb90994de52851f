import type { DBSchema, IDBPDatabase, IDBPTransaction, IndexNames } from 'idb';
import type { OwnerRecord, Row } from './row.ts';

/** What is in the database. */
export interface OutboxSchema extends DBSchema {
  readonly rows: {
    readonly key: number;
    readonly value: Row;
    readonly indexes: {
      readonly id: string;
      readonly handler: string;
      readonly due: [owner: string, nextRetryAt: number];
      readonly planned: [owner: string, plannedAt: number];
      readonly lanes: [owner: string, lane: string, nextRetryAt: number];
      readonly blocks: string;
      readonly state: string;
      readonly liveOwner: string;
      readonly deadReason: string;
      readonly waitsFor: string;
      readonly doneAt: number;
    };
  };
  readonly owners: { readonly key: string; readonly value: OwnerRecord };
}

export type OutboxDatabase = IDBPDatabase<OutboxSchema>;

type Index = IndexNames<OutboxSchema, 'rows'>;

/** What each index is of. A row is in the indexes of the fields that it has. */
const indexes: Readonly<Record<Index, string | string[]>> = {
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

/** Lays out a database that is new, and adds what one of an earlier version lacks. */
export function layOut(
  database: OutboxDatabase,
  upgrade: IDBPTransaction<OutboxSchema, ('rows' | 'owners')[], 'versionchange'>,
): void {
  const isNew = !database.objectStoreNames.contains('rows');
  const rows = isNew
    ? database.createObjectStore('rows', { keyPath: 'seq', autoIncrement: true })
    : upgrade.objectStore('rows');
  for (const [name, path] of Object.entries(indexes) as [Index, string | string[]][])
    if (!rows.indexNames.contains(name)) rows.createIndex(name, path, { unique: name === 'id' });
  if (isNew) database.createObjectStore('owners', { keyPath: 'owner' });
}
