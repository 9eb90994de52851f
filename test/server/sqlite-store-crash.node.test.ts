import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idempotent, sqliteStore } from 'steadfetch/server';
import { expect, onTestFinished, test } from 'vitest';
import { openOrders, ordersIn, post, problemOf, told } from './rig.ts';

const key = '"a"';
const target = 'http://shop.example/';

/** Kills a process that takes an order, at one moment, and opens what it leaves. */
async function crashAt(moment: 'claimed' | 'written' | 'committed') {
  const folder = mkdtempSync(join(tmpdir(), 'steadfetch-crash-'));
  const path = join(folder, 'shop.db');
  const script = join(import.meta.dirname, 'dying-shop.ts');
  const child: ChildProcess = spawn(process.execPath, [script, path, moment], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const [said] = (await once(child.stdout as NonNullable<typeof child.stdout>, 'data')) as [Buffer];
  expect(said.toString()).toBe(`${moment}\n`);
  child.kill('SIGKILL');
  await once(child, 'exit');

  const db = openOrders(path);
  const time = { nowMs: 999 };
  const send = idempotent(
    async (request, { tx }) => {
      tx.prepare('INSERT INTO orders (article) VALUES (?)').run(await request.text());
      return new Response('by the second', { status: 201 });
    },
    { store: sqliteStore(db), now: () => time.nowMs, leaseMs: 1000 },
  );
  return { db, time, send: () => send(post({ key, url: target })) };
}

test.each(['claimed', 'written'] as const)(
  'a process that is killed when it has %s leaves nothing, and its key is free after the lease',
  async (moment) => {
    const { db, time, send } = await crashAt(moment);
    expect(ordersIn(db)).toEqual([]);
    expect(await problemOf(send())).toBe('409 in-progress');
    time.nowMs = 1000;
    expect(await told(send())).toBe('201 by the second');
    expect(await told(send())).toBe('201 by the second');
    expect(ordersIn(db)).toEqual(['a lamp']);
  },
);

test('a process that is killed between its commit and its answer leaves both', async () => {
  const { db, send } = await crashAt('committed');
  expect(ordersIn(db)).toEqual(['a lamp']);
  const answer = await send();
  expect(answer.headers.get('idempotent-replayed')).toBe('true');
  expect(await told(answer)).toBe('201 by the first');
  expect(ordersIn(db)).toEqual(['a lamp']);
});
