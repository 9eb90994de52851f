import { expect, test } from 'vitest';
import { answerOf, coalesceUnsent, outboxHandler, outboxLinks } from 'steadfetch/outbox';
import { extendMutation, Submission } from '../../src/core/internal.ts';
import { epochMs } from '../core/origin/virtual-clock.ts';
import { api, createBrowser, settle, shop } from './rig.ts';

test('an entry that a page claims again, each time its connection has broken, is handled once more, not once for each time', async () => {
  const { openTab, server, pass } = createBrowser();
  let runs = 0;
  const order = outboxHandler({
    policy: { timeout: 300_000 },
    mutationFn: async (_: string, { json }) => {
      runs += 1;
      await json(`${api}/prices`);
      return json(`${api}/orders`, { method: 'POST', json: {} });
    },
  });
  const tab = openTab({ handlers: { order } });
  const { delivered } = tab.outbox.submit('order', 'lamp');
  await settle();
  for (const _ of Array(3)) {
    tab.fail('closed');
    await tab.outbox.list().catch(() => {});
    await pass(10_000);
  }
  expect(runs).toBe(1);
  // Its place was claimed since, so the second request of that attempt does not go.
  server.rule = (arrival) => arrival.answer(200, { id: 1 });
  server.arrivals[0]?.answer(200);
  await pass(5000);
  await expect(delivered).resolves.toEqual({ id: 1 });
  expect(runs).toBe(2);
  expect(server.arrivals.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('an entry that is merged while the answer comes that its scope is named by stays in order', async () => {
  const { openTab, server, pass } = createBrowser();
  let open: () => void = () => {};
  let isSlow = false;
  const cipher = {
    encrypt: async (value: unknown) => value,
    async decrypt(value: unknown) {
      if (isSlow) await new Promise<void>((done) => (open = done));
      return value;
    },
  };
  const handlers = {
    list: outboxHandler({
      mutationFn: (body: { title: string }, { json }) =>
        json<{ id: number }>(`${api}/lists`, { method: 'POST', json: body }),
    }),
    item: outboxHandler({
      mutationFn: (item: { name: string; list: number; count: number }, { json }) =>
        json(`${api}/items`, { method: 'PUT', json: item }),
      scope: ({ list }) => `list ${list}`,
      coalesce: {
        by: ({ name }) => name,
        merge: (_, variables) => ({ variables }),
      },
    }),
  };
  const { outbox } = openTab({
    handlers,
    cipher,
    links: outboxLinks({ coalesce: coalesceUnsent() }),
    parallel: 1,
  });
  const list = outbox.submit('list', { title: 'Food' });
  const id = answerOf(list, 'id');
  await outbox.submit('item', { name: 'egg', list: id, count: 1 }).saved;
  await outbox.submit('item', { name: 'oat', list: id, count: 1 }).saved;
  await settle();
  isSlow = true;
  const changed = outbox.submit('item', { name: 'oat', list: id, count: 2 });
  await settle();
  isSlow = false;
  server.arrivals[0]?.answer(200, { id: 7 });
  await settle();
  open();
  await changed.saved;
  await pass(100);
  expect([...new Set((await outbox.list()).map(({ scope }) => scope))]).toEqual(['list 7']);
  for (let at = 1; at < 5; at += 1) {
    server.arrivals[at]?.answer(200);
    await pass(100);
  }
  const items = server.arrivals.slice(1).map(({ body }) => JSON.parse(body) as object);
  expect(items.at(0)).toEqual({ name: 'egg', list: 7, count: 1 });
  expect(items.at(-1)).toEqual({ name: 'oat', list: 7, count: 2 });
});

test('a dead letter that is sent again by three presses at once goes once, under the one key that all of them get', async () => {
  const { openTab, server, pass } = createBrowser();
  const { outbox } = openTab({ handlers: shop, lifetimeMs: 60_000 });
  const { idempotencyKey, delivered } = outbox.submit('order', 'lamp');
  delivered.catch(() => {});
  server.rule = (arrival) => arrival.cut();
  await pass(400_000, 1000);
  expect(await outbox.list()).toMatchObject([{ state: 'dead', reason: 'expired' }]);
  const { length } = server.arrivals;
  server.rule = (arrival) => arrival.answer(201, { id: 1 });
  const keys = await Promise.all(Array.from({ length: 3 }, () => outbox.retry(idempotencyKey)));
  await pass(3000);
  expect(server.arrivals.slice(length).map(({ key }) => key)).toEqual([keys[0]]);
  expect(new Set(keys).size).toBe(1);
});

test('of two edits at once the later one goes; and the key from before still discards', async () => {
  const { openTab, server, pass } = createBrowser();
  const { outbox } = openTab({ handlers: shop });
  const { idempotencyKey, delivered } = outbox.submit('order', 0);
  delivered.catch(() => {});
  await settle();
  server.arrivals[0]?.answer(503, {}, { 'retry-after': '60' });
  await settle();
  await Promise.all([1, 2].map((n) => outbox.edit(idempotencyKey, n)));
  await pass(100);
  expect(server.arrivals.slice(1).map(({ body }) => body)).toEqual(['2']);
  expect(await outbox.discard(idempotencyKey)).toBe(true);
  expect(await outbox.list()).toEqual([]);
});

test('a database of this name that is not an outbox keeps nothing from being sent', async () => {
  const { name, openTab, server, pass } = createBrowser();
  const request = indexedDB.open(name, 2);
  await new Promise((done) => request.addEventListener('success', done));
  request.result.close();
  server.rule = (arrival) => arrival.answer(201, { id: 1 });
  const { outbox } = openTab({ handlers: shop });
  const { saved, delivered } = outbox.submit('order', 'lamp');
  await pass(1000);
  expect(await saved).toEqual({ isDurable: false });
  expect(await delivered).toEqual({ id: 1 });
  expect(outbox.getState().storage).toBe('lost');
});

test('an entry that is submitted once more, under its key, while its end is written leaves nothing behind', async () => {
  for (let turns = 0; turns < 16; turns += 1) {
    const { openTab, server, pass, rows } = createBrowser();
    const first = openTab({ handlers: shop });
    const { idempotencyKey: key } = first.outbox.submit('order', 'lamp');
    await settle();
    first.crash();
    const { outbox, client } = openTab({ handlers: shop });
    await pass(1000);
    const options = outbox.mutationOptions('order');
    const submissionOf = (): Submission => new Submission({ key, createdAt: epochMs });
    const mutationFn = extendMutation('test', options.mutationFn, { submissionOf });
    const again = client.getMutationCache().build(client, { ...options, mutationFn });
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    server.arrivals[1]?.answer(201, { id: 1 });
    for (let left = turns; left > 0; left -= 1)
      await new Promise((done) => void setImmediate(done));
    const answer = again.execute('lamp');
    await pass(1000);
    expect(await answer).toEqual({ id: 1 });
    expect(server.arrivals.map((arrival) => arrival.key)).toEqual([key, key]);
    expect(await rows()).toEqual([]);
  }
});

test('a press under the key that an entry had before it was edited is not another entry, and ends as that does', async () => {
  const { openTab, server, pass } = createBrowser();
  const { outbox, client } = openTab({ handlers: shop });
  const { idempotencyKey: key, delivered } = outbox.submit('order', 'lamp');
  await settle();
  server.arrivals[0]?.answer(422);
  await delivered.catch(() => {});
  await settle();
  const edited = await outbox.edit(key, 'chair');
  await settle();
  const options = outbox.mutationOptions('order');
  const submissionOf = (): Submission => new Submission({ key, createdAt: epochMs });
  const mutationFn = extendMutation('test', options.mutationFn, { submissionOf });
  const again = client.getMutationCache().build(client, { ...options, mutationFn });
  const answer = again.execute('lamp');
  await settle();
  expect(await outbox.list()).toMatchObject([{ idempotencyKey: edited }]);
  server.arrivals[1]?.answer(201, { id: 7 });
  await pass(100);
  expect(await answer).toEqual({ id: 7 });
  expect(server.arrivals.map(({ body }) => body)).toEqual(['"lamp"', '"chair"']);
});
