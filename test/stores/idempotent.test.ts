import type { DatabaseSync } from 'node:sqlite';
import type { PoolClient } from 'pg';
import type { TransactionSql } from 'postgres';
import { describe } from 'vitest';
import { testAction } from '../server/action-contract.ts';
import { testCommit } from '../server/commit-contract.ts';
import { testIdempotent } from '../server/idempotent-contract.ts';
import { testLease } from '../server/lease-contract.ts';
import { sharedStores, startDrivers } from './shared-stores.ts';

const stores = sharedStores(startDrivers());

describe.each(stores)('with %s', (_, createStore) => {
  testIdempotent(createStore);
});
describe.each(stores)('with %s, an action', (_, createStore) => {
  testAction(createStore);
});

const ways: Readonly<Record<string, Parameters<typeof testCommit>[1]>> = {
  'postgresStore of pg': {
    text: (tx, sql) => (tx as PoolClient).query(sql),
    'an object': (tx, sql) => (tx as PoolClient).query({ text: sql }),
  },
  'postgresStore of postgres.js': {
    unsafe: (tx, sql) => (tx as TransactionSql).unsafe(sql),
    'a template': (tx, sql) =>
      (tx as TransactionSql)(
        Object.assign([sql], { raw: [sql] }) as unknown as TemplateStringsArray,
      ),
  },
  'sqliteStore of node:sqlite': {
    exec: (tx, sql) => (tx as DatabaseSync).exec(sql),
    prepare: (tx, sql) => (tx as DatabaseSync).prepare(sql).run(),
  },
};
describe.each(stores)('with %s, an answer and its effect', (name, createStore) => {
  testCommit(createStore, ways[name]);
});
describe.each(stores)('with %s, a handler that never ends', (name, createStore) => {
  testLease(name, createStore);
});
