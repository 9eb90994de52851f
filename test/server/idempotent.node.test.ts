import type { DatabaseSync } from 'node:sqlite';
import { idempotent, memoryStore } from 'steadfetch/server';
import { describe, expect, test } from 'vitest';
import { testCommit } from './commit-contract.ts';
import { testIdempotent } from './idempotent-contract.ts';
import { createShop, post, stores, told, url } from './rig.ts';

const key = '"8e03978e"';

describe.each(stores)('with %s', (_, createStore) => {
  testIdempotent(createStore);
});

describe.each(stores)('with %s, an answer and its effect', (name, createStore) => {
  const sqlite = {
    exec: (tx: unknown, sql: string) => (tx as DatabaseSync).exec(sql),
    prepare: (tx: unknown, sql: string) => (tx as DatabaseSync).prepare(sql).run(),
  };
  testCommit(createStore, name === 'sqliteStore' ? sqlite : {});
});

describe.each(stores)('with %s', (_, createStore) => {
  test('a key is forgotten after its lifetime, and not before', async () => {
    const rig = await createStore();
    const shop = createShop(rig, { lifetimeMs: 60_000 });
    await shop.send(post({ key }));
    shop.nowMs += 59_999;
    expect(await told(shop.send(post({ key })))).toBe('201 a lamp: order 1');
    shop.nowMs += 1;
    expect(await told(shop.send(post({ key, body: 'a chair' })))).toBe('201 a chair: order 2');
    expect(await told(shop.send(post({ key, body: 'a chair' })))).toBe('201 a chair: order 2');
  });
});

test('the handler gets the key without its quotes, and the request as it was sent', async () => {
  const send = idempotent(
    async (request, context) =>
      Response.json({
        key: context.key,
        method: request.method,
        url: request.url,
        of: request.headers.get('of'),
        body: await request.text(),
      }),
    { store: memoryStore() },
  );
  const request = post({ key: '"a\\"b"', headers: { of: 'Ann' }, method: 'PATCH' });
  expect(await (await send(request)).json()).toEqual({
    key: 'a"b',
    method: 'PATCH',
    url,
    of: 'Ann',
    body: 'a lamp',
  });
});
