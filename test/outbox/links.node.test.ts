import { afterEach, describe, expect, test, vi } from 'vitest';
import { answerOf, type Outbox, outboxHandler, outboxLinks } from 'steadfetch/outbox';
import { api, type Arrival, createBrowser, type TestBrowser } from './rig.ts';

afterEach(() => void vi.restoreAllMocks());

interface Todo {
  readonly id: number;
}

const handlers = {
  create: outboxHandler({
    mutationFn: (todo: { title: string; parent?: number }, { json }) =>
      json<Todo>(`${api}/todos`, { method: 'POST', json: todo }),
    onDead: 'pass',
  }),
  rename: outboxHandler({
    mutationFn: ({ id, title }: { id: number; title: string }, { json }) =>
      json<Todo>(`${api}/todos/${id}`, { method: 'PATCH', json: { title } }),
    scope: ({ id }) => `todo ${id}`,
    onDead: 'pass',
  }),
  remove: outboxHandler({
    mutationFn: ({ id }: { id: number }, { fetch }) =>
      fetch(`${api}/todos/${id}`, { method: 'DELETE' }),
  }),
};

/** Each request in one line. */
const lines = ({ server }: TestBrowser): readonly string[] =>
  server.arrivals.map(({ url, body }) => `${url.slice(api.length)} ${body}`);

/** A server that answers by itself: with ids from 1 on. */
function answerAll(
  { server }: TestBrowser,
  refuse: (arrival: Arrival) => boolean = () => false,
): void {
  let ids = 0;
  server.rule = (arrival) =>
    refuse(arrival) ? arrival.answer(422) : arrival.answer(200, { id: (ids += 1) });
}

/** A browser with one tab, whose server does not answer before it is told to. */
function start() {
  const browser = createBrowser();
  const links = outboxLinks();
  const open = () => browser.openTab({ handlers, links });
  return { ...browser, open, links, browser };
}

const states = async (outbox: Outbox<typeof handlers>): Promise<readonly string[]> =>
  (await outbox.list()).map(({ handler, state, reason }) =>
    [handler, state, reason].filter(Boolean).join(' '),
  );

