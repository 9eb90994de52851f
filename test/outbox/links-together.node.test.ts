import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  answerOf,
  coalesceUnsent,
  deliverOnSync,
  type OutboxCipher,
  outboxHandler,
  outboxLinks,
  type WorkerOutboxConfig,
} from 'steadfetch/outbox';
import { api, createBrowser, settle } from './rig.ts';

afterEach(() => void vi.unstubAllGlobals());

/** Keeps values as bytes, so that no word of them is readable on the disk. */
const cipher: OutboxCipher = {
  encrypt: async (value) => ({
    sealed: new TextEncoder().encode(JSON.stringify({ value })).map((byte) => byte ^ 85),
  }),
  decrypt: async (kept) => {
    const { sealed } = kept as { readonly sealed: Uint8Array };
    const text = new TextDecoder().decode(sealed.map((byte) => byte ^ 85));
    return (JSON.parse(text) as { readonly value: unknown }).value;
  },
};

const handlers = {
  list: outboxHandler({
    mutationFn: (list: { title: string }, { json }) =>
      json<{ id: number }>(`${api}/lists`, { method: 'POST', json: list }),
  }),
  item: outboxHandler({
    mutationFn: ({ list, ...item }: { list: number; name: string; count: number }, { json }) =>
      json<{ id: number }>(`${api}/lists/${list}/items`, { method: 'POST', json: item }),
    scope: ({ list }) => `list ${list}`,
    coalesce: {
      by: ({ list, name }) => `${list} ${name}`,
      merge: ({ variables }, later) => ({
        variables: { ...later, count: later.count + (variables as { count: number }).count },
      }),
    },
  }),
};

/** A browser whose service worker delivers, with all that an outbox may have. */
function start(maxAnswers = 1000) {
  const browser = createBrowser();
  const { name, openTab, pass, server } = browser;
  const links = outboxLinks({ maxAnswers, coalesce: coalesceUnsent() });
  const open = () => openTab({ handlers, cipher, links });
  let ids = 6;
  const answerAll = (): void => {
    server.rule = (arrival) => arrival.answer(200, { id: (ids += 1) });
  };
  /** @returns whether the browser is told that all is delivered. */
  const sync = async (
    options: Partial<WorkerOutboxConfig<typeof handlers>> = {},
    tag = `steadfetch ${name}`,
  ): Promise<string> => {
    const listeners: ((event: object) => void)[] = [];
    vi.stubGlobal('addEventListener', (_: string, listener: (event: object) => void) =>
      listeners.push(listener),
    );
    // Its own instance, as that of a service worker.
    const { steady } = openTab({
      handlers: { list: handlers.list },
      name: `${name} of the worker`,
    });
    deliverOnSync({ steady, handlers, name, cipher, links, ...options });
    let outcome = 'nothing to do';
    const waitUntil = (work: Promise<unknown>): void => {
      outcome = 'under way';
      work.then(
        () => (outcome = 'delivered'),
        (error: unknown) => (outcome = (error as Error).message),
      );
    };
    for (const listener of listeners) listener({ tag, waitUntil });
    await pass(3000);
    return outcome;
  };
  const lines = (): readonly string[] =>
    server.arrivals.map(({ url, body }) => `${url.slice(api.length)} ${body}`);
  return { ...browser, open, sync, answerAll, lines };
}

describe('references, a cipher, merging and a service worker together', () => {
  test('what a page has left is delivered in order, with the real ids, and unreadable until then', async () => {
    const { open, sync, answerAll, lines, rows, server } = start();
    const page = open();
    const list = page.outbox.submit('list', { title: 'Groceries' });
    const id = answerOf(list, 'id');
    for (const count of [1, 2]) page.outbox.submit('item', { list: id, name: 'Milk', count });
    await page.outbox.submit('item', { list: id, name: 'Bread', count: 1 }).saved;
    await settle();
    expect(server.arrivals).toHaveLength(1);
    page.crash();
    const kept = JSON.stringify(await rows());
    expect(kept).not.toMatch(/Groceries/);
    // The docs say that it stays readable.
    expect(kept).toContain('Bread');
    answerAll();
    expect(await sync()).toBe('delivered');
    expect(lines()).toEqual([
      '/lists {"title":"Groceries"}',
      '/lists {"title":"Groceries"}',
      '/lists/7/items {"name":"Milk","count":3}',
      '/lists/7/items {"name":"Bread","count":1}',
    ]);
  });

  test('the next page knows the answers that the worker has had', async () => {
    const { open, sync, answerAll, lines, pass } = start();
    const page = open();
    const list = page.outbox.submit('list', { title: 'Food' });
    await list.saved;
    page.crash();
    answerAll();
    expect(await sync()).toBe('delivered');
    const next = open();
    const { delivered } = next.outbox.submit('item', {
      list: answerOf<number>(list.idempotencyKey, 'id'),
      name: 'Oat',
      count: 1,
    });
    await pass(1000);
    await expect(delivered).resolves.toEqual({ id: 8 });
    expect(lines().at(-1)).toBe('/lists/7/items {"name":"Oat","count":1}');
  });

  test('a worker that has no cipher sends nothing that is encrypted, and the next page does', async () => {
    const { open, sync, answerAll, lines, pass } = start();
    const page = open();
    await page.outbox.submit('list', { title: 'Food' }).saved;
    page.crash();
    answerAll();
    const { length } = lines();
    expect(await sync({ cipher: undefined })).toBe('delivered');
    expect(lines()).toHaveLength(length);
    open();
    await pass(1000);
    expect(lines().slice(length)).toEqual(['/lists {"title":"Food"}']);
  });

  test('of another user’s tag it touches nothing', async () => {
    const { open, sync, server, name } = start();
    const page = open();
    await page.outbox.submit('list', { title: 'Food' }).saved;
    await settle();
    page.crash();
    const { length } = server.arrivals;
    expect(await sync({}, `steadfetch ${name} of another user`)).toBe('delivered');
    expect(server.arrivals).toHaveLength(length);
  });
});

describe.each([0, 1, 2])('where %i answers are kept', (maxAnswers) => {
  test('those that an entry waits for are kept all the same, and the others forgotten', async () => {
    const { open, answerAll, lines, pass, rows, server } = start(maxAnswers);
    const { outbox } = open();
    const lists = ['a', 'b', 'c'].map((title) => outbox.submit('list', { title }));
    for (const list of lists)
      for (const name of ['Milk', 'Bread'])
        outbox.submit('item', { list: answerOf(list, 'id'), name, count: 1 });
    await pass(100);
    for (const [at, arrival] of server.arrivals.entries()) arrival.answer(200, { id: at + 1 });
    // The first of each list is under way, and the second waits behind it: for longer than any answer is kept.
    await pass(1_300_000, 4000);
    answerAll();
    const { length } = server.arrivals;
    for (const { answer } of server.arrivals.slice(3)) answer(200, { id: 0 });
    await pass(700_000, 4000);
    expect(length).toBeGreaterThan(3);
    const sent = new Set(lines().slice(3));
    expect([...sent].toSorted()).toEqual(
      [1, 2, 3].flatMap((list) =>
        ['Bread', 'Milk'].map((name) => `/lists/${list}/items {"name":"${name}","count":1}`),
      ),
    );
    expect((await rows()).length).toBe(maxAnswers);
  });
});
