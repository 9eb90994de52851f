import type { DBSchema, IDBPDatabase, IndexNames } from 'idb';
import type { OwnerRecord, Row } from './row.ts';

/** What is in the database. */
export interface OutboxSchema extends DBSchema {
  readonly rows: {
    readonly key: number;
    readonly value: Row;
    readonly indexes: {
      readonly id: string;
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

/** Lays out a database that is new. A row is in the indexes of the fields that it has. */
export function layOut(database: OutboxDatabase): void {
  const rows = database.createObjectStore('rows', { keyPath: 'seq', autoIncrement: true });
  rows.createIndex('id', 'id', { unique: true });
  rows.createIndex('due', ['liveOwner', 'nextRetryAt']);
  rows.createIndex('planned', ['liveOwner', 'plannedAt']);
  rows.createIndex('lanes', ['liveOwner', 'lane', 'nextRetryAt']);
  const single: readonly IndexNames<OutboxSchema, 'rows'>[] = [
    'blocks',
    'state',
    'liveOwner',
    'deadReason',
    'waitsFor',
    'doneAt',
  ];
  for (const name of single) rows.createIndex(name, name);
  database.createObjectStore('owners', { keyPath: 'owner' });
}
