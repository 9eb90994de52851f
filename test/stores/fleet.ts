import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { type IdempotentOptions, sqliteStore } from 'steadfetch/server';
import { postgresTable } from 'steadfetch/server/postgres';
import { onTestFinished } from 'vitest';
import { patienceMs } from '../setup/patience.ts';
import type { Drivers } from './shared-stores.ts';

export const driverNames = ['pg', 'postgres.js', 'ioredis', 'redis', 'node:sqlite'] as const;
export type DriverName = (typeof driverNames)[number];

/** What each process of a fleet is told. */
export interface ShopSettings extends Pick<
  IdempotentOptions<unknown>,
  'leaseMs' | 'storeTimeoutMs' | 'retryAfterSeconds'
> {
  readonly driver: DriverName;
  /** Of SQLite, the folder of its file. */
  readonly socket: string;
  /** Of its keys and of its orders. */
  readonly name: string;
  /** How many it has to PostgreSQL. */
  readonly connections: number;
}

interface Shop {
  readonly child: ChildProcess;
  /** Once it listens. */
  readonly url: Promise<string>;
}

/** What one request of one order has led to. */
export interface Reply {
  /** 0 when no answer came. */
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** What has been committed, and how often handlers have begun, by key. */
interface Ledger {
  readonly orders: ReadonlyMap<string, readonly string[]>;
  readonly begun: ReadonlyMap<string, number>;
}

function startShop(settings: ShopSettings): Shop {
  const script = join(import.meta.dirname, 'shop-process.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const listens = async (): Promise<string> => {
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    return `http://127.0.0.1:${port.toString().trim()}/orders`;
  };
  return { child, url: listens() };
}

/** A file of SQLite, with a table of orders, before several processes want it at once. */
function createFile(folder: string): void {
  mkdirSync(folder);
  const db = openFile(folder);
  db.exec('CREATE TABLE orders (key TEXT, run TEXT)');
  sqliteStore(db);
  db.close();
}

export const openFile = (folder: string): DatabaseSync =>
  new DatabaseSync(join(folder, 'shop.db'), { timeout: patienceMs });

function ordersIn(folder: string): string[] {
  const db = openFile(folder);
  const rows = db.prepare("SELECT key || ' ' || run AS line FROM orders").all();
  db.close();
  return rows.map(({ line }) => String(line));
}

/** One line for each handler that has begun: the file of SQLite has one transaction at a time. */
const begunIn = (folder: string): string[] => {
  const path = join(folder, 'begun.txt');
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
};

let fleets = 0;

/** Several processes that take orders behind one store, until the test is over. */
export async function startFleet(
  drivers: Drivers,
  driver: DriverName,
  options: Partial<ShopSettings> & { readonly size?: number } = {},
) {
  const { size = 3, ...more } = options;
  const name = `fleet_${(fleets += 1)}`;
  const isRedis = driver === 'ioredis' || driver === 'redis';
  const isSqlite = driver === 'node:sqlite';
  const folder = join(drivers.folder, name);
  const { socket } = isRedis ? drivers.redis : isSqlite ? { socket: folder } : drivers.postgres;
  const settings: ShopSettings = { driver, socket, name, connections: 10, ...more };
  if (isSqlite) createFile(folder);
  else if (!isRedis) {
    const tables = `CREATE TABLE ${name}_orders (key text, run text);
      CREATE TABLE ${name}_begun (key text)`;
    await drivers.pool.query(`${postgresTable(`${name}_keys`)} ${tables}`);
  }
  const shops = Array.from({ length: size }, () => startShop(settings));
  onTestFinished(() => {
    for (const { child } of shops) child.kill('SIGKILL');
  });
  await Promise.all(shops.map(({ url }) => url));

  /** One request of an order, at one process. A handler whose work is null never ends. */
  const send = async (index: number, key: string, workMs: number | null = 5): Promise<Reply> => {
    try {
      const url = await shops[index]?.url;
      const response = await fetch(url ?? '', {
        method: 'POST',
        // How long it takes is no part of the payload, which is the same for all who send the order.
        headers: {
          'idempotency-key': `"${key}"`,
          ...(workMs !== null && { 'work-ms': `${workMs}` }),
        },
        body: 'a lamp',
      });
      const { status, headers } = response;
      return { status, retryAfter: headers.get('retry-after'), text: await response.text() };
    } catch {
      return { status: 0, retryAfter: null, text: '' };
    }
  };

  const ledger = async (): Promise<Ledger> => {
    const orders = new Map<string, string[]>();
    const begun = new Map<string, number>();
    const read = async (what: 'orders' | 'begun'): Promise<string[]> => {
      if (isRedis) return drivers.ioredis.lrange(`${name}:${what}`, 0, -1);
      if (isSqlite) return what === 'orders' ? ordersIn(folder) : begunIn(folder);
      const line = what === 'orders' ? "key || ' ' || run" : 'key';
      const { rows } = await drivers.pool.query<{ line: string }>(
        `SELECT ${line} AS line FROM ${name}_${what}`,
      );
      return rows.map((row) => row.line);
    };
    for (const line of await read('orders')) {
      const [key = '', run = ''] = line.split(' ');
      orders.set(key, [...(orders.get(key) ?? []), JSON.stringify({ key, run })]);
    }
    for (const key of await read('begun')) begun.set(key, (begun.get(key) ?? 0) + 1);
    return { orders, begun };
  };

  return {
    /** Where SQLite has its file. */
    folder,
    size,
    send,
    /** Sends an order, at one process after the other, until it is answered. */
    async order(key: string, { first = 0, workMs = 5 } = {}): Promise<string> {
      for (let attempt = first; ; attempt++) {
        const { status, text } = await send(attempt % size, key, workMs);
        if (status === 201) return text;
        // 500 is a handler that has outlived its lease, because its process or its store was held up.
        if (![0, 409, 500, 503].includes(status)) throw new Error(`${status} ${text}`);
        await sleep(20);
      }
    },
    /** Kills a process at once, and starts another one in its place. */
    kill(index: number): void {
      shops[index]?.child.kill('SIGKILL');
      shops[index] = startShop(settings);
    },
    /** Puts a process to sleep, as a machine does that is moved or swaps. */
    async suspend(index: number, sleepMs: number): Promise<void> {
      const child = shops[index]?.child;
      child?.kill('SIGSTOP');
      await sleep(sleepMs);
      child?.kill('SIGCONT');
    },
    /** Resolves when a process listens. */
    isUp: async (index: number): Promise<void> => void (await shops[index]?.url),
    ledger,
    /** The keys whose order was not written once, or was answered otherwise than it was written. */
    async faultsIn(answers: Iterable<readonly [key: string, given: ReadonlySet<string>]>) {
      const { orders } = await ledger();
      return [...answers].filter(([key, given]) => {
        const written = orders.get(key) ?? [];
        return written.length !== 1 || given.size !== 1 || !given.has(written[0] ?? '');
      });
    },
  };
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;
