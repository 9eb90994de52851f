// A program of a server with every entry of the package, as each runtime of ../runtimes.ts runs it.
import { createServer } from 'node:http';
import { createSteadfetch, retry } from 'steadfetch';
import { idempotent, memoryStore, sqliteStore } from 'steadfetch/server';

const paths = process.argv.slice(2);
const empty = [];
for (const path of paths) if (Object.keys(await import(path)).length === 0) empty.push(path);

/** How the first request of a path fails; the second is answered. */
const failures = {
  '/503': (response) => response.writeHead(503).end(),
  '/reset': (response) => response.destroy(),
  '/cut': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{ "name"', () => response.destroy());
  },
  '/cut-chunks': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{ "name"', () => response.destroy());
  },
};
const failed = new Set();
const server = createServer(({ url }, response) => {
  if (url === '/hang') return;
  if (!failed.has(url)) {
    failed.add(url);
    failures[url](response);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end('{ "name": "Lamp" }');
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const base = `http://127.0.0.1:${server.address().port}`;
const steady = createSteadfetch({ policy: { baseMs: 1, capMs: 10 } });

const names = [];
for (const path of Object.keys(failures))
  names.push((await retry(steady, () => steady.json(`${base}${path}`))).name);

const reason = new Error('mine');
const controller = new AbortController();
setTimeout(() => controller.abort(reason), 20);
/** What a request that is never answered ends in. */
async function hang(init) {
  try {
    return await steady.fetch(`${base}/hang`, init);
  } catch (error) {
    return error;
  }
}
const aborted = await hang({ signal: controller.signal });
const { name: timedOut } = await hang({ timeout: 20 });

/** Two requests with one key. */
async function orderTwice(store) {
  let runs = 0;
  const handle = idempotent(async (request) => new Response(`${await request.text()} ${++runs}`), {
    store,
  });
  const init = { method: 'POST', body: 'lamp', headers: { 'idempotency-key': '"a"' } };
  const send = async () => (await handle(new Request('http://shop.test/', init))).text();
  return [await send(), await send()];
}
const stores = [memoryStore()];
// Node 20 has none.
const sqlite = await import('node:sqlite').catch(() => undefined);
if (sqlite) stores.push(sqliteStore(new sqlite.DatabaseSync(':memory:')));
const orders = [];
for (const store of stores) orders.push(...(await orderTwice(store)));

server.closeAllConnections();
server.close();
console.log(
  JSON.stringify({
    empty,
    names,
    isReason: aborted === reason,
    timedOut,
    orders: [...new Set(orders)],
  }),
);
