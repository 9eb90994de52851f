import { afterEach, expect, test, vi } from 'vitest';
import { answerOf, coalesceUnsent, outboxHandler, outboxLinks } from 'steadfetch/outbox';
import { api, createBrowser } from './rig.ts';

afterEach(() => void vi.restoreAllMocks());

interface Todo {
  readonly id: number;
}
interface Rename {
  readonly id: number;
  readonly title: string;
}

const handlers = {
  create: outboxHandler({
    mutationFn: (todo: { title: string; parent?: number }, { json }) =>
      json<Todo>(`${api}/todos`, { method: 'POST', json: todo }),
  }),
  rename: outboxHandler({
    mutationFn: ({ id, title }: Rename, { json }) =>
      json<Todo>(`${api}/todos/${id}`, { method: 'PATCH', json: { title } }),
    scope: ({ id }) => `todo ${id}`,
    coalesce: {
      by: ({ id }) => `${id}`,
      merge: ({ handler, variables }, { title }) =>
        handler === 'remove' ? 'both' : { variables: { ...(variables as object), title } },
    },
  }),
  remove: outboxHandler({
    mutationFn: ({ id }: { id: number }, { fetch }) =>
      fetch(`${api}/todos/${id}`, { method: 'DELETE' }),
    scope: ({ id }) => `todo ${id}`,
    coalesce: {
      by: ({ id }) => `${id}`,
      merge: ({ handler }) => (handler === 'create' ? 'neither' : 'both'),
    },
  }),
};

/** A tab whose server has a request of each handler that it does not answer yet, so that nothing more is sent. */
async function startBusy() {
  const browser = createBrowser();
  const { outbox } = browser.openTab({
    handlers,
    links: outboxLinks({ coalesce: coalesceUnsent() }),
    parallel: 1,
  });
  outbox.submit('create', { title: '1' });
  outbox.submit('rename', { id: 91, title: '2' });
  outbox.submit('remove', { id: 92 });
  await browser.pass(1000);
  expect(browser.server.arrivals).toHaveLength(3);
  const answer = async (): Promise<readonly string[]> => {
    await browser.pass(1);
    let ids = 100;
    browser.server.rule = (arrival) => arrival.answer(200, { id: (ids += 1) });
    for (const arrival of browser.server.arrivals) arrival.answer(200, { id: (ids += 1) });
    await browser.pass(1000);
    return browser.server.arrivals
      .slice(3)
      .map(({ method, url, body }) => `${method} ${url.slice(api.length)} ${body}`);
  };
  return { ...browser, outbox, answer };
}

test('creating and changing is one creation, and both submitters have its answer', async () => {
  const { outbox, answer } = await startBusy();
  const created = outbox.submit('create', { title: 'Milk' });
  const renamed = outbox.submit('rename', { id: answerOf(created, 'id'), title: 'Oat' });
  const again = outbox.submit('rename', { id: answerOf(created, 'id'), title: 'Soy' });
  await again.saved;
  expect(await outbox.find(again.idempotencyKey)).toMatchObject({
    handler: 'create',
    variables: { title: 'Soy' },
  });
  expect(await answer()).toEqual(['POST /todos {"title":"Soy"}']);
  await expect(created.delivered).resolves.toEqual({ id: 104 });
  await expect(renamed.delivered).resolves.toEqual({ id: 104 });
  await expect(again.delivered).resolves.toEqual({ id: 104 });
});

test('what refers to the creation has its answer all the same', async () => {
  const { outbox, answer } = await startBusy();
  const created = outbox.submit('create', { title: 'Milk' });
  outbox.submit('create', { title: 'child', parent: answerOf(created, 'id') });
  outbox.submit('rename', { id: answerOf(created, 'id'), title: 'Oat' });
  expect(await answer()).toEqual([
    'POST /todos {"title":"Oat"}',
    'POST /todos {"title":"child","parent":104}',
  ]);
});

test('creating and deleting is nothing: the creation is discarded, and the deletion is done', async () => {
  const { outbox, answer } = await startBusy();
  const created = outbox.submit('create', { title: 'Milk' });
  const told = created.delivered.catch((error: unknown) => error);
  const removed = outbox.submit('remove', { id: answerOf(created, 'id') });
  expect(await told).toMatchObject({ outcome: { kind: 'aborted', processed: 'no' } });
  await expect(removed.delivered).resolves.toBeUndefined();
  expect(await outbox.list()).toHaveLength(3);
  expect(await answer()).toEqual([]);
});