describe('an entry that refers to the answer of another', () => {
  test('is sent after it, with the real value in its place', async () => {
    const { browser, open, pass, server } = start();
    const { outbox } = open();
    const created = outbox.submit('create', { title: 'Milk' });
    const renamed = outbox.submit('rename', { id: answerOf(created, 'id'), title: 'Oat milk' });
    const child = outbox.submit('create', { title: 'Shop', parent: answerOf(created, 'id') });
    await pass(1000);
    expect(lines(browser)).toEqual(['/todos {"title":"Milk"}']);
    answerAll(browser);
    server.arrivals[0]?.answer(200, { id: 17 });
    await pass(1000);
    expect(lines(browser).slice(1).toSorted()).toEqual([
      '/todos {"title":"Shop","parent":17}',
      '/todos/17 {"title":"Oat milk"}',
    ]);
    await expect(renamed.delivered).resolves.toEqual({ id: 1 });
    await expect(child.delivered).resolves.toEqual({ id: 2 });
    expect(await outbox.list()).toEqual([]);
  });

  test('is sent so by the next page', async () => {
    const { browser, open, pass } = start();
    const first = open();
    const created = first.outbox.submit('create', { title: 'Milk' });
    first.outbox.submit('rename', { id: answerOf(created, 'id'), title: 'Oat milk' });
    await pass(1000);
    first.crash();
    answerAll(browser);
    open();
    await pass(200_000);
    expect(lines(browser).slice(1)).toEqual([
      '/todos {"title":"Milk"}',
      '/todos/1 {"title":"Oat milk"}',
    ]);
  });

  test('is sent by its own tab after another has delivered what it refers to', async () => {
    const { browser, open, pass, server } = start();
    const [one, other] = [open(), open()];
    const created = one.outbox.submit('create', { title: 'Milk' });
    await pass(100);
    other.outbox.submit('remove', { id: answerOf<number>(created.idempotencyKey, 'id') });
    await pass(1000);
    answerAll(browser);
    server.arrivals[0]?.answer(200, { id: 17 });
    await pass(1000);
    expect(server.arrivals.map(({ tab, url }) => `${tab} ${url.slice(api.length)}`)).toEqual([
      '1 /todos',
      '2 /todos/17',
    ]);
  });

  test('is sent at once where the answer is there already, also to the next page', async () => {
    const { browser, open, pass } = start();
    answerAll(browser);
    const first = open();
    const created = first.outbox.submit('create', { title: 'Milk' });
    await pass(1000);
    await created.delivered;
    expect(await first.outbox.list()).toEqual([]);
    first.crash();
    const { outbox } = open();
    const key = created.idempotencyKey;
    await outbox.submit('rename', { id: answerOf<number>(key, 'id'), title: 'Oat' }).saved;
    const [entry] = await outbox.list();
    expect(entry).toMatchObject({
      variables: { id: 1, title: 'Oat' },
      scope: 'todo 1',
      refersTo: [],
    });
    await pass(1000);
    expect(lines(browser)[1]).toBe('/todos/1 {"title":"Oat"}');
  });

  test('keeps its order with those that are submitted with the real id', async () => {
    const { browser, open, pass, server } = start();
    const { outbox } = open();
    const created = outbox.submit('create', { title: 'Milk' });
    outbox.submit('rename', { id: answerOf(created, 'id'), title: 'first' });
    outbox.submit('rename', { id: answerOf(created, 'id'), title: 'second' });
    await pass(1000);
    server.arrivals[0]?.answer(200, { id: 17 });
    await pass(1000);
    outbox.submit('rename', { id: 17, title: 'third' });
    outbox.submit('rename', { id: answerOf(created, 'id'), title: 'fourth' });
    await pass(1000);
    expect(lines(browser)).toHaveLength(2);
    answerAll(browser);
    server.arrivals[1]?.answer(200, { id: 17 });
    await pass(1000);
    expect(server.arrivals.slice(1).map(({ body }) => JSON.parse(body).title)).toEqual([
      'first',
      'second',
      'third',
      'fourth',
    ]);
  });

  test('dies with it, and no other does; it is sent again when that is', async () => {
    const { browser, open, pass } = start();
    let isRefusing = true;
    answerAll(browser, ({ body }) => isRefusing && body.includes('Milk'));
    const { outbox } = open();
    const created = outbox.submit('create', { title: 'Milk' });
    const child = outbox.submit('create', { title: 'child', parent: answerOf(created, 'id') });
    const grandchild = outbox.submit('rename', { id: answerOf(child, 'id'), title: 'grandchild' });
    const other = outbox.submit('create', { title: 'other' });
    created.delivered.catch(() => {});
    child.delivered.catch(() => {});
    await pass(1000);
    await expect(other.delivered).resolves.toEqual({ id: 1 });
    expect(await states(outbox)).toEqual([
      'create dead refused',
      'create dead parent-dead',
      'rename dead parent-dead',
    ]);
    await expect(grandchild.delivered).rejects.toMatchObject({
      name: 'DeadLetterError',
      reason: 'parent-dead',
      outcome: { processed: 'no' },
    });
    isRefusing = false;
    await outbox.retry(created.idempotencyKey);
    await pass(1000);
    expect(lines(browser).slice(2)).toEqual([
      '/todos {"title":"Milk"}',
      '/todos {"title":"child","parent":2}',
      '/todos/3 {"title":"grandchild"}',
    ]);
    expect(await states(outbox)).toEqual(['create done', 'create done', 'rename done']);
  });

  test('is dead with the reason that its answer is missing once that is discarded, and goes when it is edited', async () => {
    const { browser, open, pass } = start();
    const { outbox } = open();
    const created = outbox.submit('create', { title: 'Milk' });
    const renamed = outbox.submit('rename', { id: answerOf(created, 'id'), title: 'Oat' });
    created.delivered.catch(() => {});
    renamed.delivered.catch(() => {});
    await pass(1000);
    await outbox.discard(created.idempotencyKey);
    expect(await states(outbox)).toEqual(['rename dead answer-missing']);
    await outbox.retry(renamed.idempotencyKey);
    expect(await states(outbox)).toEqual(['rename dead answer-missing']);
    answerAll(browser);
    await outbox.edit(renamed.idempotencyKey, { id: 17, title: 'Oat' });
    await pass(1000);
    expect(lines(browser).at(-1)).toBe('/todos/17 {"title":"Oat"}');
  });

  test('follows it to its new key when that is edited', async () => {
    const { browser, open, pass } = start();
    answerAll(browser, ({ body }) => body.includes('bad'));
    const { outbox } = open();
    const created = outbox.submit('create', { title: 'bad' });
    created.delivered.catch(() => {});
    outbox.submit('rename', { id: answerOf(created, 'id'), title: 'x' }).delivered.catch(() => {});
    await pass(1000);
    const next = await outbox.edit(created.idempotencyKey, { title: 'good' });
    const later = outbox.submit('rename', { id: answerOf<number>(next ?? '', 'id'), title: 'y' });
    await pass(1000);
    expect(lines(browser).slice(1)).toEqual([
      '/todos {"title":"good"}',
      '/todos/1 {"title":"x"}',
      '/todos/1 {"title":"y"}',
    ]);
    await later.delivered;
  });

  test('is a dead letter where the answer has no such field, and holds nothing up', async () => {
    const { browser, open, pass } = start();
    answerAll(browser);
    const { outbox } = open();
    const created = outbox.submit('create', { title: 'Milk' });
    const key = created.idempotencyKey;
    const wrong = outbox.submit('remove', { id: answerOf<number>(key, 'ids') });
    wrong.delivered.catch(() => {});
    await pass(1000);
    expect(await outbox.list()).toMatchObject([
      { handler: 'remove', reason: 'answer-missing', attempts: 0, processed: 'no' },
    ]);
    expect(lines(browser)).toHaveLength(1);
  });

  test('is a dead letter where no such entry is known', async () => {
    const { open, pass } = start();
    const { outbox } = open();
    const { delivered } = outbox.submit('remove', { id: answerOf<number>('gone', 'id') });
    const told = delivered.catch((error: unknown) => error);
    await pass(1000);
    expect(await told).toMatchObject({ reason: 'answer-missing' });
    expect(await states(outbox)).toEqual(['remove dead answer-missing']);
  });

  test('has one that comes later, from another tab', async () => {
    const { browser, open, pass } = start();
    answerAll(browser);
    const [one, other] = [open(), open()];
    one.fail('all');
    const created = one.outbox.submit('create', { title: 'Milk' });
    browser.server.rule = undefined;
    await pass(100);
    const key = created.idempotencyKey;
    other.outbox.submit('remove', { id: answerOf<number>(key, 'id') }).delivered.catch(() => {});
    await pass(100);
    expect(await states(other.outbox)).toEqual(['remove dead answer-missing']);
    one.fail('none');
    answerAll(browser);
    browser.server.arrivals[0]?.answer(200, { id: 17 });
    await pass(120_000);
    expect(lines(browser).at(-1)).toBe('/todos/17 ');
  });
});

