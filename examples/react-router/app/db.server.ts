import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from 'steadfetch/server';

export const db = new DatabaseSync('shop.db', { timeout: 5000 });
db.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, article TEXT)');

/** Keeps idempotency keys beside the orders: both are committed together. */
export const store = sqliteStore(db);