test('creating and deleting stay two where another entry refers to the creation', async () => {
  const { outbox, answer } = await startBusy();
  const created = outbox.submit('create', { title: 'Milk' });
  outbox.submit('create', { title: 'child', parent: answerOf(created, 'id') });
  outbox.submit('remove', { id: answerOf(created, 'id') });
  const lines = await answer();
  expect(lines[0]).toBe('POST /todos {"title":"Milk"}');
  expect(lines.slice(1).toSorted()).toEqual([
    'DELETE /todos/104 ',
    'POST /todos {"title":"child","parent":104}',
  ]);
});

test('changes of a thing that is there are one, and others are not', async () => {
  const { outbox, answer } = await startBusy();
  outbox.submit('rename', { id: 7, title: 'a' });
  outbox.submit('rename', { id: 8, title: 'b' });
  outbox.submit('rename', { id: 7, title: 'c' });
  expect(await answer()).toEqual(['PATCH /todos/7 {"title":"c"}', 'PATCH /todos/8 {"title":"b"}']);
});

test('what may have been sent is never merged', async () => {
  const { outbox, answer, server, pass } = await startBusy();
  outbox.submit('rename', { id: 7, title: 'a' });
  await pass(1);
  for (const arrival of server.arrivals.slice(0, 3)) arrival.answer(200, { id: 1 });
  await pass(1000);
  server.arrivals[3]?.cut();
  await pass(100);
  outbox.submit('rename', { id: 7, title: 'b' });
  await pass(1);
  expect(await outbox.list()).toMatchObject([
    { handler: 'rename', variables: { title: 'a' } },
    { handler: 'rename', variables: { title: 'b' } },
  ]);
  await pass(60_000);
  await answer();
  await pass(60_000);
  const titles = server.arrivals.slice(3).map(({ body }) => (JSON.parse(body) as Rename).title);
  expect([...new Set(titles)]).toEqual(['a', 'b']);
});

test('an entry between two changes of its scope keeps them apart', async () => {
  const { outbox, answer } = await startBusy();
  outbox.submit('rename', { id: 7, title: 'a' });
  outbox.submit('remove', { id: 7 });
  outbox.submit('rename', { id: 7, title: 'b' });
  expect(await answer()).toEqual([
    'PATCH /todos/7 {"title":"a"}',
    'DELETE /todos/7 ',
    'PATCH /todos/7 {"title":"b"}',
  ]);
});

test('a merge that throws costs nothing but the merge, and is told in development', async () => {
  const warned = vi.spyOn(console, 'warn').mockReturnValue();
  const browser = createBrowser();
  const broken = {
    ...handlers,
    rename: {
      ...handlers.rename,
      coalesce: {
        by: ({ id }: Rename) => `${id}`,
        merge: () => {
          throw new Error('of the app');
        },
      },
    },
  };
  const { outbox } = browser.openTab({
    handlers: broken,
    links: outboxLinks({ coalesce: coalesceUnsent() }),
    parallel: 1,
  });
  outbox.submit('rename', { id: 91, title: '1' });
  await browser.pass(100);
  outbox.submit('rename', { id: 7, title: 'a' });
  outbox.submit('rename', { id: 7, title: 'b' });
  await browser.pass(100);
  expect(await outbox.list()).toHaveLength(3);
  expect(warned.mock.calls.flat().join()).toContain('of the app');
});

test('a thing whose name has a reference within it is not merged with what that refers to', async () => {
  const browser = createBrowser();
  const item = outboxHandler({
    mutationFn: ({ list, ...body }: { list: number; name: string; count: number }, { json }) =>
      json(`${api}/lists/${list}/items`, { method: 'PUT', json: body }),
    coalesce: {
      by: ({ list, name }) => `${list} ${name}`,
      merge: ({ variables }, { count }) => ({ variables: { ...(variables as object), count } }),
    },
  });
  const { outbox } = browser.openTab({
    handlers: { create: handlers.create, item },
    links: outboxLinks({ coalesce: coalesceUnsent() }),
    parallel: 1,
  });
  outbox.submit('create', { title: 'busy' });
  await browser.pass(100);
  const list = answerOf(outbox.submit('create', { title: 'Food' }), 'id');
  for (const count of [1, 2]) outbox.submit('item', { list, name: 'Milk', count });
  await browser.pass(100);
  browser.server.rule = (arrival) => arrival.answer(200, { id: 7 });
  browser.server.arrivals[0]?.answer(200, { id: 6 });
  await browser.pass(1000);
  expect(
    browser.server.arrivals.map(({ url, body }) => `${url.slice(api.length)} ${body}`),
  ).toEqual([
    '/todos {"title":"busy"}',
    '/todos {"title":"Food"}',
    '/lists/7/items {"name":"Milk","count":2}',
  ]);
});
