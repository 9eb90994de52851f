import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { idempotent, sqliteStore } from '../../src/server.ts';
import type { Order } from './contender.ts';
import { type DisturbanceKind, disturbanceOf } from './disturbance.ts';

export interface LossyOptions {
  readonly seed: number;
  /** How many times faster than life. */
  readonly speed: number;
  /** Where the ledger is, which then outlives the server. @default a folder that goes with it */
  readonly folder?: string | undefined;
  /** @default any that is free */
  readonly port?: number | undefined;
}

/** An order of this is refused: 422. */
export const refusedArticle = 'a unicorn';

/** What the server knows in the end. */
export interface Ledger {
  /** How often each order has been committed, by its number. */
  readonly orders: Readonly<Record<number, number>>;
  /** The numbers of the orders, as they were committed one after the other. */
  readonly sequence: readonly number[];
  /** How many requests came, browser resends among them, by what happened to them. */
  readonly arrivals: Readonly<Partial<Record<DisturbanceKind, number>>>;
}

/** One in this process. */
export interface OwnLossyServer extends LossyServer {
  /** Resolves when the first request has come, with its body. */
  readonly arrived: Promise<void>;
}

export interface LossyServer {
  readonly url: string;
  /** What has been committed, once nothing is under way any more. */
  readonly report: () => Promise<Ledger>;
  readonly close: () => Promise<void>;
}

/** How long a request is taken to be under way, in life. */
const leaseMs = 40_000;

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'content-type, idempotency-key',
  'access-control-expose-headers': 'retry-after, date',
  'access-control-max-age': '7200',
};

function openLedger(folder: string): DatabaseSync {
  const db = new DatabaseSync(join(folder, 'shop.db'));
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, no INTEGER NOT NULL, article TEXT NOT NULL)`);
  return db;
}

/**
 * Whether it has the port: a client that asks for it while nobody is there may be given it for its own
 * end of the connection, for a moment.
 */
async function listen(server: Server, port: number): Promise<boolean> {
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return false;
  }
}

/** A shop with a real ledger that takes each key once, at the end of a line that loses answers. */
export async function startLossyServer({
  seed,
  speed,
  folder: kept,
  port: wanted = 0,
}: LossyOptions): Promise<OwnLossyServer> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'steadfetch-lossy-'));
  const db = openLedger(folder);
  const insert = db.prepare('INSERT INTO orders (no, article) VALUES (?, ?)');
  const placeOrder = idempotent(
    async (request) => {
      const { no, article } = (await request.json()) as Order;
      if (article === refusedArticle) return new Response(null, { status: 422 });
      const { lastInsertRowid } = insert.run(no, article);
      return Response.json({ id: Number(lastInsertRowid) }, { status: 201 });
    },
    // What a server that was killed has left does not hold its key for long.
    { store: sqliteStore(db), leaseMs: Math.ceil(leaseMs / speed) },
  );

  const arrivalsOf = new Map<number, number>();
  const arrivals: Partial<Record<DisturbanceKind, number>> = {};
  let underWay = 0;
  let tellIdle = (): void => {};
  let tellArrived = (): void => {};
  const arrived = new Promise<void>((come) => (tellArrived = come));

  /** Processes a request, whatever has become of its connection. */
  const process = async (incoming: IncomingMessage, body: Uint8Array<ArrayBuffer>) => {
    const headers = { 'content-type': 'application/json' };
    const key = incoming.headers['idempotency-key'];
    const keyed = typeof key === 'string' ? { ...headers, 'idempotency-key': key } : headers;
    const url = `http://shop.example${incoming.url}`;
    return placeOrder(new Request(url, { method: 'POST', headers: keyed, body }));
  };

  const converse = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = new Uint8Array(await buffer(incoming));
    const { no } = JSON.parse(new TextDecoder().decode(body)) as Order;
    const arrival = (arrivalsOf.get(no) ?? 0) + 1;
    arrivalsOf.set(no, arrival);
    const { kind, delayMs, passesSecond } = disturbanceOf(seed, no, arrival);
    arrivals[kind] = (arrivals[kind] ?? 0) + 1;
    tellArrived();

    if (kind === 'hang') return;
    // A gateway knows nothing of CORS.
    if (kind === '503') return void outgoing.writeHead(503).end();
    if (kind === 'late') await new Promise((passed) => void setTimeout(passed, delayMs / speed));
    const first = process(incoming, body);
    const second = kind === 'twice' ? process(incoming, body) : first;
    const [one, two] = await Promise.all([first, second]);
    if (kind === 'commit-hang') return;
    if (kind === 'commit-reset') return void incoming.socket.resetAndDestroy();
    if (kind === 'commit-503') return void outgoing.writeHead(503).end();
    const response = passesSecond ? two : one;
    outgoing.writeHead(response.status, { ...cors, ...Object.fromEntries(response.headers) });
    outgoing.end(new Uint8Array(await response.clone().arrayBuffer()));
  };

  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    // What is not an order is a ping, or the question whether an order may be sent.
    if (incoming.method !== 'POST') return void outgoing.writeHead(204, cors).end();
    underWay += 1;
    const settle = (): void => {
      underWay -= 1;
      if (underWay === 0) tellIdle();
    };
    // Nobody is left to be told of a body that broke off.
    converse(incoming, outgoing).then(settle, settle);
  });
  while (!(await listen(server, wanted)));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/orders`,
    arrived,
    async report() {
      if (underWay > 0) await new Promise<void>((idle) => (tellIdle = idle));
      const rows = db.prepare('SELECT no FROM orders ORDER BY id').all();
      const sequence = rows.map(({ no }) => Number(no));
      const orders: Record<number, number> = {};
      for (const no of sequence) orders[no] = (orders[no] ?? 0) + 1;
      return { orders, sequence, arrivals };
    },
    async close() {
      const closed = new Promise((done) => void server.close(done));
      server.closeAllConnections();
      await closed;
      db.close();
      if (kept === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