describe('in a page without a disk', () => {
  test('an entry is sent after the one that it refers to', async () => {
    const { browser, open, pass, server } = start();
    const { outbox, fail } = open();
    await pass(100);
    fail('quota');
    const created = outbox.submit('create', { title: 'Milk' });
    outbox.submit('rename', { id: answerOf(created, 'id'), title: 'Oat' });
    await pass(1000);
    expect(await outbox.list()).toMatchObject([{ isDurable: false }, { isDurable: false }]);
    answerAll(browser);
    server.arrivals[0]?.answer(200, { id: 17 });
    await pass(1000);
    expect(lines(browser)[1]).toBe('/todos/17 {"title":"Oat"}');
  });

  test('one that refers to an entry of the disk goes once the disk can be read', async () => {
    const { browser, open, pass, server } = start();
    const { outbox, fail } = open();
    const created = outbox.submit('create', { title: 'Milk' });
    await pass(1000);
    fail('all');
    outbox.submit('rename', { id: answerOf(created, 'id'), title: 'Oat' });
    await pass(1000);
    answerAll(browser);
    server.arrivals[0]?.answer(200, { id: 17 });
    await pass(1000);
    fail('none');
    await pass(200_000);
    expect(lines(browser).at(-1)).toBe('/todos/17 {"title":"Oat"}');
  });
});

test('a reference without outboxLinks, and a wrong option, is a TypeError in development', () => {
  const { openTab } = createBrowser();
  const { outbox } = openTab({ handlers });
  expect(() => outbox.submit('remove', { id: answerOf<number>('key', 'id') })).toThrow(
    /links: outboxLinks\(\)/,
  );
  expect(() => outboxLinks({ maxAnswers: -1 })).toThrow(TypeError);
  expect(() => answerOf('')).toThrow(/answerOf/);
  const coalesce = { by: () => undefined, merge: () => 'both' as const };
  const merging = { remove: { ...handlers.remove, coalesce } };
  expect(() => openTab({ handlers: merging, links: outboxLinks() })).toThrow(/coalesceUnsent/);
});

test('an answer is forgotten in time', async () => {
  const browser = createBrowser();
  const links = outboxLinks({ keepAnswersMs: 1000 });
  const { outbox } = browser.openTab({ handlers, links });
  const [used, unused] = ['used', 'unused'].map((title) => outbox.submit('create', { title }));
  await browser.pass(100);
  for (const [at, arrival] of browser.server.arrivals.entries())
    arrival.answer(200, { id: at + 1 });
  const child = { title: 'x', parent: answerOf<number>(used?.idempotencyKey ?? '', 'id') };
  outbox.submit('create', child);
  await browser.pass(700_000, 4000);
  const kept = (await browser.rows()).filter(({ state }) => state === 'done');
  expect(kept.map(({ id }) => id)).not.toContain(unused?.idempotencyKey);
});

test('a reference stands in texts, lists, maps, sets and forms', async () => {
  const browser = createBrowser();
  const seen: unknown[] = [];
  const { outbox } = browser.openTab({
    links: outboxLinks(),
    handlers: {
      make: { mutationFn: async () => ({ id: 7, inner: { name: 'n' } }) },
      take: { mutationFn: async (variables: unknown) => void seen.push(variables) },
    },
  });
  const made = outbox.submit('make', undefined);
  const id = answerOf(made, 'id');
  const form = new FormData();
  form.append('id', String(id));
  outbox.submit('take', {
    path: `/todos/${id}/notes`,
    list: [id, answerOf(made, 'inner', 'name')],
    map: new Map([[id, id]]),
    set: new Set([id]),
    whole: answerOf(made),
    form,
  });
  vi.spyOn(console, 'warn').mockReturnValue();
  await browser.pass(1000);
  const [taken] = seen as { form: FormData }[];
  expect(taken).toMatchObject({
    path: '/todos/7/notes',
    list: [7, 'n'],
    map: new Map([[7, 7]]),
    set: new Set([7]),
    whole: { id: 7, inner: { name: 'n' } },
  });
  expect(taken?.form.get('id')).toBe('7');
});
