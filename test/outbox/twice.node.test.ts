import { expect, test } from 'vitest';
import { answerOf, coalesceUnsent, outboxHandler, outboxLinks } from 'steadfetch/outbox';
import { api, createBrowser, settle } from './rig.ts';

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
