import { DatabaseSync } from 'node:sqlite';
import {
  idempotent,
  type IdempotencyStore,
  type IdempotentOptions,
  memoryStore,
  type MemoryTransaction,
  sqliteStore,
} from 'steadfetch/server';
import { onTestFinished } from 'vitest';

/** Where effects go, whatever keeps them. */
interface Ledger {
  /** Writes an order into the transaction. */
  readonly write: (tx: unknown, order: string) => unknown;
  /** What has been committed. */
  readonly orders: () => string[] | Promise<string[]>;
}

/** A store, and a ledger that is committed together with it. */
export interface StoreRig {
  readonly store: IdempotencyStore<unknown>;
  readonly ledger: Ledger;
}

export function createMemoryRig(): StoreRig {
  const orders: string[] = [];
  return {
    store: memoryStore(),
    ledger: {
      write: (tx, order) => (tx as MemoryTransaction).onCommit(() => void orders.push(order)),
      orders: () => [...orders],
    },
  };
}

const schema = 'CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, article TEXT)';

/** A SQLite handle with a table of orders, closed after the test. */
export function openOrders(path = ':memory:'): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 5000 });
  onTestFinished(() => db.close());
  db.exec(schema);
  return db;
}

export const ordersIn = (db: DatabaseSync): string[] =>
  db
    .prepare('SELECT article FROM orders ORDER BY id')
    .all()
    .map(({ article }) => String(article));

function createSqliteRig(): StoreRig {
  const db = openOrders();
  return {
    store: sqliteStore(db),
    ledger: {
      write: (tx, order) =>
        void (tx as DatabaseSync).prepare('INSERT INTO orders (article) VALUES (?)').run(order),
      orders: () => ordersIn(db),
    },
  };
}

/** A store by its name, for a test's title. */
export type NamedStore = readonly [name: string, create: () => StoreRig | Promise<StoreRig>];

/** The stores that need no server. */
export const stores: readonly NamedStore[] = [
  ['memoryStore', createMemoryRig],
  ['sqliteStore', createSqliteRig],
];

export const url = 'http://shop.example/orders?via=web';

export interface PostInit {
  /** As it is in the header. */
  readonly key?: string;
  readonly body?: BodyInit;
  readonly headers?: Record<string, string>;
  readonly url?: string;
  readonly method?: string;
}

/** A request as a form sends it. */
export function post(init: PostInit = {}): Request {
  const headers = new Headers(init.headers);
  if (init.key !== undefined) headers.set('idempotency-key', init.key);
  const { method = 'POST', body = 'a lamp' } = init;
  return new Request(init.url ?? url, { method, headers, body });
}

/** A handler that writes an order, with every option but the store. */
export function createShop(
  { store, ledger }: StoreRig,
  options: Omit<IdempotentOptions<unknown>, 'store'> = {},
  answer: (order: string, run: number) => Response | Promise<Response> = (order, run) =>
    new Response(`${order}: order ${run}`, { status: 201 }),
) {
  const state = { runs: 0, nowMs: 1_800_000_000_000 };
  const send = idempotent(
    async (request, { tx }) => {
      state.runs += 1;
      const { runs } = state;
      const order = await request.text();
      await ledger.write(tx, order);
      return answer(order, runs);
    },
    // No test depends on how fast a machine is.
    { now: () => state.nowMs, storeTimeoutMs: 600_000, ...options, store },
  );
  return Object.assign(state, { send });
}

/** Something to wait for, and to let go. */
export function createLatch(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/** An answer, as a test compares it. */
export async function told(answer: Response | Promise<Response>): Promise<string> {
  const response = await answer;
  return `${response.status} ${await response.text()}`;
}

/** The code of a problem, with its status. */
export async function problemOf(answer: Response | Promise<Response>): Promise<string> {
  const response = await answer;
  const { status, code } = (await response.json()) as { status: number; code: string };
  return response.headers.get('content-type') === 'application/problem+json' &&
    status === response.status
    ? `${status} ${code}`
    : `no problem: ${response.status}`;
}
