import { DatabaseSync } from 'node:sqlite';
import { idempotent, type IdempotencyStore, sqliteStore } from '../../src/server.ts';

// A process that takes one order, and stops at the moment it is told: then it is killed.

const [, , path = '', moment = ''] = process.argv;
const db = new DatabaseSync(path);
db.exec('CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, article TEXT)');
const store = sqliteStore(db);

const stopAt = async (name: string): Promise<void> => {
  if (name !== moment) return;
  process.stdout.write(`${name}\n`);
  await new Promise((resolve) => void setTimeout(resolve, 60_000));
};

const stopping: IdempotencyStore<DatabaseSync> = {
  claim: (claim) => store.claim(claim),
  async run(claim, work) {
    await stopAt('claimed');
    return store.run(claim, work);
  },
};

const send = idempotent(
  async (request, { tx }) => {
    tx.prepare('INSERT INTO orders (article) VALUES (?)').run(await request.text());
    await stopAt('written');
    return new Response('by the first', { status: 201 });
  },
  {
    store: stopping,
    now: () => 0,
    leaseMs: 1000,
  },
);
const headers = { 'idempotency-key': '"a"' };
await send(new Request('http://shop.example/', { method: 'POST', headers, body: 'a lamp' }));
await stopAt('committed');
