import { describe, expect, test, vi } from 'vitest';
import { classifyOutcomes } from 'steadfetch';
import {
  type AnyOutboxHandlers,
  type DeadLetterError,
  type OutboxContext,
  outboxLinks,
} from 'steadfetch/outbox';
import { openIndexedDb } from '../../src/outbox/store/disk.ts';
import type { Row } from '../../src/outbox/store/row.ts';
import { deriveKey } from '../../src/core/idempotency/key.ts';
import { api, createBrowser, settle, shop } from './rig.ts';

const { order } = shop;
const scoped = { order: { ...order, scope: 'cart' } };
/** Rejections, as text. */
const endOf = (delivered: Promise<unknown>): Promise<unknown> =>
  delivered.then(
    (data) => ({ data }),
    (error: unknown) => {
      const { name, reason, message, outcome } = error as DeadLetterError;
      return { name, reason, message, processed: outcome.processed };
    },
  );

describe('a refusal that its server has stored is not repeated for ever', () => {
  const replayed = { 'idempotent-replayed': 'true' };

  test('of an entry whose first answer was lost: it was surely not done, and is retried under a new key', async () => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival, count) => {
      if (count === 1) arrival.cut();
      else if (count === 2) arrival.answer(422, {}, replayed);
      else arrival.answer(201, { id: 1 });
    };
    const { outbox } = openTab({ handlers: shop });
    const { delivered, idempotencyKey: key } = outbox.submit('order', 1);
    const ended = endOf(delivered);
    await pass(5000);
    expect(await ended).toMatchObject({ reason: 'refused', processed: 'no' });
    const next = await outbox.retry(key);
    expect(next).not.toBe(key);
    await settle();
    expect(server.arrivals.map((arrival) => arrival.key)).toEqual([key, key, next]);
    expect(await outbox.list({ state: 'dead' })).toEqual([]);
  });

  test('by another client that was given the key: it was surely not done, and is retried under a new key', async () => {
    const { openTab, pass } = createBrowser();
    const keys: string[] = [];
    const refusal: unknown = new Response(null, { status: 422, headers: replayed });
    const foreign = {
      idempotent: true,
      async mutationFn(_: number, { takeKey }: OutboxContext): Promise<void> {
        keys.push(takeKey());
        if (keys.length === 1) throw new TypeError('Failed to fetch');
        if (keys.length === 2) throw refusal;
      },
    };
    const { outbox } = openTab({ handlers: { foreign } });
    const { delivered, idempotencyKey: key } = outbox.submit('foreign', 1);
    const ended = endOf(delivered);
    await pass(5000);
    expect(await ended).toMatchObject({ reason: 'refused', processed: 'no' });
    const next = await outbox.retry(key);
    expect(next).not.toBe(key);
    await settle();
    expect(keys).toEqual([key, key, next]);
  });

  test('of a request beside one that was done: that one keeps its key, and the refused one has a fresh one', async () => {
    const { openTab, server } = createBrowser();
    const booking = {
      async mutationFn(sku: string, { json }: OutboxContext) {
        await json(`${api}/orders`, { json: sku });
        await json(`${api}/payments`, { json: `pay ${sku}`, step: 'pay' });
      },
    };
    server.rule = (arrival, count) => arrival.answer(count === 2 ? 422 : 201);
    const { outbox } = openTab({ handlers: { booking } });
    const { delivered, idempotencyKey: key } = outbox.submit('booking', 'kite');
    expect(await endOf(delivered)).toMatchObject({ reason: 'refused', processed: 'unknown' });
    // Somebody has topped up the account.
    expect(await outbox.retry(key)).toBe(key);
    await settle();
    expect(server.arrivals.map((arrival) => arrival.key)).toEqual([
      key,
      deriveKey(key, '0 #pay'),
      key,
      deriveKey(key, '1 #pay'),
    ]);
    expect(await outbox.list({ state: 'dead' })).toEqual([]);
  });

  test('but not where it may have been done: then the key stays', async () => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival, count) => {
      if (count === 1) arrival.cut();
      else arrival.answer(count === 2 ? 422 : 201, { id: 1 });
    };
    const { outbox } = openTab({ handlers: shop });
    const { delivered, idempotencyKey: key } = outbox.submit('order', 1);
    const ended = endOf(delivered);
    await pass(5000);
    expect(await ended).toMatchObject({ reason: 'refused', processed: 'unknown' });
    expect(await outbox.retry(key)).toBe(key);
    await settle();
    expect(server.arrivals.map((arrival) => arrival.key)).toEqual([key, key, key]);
  });
});

test('what was surely refused is retried under a new key', async () => {
  const { openTab, server } = createBrowser();
  server.rule = (arrival, count) => arrival.answer(count === 1 ? 422 : 201);
  const { outbox } = openTab({ handlers: shop });
  const { delivered, idempotencyKey } = outbox.submit('order', 1);
  await expect(delivered).rejects.toMatchObject({ reason: 'refused' });
  const next = await outbox.retry(idempotencyKey);
  expect(next).not.toBe(idempotencyKey);
  // Whoever shows it by its former key must not take it for delivered.
  expect(await outbox.find(idempotencyKey)).toMatchObject({ idempotencyKey: next });
  await settle();
  expect(server.arrivals.map(({ key, body }) => [key, body])).toEqual([
    [idempotencyKey, '1'],
    [next, '1'],
  ]);
  expect(await outbox.find(idempotencyKey)).toMatchObject({ idempotencyKey: next, state: 'done' });
  expect(await outbox.list({ state: 'dead' })).toEqual([]);
});

test('what may have been done is retried under the same key', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = (arrival, count) => {
    if (count === 1) arrival.cut();
    else arrival.answer(count === 2 ? 422 : 201);
  };
  const { outbox } = openTab({ handlers: shop });
  const { delivered, idempotencyKey } = outbox.submit('order', 1);
  const ended = endOf(delivered);
  await pass(5000);
  expect(await ended).toMatchObject({ reason: 'refused', processed: 'unknown' });
  expect(await outbox.find(idempotencyKey)).toMatchObject({ processed: 'unknown', attempts: 2 });
  expect(await outbox.retry(idempotencyKey)).toBe(idempotencyKey);
  await settle();
  expect(server.arrivals.map(({ key }) => key)).toEqual(Array(3).fill(idempotencyKey));
});

test('an entry is edited under a new key, and whoever submitted it gets the end of the new one', async () => {
  const { openTab, server } = createBrowser();
  server.rule = (arrival) => {
    if (arrival.body === '2') arrival.answer(201, { id: 2 });
  };
  const first = openTab({ handlers: scoped });
  const second = openTab({ handlers: scoped });
  const head = first.outbox.submit('order', 0);
  const { delivered, idempotencyKey } = first.outbox.submit('order', 1);
  await settle();
  // From another tab than the one that waits.
  const next = await second.outbox.edit(idempotencyKey, 2);
  for (const { outbox } of [first, second])
    expect(await outbox.find(idempotencyKey)).toMatchObject({ idempotencyKey: next, variables: 2 });
  await settle();
  expect(server.arrivals.map(({ body }) => body)).toEqual(['0']);
  expect(await first.outbox.edit(head.idempotencyKey, 9)).toBeUndefined();
  server.arrivals[0]?.answer(201);
  expect(await delivered).toEqual({ id: 2 });
  expect(server.arrivals[1]).toMatchObject({ key: next, body: '2' });
  await settle();
  expect(await first.outbox.list()).toEqual([]);
});

test('an entry that is edited waits in the scope of its new variables, and no longer in the old one', async () => {
  const { openTab, server } = createBrowser();
  server.rule = (arrival) => {
    if (arrival.body === '"b1"' || arrival.body === '"a2"') return;
    arrival.answer(arrival.body === '"a1"' ? 400 : 201);
  };
  const scope = (variables: unknown): string | undefined =>
    variables === 'none' ? (7 as never) : String(variables).slice(0, 1);
  const { outbox } = openTab({ handlers: { order: { ...order, scope } } });
  const { idempotencyKey } = outbox.submit('order', 'a1');
  outbox.submit('order', 'a2');
  outbox.submit('order', 'b1');
  await settle();
  expect(server.arrivals.map(({ body }) => body)).toEqual(['"a1"', '"b1"']);
  await expect(outbox.edit(idempotencyKey, 'none')).rejects.toThrow(
    'outbox.edit: scope is 7, and must be a text, or undefined.',
  );
  await outbox.edit(idempotencyKey, 'b0');
  await settle();
  // What is older goes first, but never beside another one of its scope.
  expect(server.arrivals.map(({ body }) => body)).toEqual(['"a1"', '"b1"', '"a2"']);
  server.arrivals[1]?.answer(201);
  await settle();
  expect(server.arrivals.map(({ body }) => body)).toEqual(['"a1"', '"b1"', '"a2"', '"b0"']);
});

describe('what is discarded', () => {
  test('before it is sent is told so, and the next of its scope goes', async () => {
    const { openTab, server } = createBrowser();
    const { outbox } = openTab({ handlers: scoped });
    outbox.submit('order', 0);
    const { delivered, idempotencyKey } = outbox.submit('order', 1);
    outbox.submit('order', 2);
    await settle();
    expect(await outbox.discard(idempotencyKey)).toBe(true);
    expect(await outbox.discard(idempotencyKey)).toBe(false);
    expect(await endOf(delivered)).toMatchObject({
      message: `This 'order' was discarded from the outbox before it was sent.`,
      processed: 'no',
    });
    server.arrivals[0]?.answer(201);
    await settle();
    expect(server.arrivals.map(({ body }) => body)).toEqual(['0', '2']);
  });

  test('while it is sent, from whichever tab, is broken off and may have been done', async () => {
    for (const from of [0, 1]) {
      const { openTab, server } = createBrowser();
      const tabs = [openTab({ handlers: shop }), openTab({ handlers: shop })] as const;
      const { delivered, idempotencyKey } = tabs[0].outbox.submit('order', 1);
      await settle();
      await tabs[from]?.outbox.discard(idempotencyKey);
      await settle();
      expect(server.arrivals[0]?.isAborted()).toBe(true);
      expect(await endOf(delivered)).toMatchObject({
        message: `This 'order' was discarded from the outbox. Whether it was done is not known.`,
        processed: 'unknown',
      });
    }
  });
});

describe('an entry of which surely nothing was done', () => {
  test.each([true, false])(
    'because its handler has thrown at once, is refused: it was not done, and is retried under a new key (links: %s)',
    async (hasLinks) => {
      const { openTab, server, pass } = createBrowser();
      server.rule = (arrival) => arrival.answer(201, { id: 1 });
      let isMended = false;
      const handler = {
        ...scoped.order,
        mutationFn: async (given: { lines?: string[] }, context: OutboxContext) =>
          order.mutationFn(isMended ? given : Object(given).items.map(String), context),
      };
      const links = hasLinks ? outboxLinks() : undefined;
      const { outbox } = openTab({ handlers: { order: handler }, links });
      const { delivered, idempotencyKey } = outbox.submit('order', { lines: ['lamp'] });
      const ended = endOf(delivered);
      await pass(60_000, 4000);
      expect(await ended).toMatchObject({ reason: 'refused', processed: 'no' });
      expect(server.arrivals).toEqual([]);
      isMended = true;
      expect(await outbox.retry(idempotencyKey)).not.toBe(idempotencyKey);
      await pass(1000);
      expect(server.arrivals).toHaveLength(1);
    },
  );

  test.each([
    [503, 'a token that could not be had now'],
    [429, 'a limit of the login server'],
  ])('because the app says so (%i, %s), goes on later', async (status) => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    let isOnline = false;
    const getToken = async (): Promise<void> => {
      await settle();
      if (!isOnline) throw new Error('network-request-failed');
    };
    const handler = {
      mutationFn: async (given: unknown, context: OutboxContext) => {
        await getToken();
        return order.mutationFn(given, context);
      },
    };
    const classifyError = (error: unknown) =>
      Object(error).message === 'network-request-failed'
        ? { status, processed: 'no' as const }
        : undefined;
    const { outbox } = openTab({
      handlers: { order: handler },
      apis: [{ match: api, outcomes: classifyOutcomes({ classifyError }) }],
    });
    const { delivered } = outbox.submit('order', 1);
    await pass(60_000, 1000);
    expect(await outbox.list()).toMatchObject([{ state: 'pending', processed: 'no' }]);
    isOnline = true;
    await pass(300_000, 1000);
    expect(await endOf(delivered)).toEqual({ data: { id: 1 } });
  });
});

test('all dead letters are retried at once', async () => {
  const { openTab, server } = createBrowser();
  server.rule = (arrival) => arrival.answer(400);
  const { outbox } = openTab({ handlers: shop });
  for (const n of [1, 2, 3]) outbox.submit('order', n);
  await settle();
  await settle();
  expect(await outbox.list({ state: 'dead' })).toHaveLength(3);
  server.rule = (arrival) => arrival.answer(201);
  await outbox.retryAll();
  await settle();
  expect(await outbox.list({ state: 'dead' })).toEqual([]);
  expect(server.arrivals.slice(3).map(({ body }) => body)).toEqual(['1', '2', '3']);
});

test('a dead letter holds up its scope and says so; a user lets the others go', async () => {
  const { openTab, server } = createBrowser();
  server.rule = (arrival) => arrival.answer(arrival.body === '0' ? 400 : 201);
  const { outbox } = openTab({ handlers: scoped });
  const { idempotencyKey } = outbox.submit('order', 0);
  outbox.submit('order', 1);
  await settle();
  expect(await outbox.list()).toMatchObject([
    { state: 'dead', reason: 'refused', scope: 'cart' },
    { state: 'pending', nextRetryAt: undefined, scope: 'cart' },
  ]);
  await outbox.discard(idempotencyKey);
  await settle();
  expect(server.arrivals.map(({ body }) => body)).toEqual(['0', '1']);
});

test('a dead letter with onDead pass lets the others go, and comes back before those that have not gone', async () => {
  const { openTab, server } = createBrowser();
  const { outbox } = openTab({ handlers: { order: { ...scoped.order, onDead: 'pass' } } });
  const { idempotencyKey } = outbox.submit('order', 0);
  outbox.submit('order', 1);
  outbox.submit('order', 2);
  await settle();
  server.arrivals[0]?.answer(400);
  await settle();
  await outbox.retry(idempotencyKey);
  await settle();
  expect(server.arrivals.map(({ body }) => body)).toEqual(['0', '1']);
  server.arrivals[1]?.answer(201);
  await settle();
  server.arrivals[2]?.answer(201);
  await settle();
  expect(server.arrivals.map(({ body }) => body)).toEqual(['0', '1', '0', '2']);
});

test('a dead letter with onDead pass that comes back waits for one of its scope that is sent from this page alone', async () => {
  const { openTab, server, pass } = createBrowser();
  const { outbox, fail } = openTab({
    handlers: { order: { ...scoped.order, onDead: 'pass' } },
  });
  const { idempotencyKey } = outbox.submit('order', 0);
  await settle();
  server.arrivals[0]?.answer(400);
  await settle();
  fail('quota');
  outbox.submit('order', 1);
  outbox.submit('order', 2);
  await settle();
  expect(server.arrivals.map(({ body }) => body)).toEqual(['0', '1']);
  fail('none');
  await outbox.retry(idempotencyKey);
  await pass(2000);
  expect(server.arrivals.map(({ body }) => body)).toEqual(['0', '1']);
  server.arrivals[1]?.answer(201);
  await pass(2000);
  // What is on the disk goes first.
  expect(server.arrivals.map(({ body }) => body)).toEqual(['0', '1', '0']);
  expect(await outbox.list()).toMatchObject([
    { variables: 0, state: 'sending' },
    { variables: 2, state: 'pending', attempts: 0, lastAttemptAt: undefined },
  ]);
  server.arrivals[2]?.answer(201);
  await pass(2000);
  expect(server.arrivals.map(({ body }) => body)).toEqual(['0', '1', '0', '2']);
});

test('the app’s own limits end in a dead letter with their reason', async () => {
  for (const [limit, reason, attempts] of [
    [{ maxAttempts: 3 }, 'max-attempts', 3],
    [{ maxAgeMs: 10 }, 'max-age', 1],
  ] as const) {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival) => arrival.answer(503);
    const { outbox } = openTab({ handlers: { order: { ...order, ...limit } } });
    const { delivered } = outbox.submit('order', 1);
    const ended = endOf(delivered);
    await pass(60_000);
    expect(await ended).toMatchObject({ name: 'DeadLetterError', reason });
    expect(await outbox.list()).toMatchObject([{ state: 'dead', reason, attempts }]);
    expect(server.arrivals).toHaveLength(attempts);
  }
});

describe('the app’s own limits hold also', () => {
  test('where an entry was too old before its next page came', async () => {
    const { openTab, server, clock, pass } = createBrowser();
    const handlers = { order: { ...order, maxAgeMs: 3_600_000 } };
    const first = openTab({ handlers });
    await first.outbox.submit('order', 'taxi').saved;
    await settle();
    first.crash();
    clock.sleep(7 * 86_400_000);
    const { outbox } = openTab({ handlers });
    await pass(2000);
    expect(server.arrivals).toHaveLength(1);
    expect(await outbox.list()).toMatchObject([
      { state: 'dead', reason: 'max-age', processed: 'unknown' },
    ]);
    // A user may.
    const [entry] = await outbox.list();
    await outbox.retry(entry?.idempotencyKey ?? '');
    await settle();
    expect(server.arrivals).toHaveLength(2);
  });

  test('where it was too old when its turn in its scope came', async () => {
    const { openTab, server, pass } = createBrowser();
    const handlers = {
      slow: { ...order, scope: 'cart' },
      taxi: { ...order, scope: 'cart', maxAgeMs: 60_000 },
    };
    const { outbox } = openTab({ handlers });
    outbox.submit('slow', 1);
    const ended = endOf(outbox.submit('taxi', 2).delivered);
    await settle();
    await pass(61_000, 1000);
    server.rule = (arrival) => arrival.answer(201);
    for (const arrival of server.arrivals) arrival.answer(201);
    await pass(6000);
    expect(await ended).toMatchObject({ reason: 'max-age', processed: 'no' });
    expect(server.arrivals.filter(({ body }) => body === '2')).toEqual([]);
  });

  test('where its page has died at each attempt, if the attempt has sent something', async () => {
    const { openTab, server, pass } = createBrowser();
    const handlers = { order: { ...order, maxAttempts: 2 } };
    for (let page = 0; page < 5; page += 1) {
      const { outbox, steady, crash } = openTab({ handlers });
      // The second page is gone while the entry is paused: that is no attempt.
      if (page === 1) {
        server.rule = (arrival) => arrival.answer(429, {}, { 'retry-after': '60' });
        await steady.fetch(`${api}/orders`, { method: 'POST' }).catch(() => {});
        server.rule = undefined;
      }
      if (page === 0) await outbox.submit('order', 'lamp').saved;
      await pass(1000);
      crash();
      await pass(1000);
    }
    const { outbox } = openTab({ handlers });
    await settle();
    expect(server.arrivals.filter(({ body }) => body === '"lamp"').length).toBeLessThanOrEqual(3);
    expect(await outbox.list()).toMatchObject([{ state: 'dead', reason: 'max-attempts' }]);
  });
});

describe('what another version of the app has submitted', () => {
  test('is kept where its handler is gone, and delivered once one has its name', async () => {
    const { openTab, server } = createBrowser();
    server.rule = (arrival) => arrival.answer(201);
    const first = openTab({ handlers: { note: order } });
    await first.outbox.submit('note', 1).saved;
    first.crash();
    const other = openTab({ handlers: shop });
    await settle();
    const [entry] = await other.outbox.list();
    const key = entry?.idempotencyKey ?? '';
    expect(entry).toMatchObject({ state: 'dead', reason: 'handler-missing', attempts: 0 });
    expect(await other.outbox.retry(key)).toBe(key);
    await settle();
    expect(await other.outbox.find(key)).toMatchObject({ reason: 'handler-missing', attempts: 0 });
    expect(server.arrivals).toEqual([]);
    openTab({ handlers: { note: order } });
    await settle();
    expect(server.arrivals).toMatchObject([{ key, body: '1' }]);
    expect(await other.outbox.find(key)).toMatchObject({ state: 'done' });
  });

  test('is delivered by an open tab that can, when one that cannot has taken it over', async () => {
    const { openTab, server } = createBrowser();
    const first = openTab({ handlers: { note: order } });
    const old = openTab({ handlers: shop });
    first.outbox.submit('note', 1);
    await settle();
    const able = openTab({ handlers: { note: order } });
    await settle();
    first.crash();
    await settle();
    await settle();
    expect(server.arrivals.at(-1)).toMatchObject({ tab: 3, body: '1' });
    server.arrivals.at(-1)?.answer(201);
    await settle();
    expect(await old.outbox.list()).toMatchObject([{ state: 'done' }]);
    able.crash();
  });

  /** An entry of version 1, which nobody has sent. */
  const leave = async (browser: ReturnType<typeof createBrowser>, version = 1): Promise<string> => {
    const { outbox, crash } = browser.openTab({ handlers: { order: { ...order, version } } });
    const { idempotencyKey, saved } = outbox.submit('order', { sku: 'lamp' });
    await saved;
    crash();
    return idempotencyKey;
  };

  test('is migrated, and sent as it then is', async () => {
    const browser = createBrowser();
    const key = await leave(browser);
    const migrate = vi.fn<(old: unknown, version: number) => unknown>((old) => ({
      ...(old as object),
      count: 1,
    }));
    browser.openTab({ handlers: { order: { ...order, version: 2, migrate } } });
    await settle();
    expect(migrate).toHaveBeenCalledWith({ sku: 'lamp' }, 1);
    expect(browser.server.arrivals.at(-1)).toMatchObject({
      key,
      body: '{"sku":"lamp","count":1}',
    });
  });

  test('is asked about with the bytes that were sent, where it may have been done', async () => {
    const browser = createBrowser();
    const { outbox, crash } = browser.openTab({ handlers: { order } });
    const { idempotencyKey: key } = outbox.submit('order', { sku: 'lamp' });
    await settle();
    // Its answer never comes.
    crash();
    browser.server.rule = (arrival) => arrival.answer(201, { id: 1 });
    const migrate = (old: unknown): unknown => ({ ...(old as object), count: 1 });
    const next = browser.openTab({ handlers: { order: { ...order, version: 2, migrate } } });
    await settle();
    const sent = { key, body: '{"sku":"lamp"}' };
    expect(browser.server.arrivals).toMatchObject([sent, sent]);
    expect(await next.outbox.list()).toMatchObject([{ state: 'done', data: { id: 1 } }]);
  });

  test('is shown as this version takes it, and not at all where it cannot be made that', async () => {
    const browser = createBrowser();
    const key = await leave(browser, 2);
    const shownBy = async (handlers: AnyOutboxHandlers): Promise<unknown> => {
      const { outbox, crash } = browser.openTab({ handlers });
      await settle();
      const found = await outbox.find(key);
      const [listed] = await outbox.list();
      expect(listed).toEqual(found);
      crash();
      await settle();
      return found?.variables;
    };
    const migrate = (old: unknown, version: number): unknown => [old, version];
    const fail = (): never => {
      throw new Error('no');
    };
    expect(await shownBy({ order: { ...order, version: 2, migrate } })).toEqual({ sku: 'lamp' });
    expect(await shownBy({ order: { ...order, version: 3, migrate } })).toEqual([
      { sku: 'lamp' },
      2,
    ]);
    expect(await shownBy({ order: { ...order, version: 3, migrate: fail } })).toBeUndefined();
    expect(await shownBy({ order: { ...order, version: 3 } })).toBeUndefined();
    expect(await shownBy(shop)).toBeUndefined();
    expect(await shownBy({ other: order })).toEqual({ sku: 'lamp' });
  });

  test.each<[string, Partial<AnyOutboxHandlers[string]>, string]>([
    ['nobody says how', {}, 'not-migrated'],
    [
      'it cannot be',
      {
        migrate: () => {
          throw new Error('no');
        },
      },
      'not-migrated',
    ],
    ['it rejects', { migrate: () => Promise.reject(new Error('no')) }, 'not-migrated'],
  ])('is dead where %s', async (_, more, reason) => {
    const browser = createBrowser();
    await leave(browser);
    const before = browser.server.arrivals.length;
    const handlers = { order: { ...order, version: 2, ...more } };
    const { outbox } = browser.openTab({ handlers });
    await settle();
    expect(await outbox.list()).toMatchObject([{ state: 'dead', reason }]);
    expect(browser.server.arrivals).toHaveLength(before);
  });

  test('waits where it is of a later one, until that is there', async () => {
    const browser = createBrowser();
    const key = await leave(browser, 2);
    const before = browser.server.arrivals.length;
    const { outbox } = browser.openTab({ handlers: shop });
    await settle();
    const waiting = { state: 'pending', waitsFor: 'other-version', nextRetryAt: undefined };
    expect(await outbox.list()).toMatchObject([waiting]);
    await browser.pass(1000);
    expect(outbox.getState()).toMatchObject({ waiting: 1, dead: 0 });
    // Whatever this one does, it does not understand it.
    expect(await outbox.retry(key)).toBe(key);
    await browser.pass(1000);
    expect(await outbox.list()).toMatchObject([{ ...waiting, attempts: 0 }]);
    expect(browser.server.arrivals).toHaveLength(before);
    browser.openTab({ handlers: { order: { ...order, version: 2 } } });
    await settle();
    expect(browser.server.arrivals.at(-1)).toMatchObject({ key });
  });

  test('is not told dead to the tab of the later version, which was put away, and goes in order', async () => {
    const { openTab, server, pass } = createBrowser();
    const later = { order: { ...scoped.order, version: 2 } };
    const submitter = openTab({ handlers: later });
    const old = openTab({ handlers: { order: { ...scoped.order, onDead: 'pass' } } });
    server.rule = (arrival, count) => {
      if (count > 1) arrival.answer(201, { id: count });
    };
    const { delivered } = submitter.outbox.submit('order', 0);
    let end: unknown;
    const ended = delivered.then(
      (data) => (end = data),
      (error: unknown) => (end = error),
    );
    await settle();
    submitter.freeze();
    await settle();
    await old.outbox.submit('order', 1).saved;
    await settle();
    // The old tab has taken it over. It neither sends nor buries it, and nothing passes it.
    expect(await old.outbox.list()).toMatchObject([
      { waitsFor: 'other-version', processed: 'unknown' },
      { waitsFor: undefined, attempts: 0 },
    ]);
    submitter.thaw();
    // Its first attempt is over when its time is.
    await pass(24_000);
    await ended;
    expect(end).toEqual({ id: 2 });
    expect(server.arrivals.map(({ tab, body }) => [tab, body])).toEqual([
      [1, '0'],
      [1, '0'],
      [2, '1'],
    ]);
  });

  test.each([
    ['has no such handler', { note: order }, shop],
    ['is newer and does not migrate it', { order }, { order: { ...order, version: 2 } }],
  ] as const)(
    'is a dead letter while its tab is put away, and is told no end there, where the tab that is open %s',
    async (_, its, theirs) => {
      const { openTab, server, pass } = createBrowser();
      const tab = openTab({ handlers: theirs });
      const submitter = openTab({ handlers: its as typeof shop });
      await pass(1000);
      const [name] = Object.keys(its) as ['order'];
      const { delivered } = submitter.outbox.submit(name, 1);
      await settle();
      submitter.freeze();
      await pass(1000);
      expect(await tab.outbox.list()).toMatchObject([
        { state: 'dead', reason: name === 'order' ? 'not-migrated' : 'handler-missing' },
      ]);
      server.rule = (arrival) => arrival.answer(201, { id: 1 });
      submitter.thaw();
      await pass(24_000);
      expect(await delivered).toEqual({ id: 1 });
    },
  );

  test('is not told dead to the tab that can deliver it, where one that cannot has taken it over', async () => {
    const { openTab, server, pass } = createBrowser();
    const submitter = openTab({ handlers: { note: order } });
    const old = openTab({ handlers: shop });
    const { delivered } = submitter.outbox.submit('note', 1);
    await settle();
    submitter.freeze();
    await settle();
    expect(await old.outbox.list()).toMatchObject([{ state: 'dead', reason: 'handler-missing' }]);
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    submitter.thaw();
    await pass(24_000);
    expect(await delivered).toEqual({ id: 1 });
  });

  test('is not sent twice where it has no key, whoever could not deliver it in between', async () => {
    const { openTab, server } = createBrowser();
    const note = {
      mutationFn: (body: string, { fetch }: OutboxContext) =>
        fetch('https://other.example/notes', { method: 'POST', body }),
    };
    const first = openTab({ handlers: { note } });
    first.outbox.submit('note', 'a');
    await settle();
    openTab({ handlers: shop });
    await settle();
    first.crash();
    await settle();
    const { outbox } = openTab({ handlers: { note } });
    await settle();
    expect(server.arrivals).toHaveLength(1);
    expect(await outbox.list()).toMatchObject([{ reason: 'not-repeatable', processed: 'unknown' }]);
  });

  test('is dead where it cannot be decrypted, until it can', async () => {
    const browser = createBrowser();
    const encrypt = async (value: unknown): Promise<unknown> => ({ sealed: JSON.stringify(value) });
    const decrypt = async (sealed: unknown): Promise<unknown> =>
      JSON.parse((sealed as { sealed: string }).sealed) as unknown;
    const first = browser.openTab({ handlers: shop, cipher: { encrypt, decrypt } });
    const { idempotencyKey, saved } = first.outbox.submit('order', 'secret');
    await saved;
    first.crash();
    const before = browser.server.arrivals.length;
    const locked = async (): Promise<never> => {
      throw new Error('The key is not there.');
    };
    const { outbox } = browser.openTab({ handlers: shop, cipher: { encrypt, decrypt: locked } });
    await settle();
    expect(await outbox.list()).toMatchObject([
      { state: 'dead', reason: 'unreadable', variables: undefined },
    ]);
    expect(browser.server.arrivals).toHaveLength(before);
    browser.openTab({ handlers: shop, cipher: { encrypt, decrypt } });
    await settle();
    expect(browser.server.arrivals.at(-1)).toMatchObject({ key: idempotencyKey, body: '"secret"' });
  });

  test('is tried once by each open tab, and then left to a user, where none of them can', async () => {
    const { openTab, rows, pass } = createBrowser();
    let tries = 0;
    const cipher = {
      encrypt: async (value: unknown): Promise<unknown> => value,
      async decrypt(): Promise<never> {
        tries += 1;
        throw new Error('The key is not there.');
      },
    };
    const [first] = [1, 2, 3].map(() => openTab({ handlers: shop, cipher }));
    await settle();
    first?.outbox.submit('order', 1);
    await pass(1000);
    expect(tries).toBe(3);
    expect(await rows()).toMatchObject([{ state: 'dead', deadReason: 'unreadable', attempts: 0 }]);
  });
});

test.each([
  ['text', 'steps'],
  ['nothing in it', [undefined]],
  ['a number', 1],
])(
  'what is kept of its requests and cannot be read (%s) is a dead letter, whole, and keeps nobody waiting',
  async (_, steps) => {
    const { openTab, server, name, clock, rows } = createBrowser();
    const first = openTab({ handlers: shop });
    await first.outbox.submit('order', 'lamp').saved;
    first.crash();
    await settle();
    const [row] = await rows();
    const backend = await openIndexedDb(name, clock);
    await backend.write('strict', (tx) => tx.put({ ...row, steps } as Row));
    backend.close();
    const sent = server.arrivals.length;
    const { outbox } = openTab({ handlers: shop });
    await outbox.submit('order', 'chair').saved;
    await settle();
    expect(await outbox.list({ state: 'dead' })).toMatchObject([
      { reason: 'unreadable', variables: 'lamp', idempotencyKey: row?.id },
    ]);
    expect((await rows())[0]).toMatchObject({ variables: 'lamp', steps });
    expect(server.arrivals.slice(sent).map(({ body }) => body)).toEqual(['"chair"']);
  },
);

test('an entry that a cipher does not decrypt within 30 s is a dead letter, and the next of its scope goes', async () => {
  const { openTab, server, pass } = createBrowser();
  const cipher = {
    encrypt: async (value: unknown): Promise<unknown> => value,
    decrypt: async (value: unknown) => (value === 'stuck' ? new Promise<never>(() => {}) : value),
  };
  const { outbox } = openTab({
    handlers: { order: { ...order, scope: 'cart', onDead: 'pass' } },
    cipher,
  });
  const ended = endOf(outbox.submit('order', 'stuck').delivered);
  outbox.submit('order', 'lamp');
  await pass(29_000);
  expect(server.arrivals).toEqual([]);
  await pass(2000);
  expect(await ended).toMatchObject({ reason: 'unreadable', processed: 'no' });
  expect(server.arrivals.map(({ body }) => body)).toEqual(['"lamp"']);
});

test('an entry whose migrate does not settle within 30 s is a dead letter', async () => {
  const { openTab, server, pass } = createBrowser();
  const first = openTab({ handlers: shop });
  await first.outbox.submit('order', 'lamp').saved;
  first.crash();
  const sent = server.arrivals.length;
  const migrate = (): Promise<never> => new Promise(() => {});
  const { outbox } = openTab({ handlers: { order: { ...order, version: 2, migrate } } });
  await pass(31_000);
  const listed = outbox.list({ state: 'dead' });
  // Whoever looks at it waits for it as long.
  await pass(31_000);
  expect(await listed).toMatchObject([{ reason: 'not-migrated', variables: undefined }]);
  expect(server.arrivals).toHaveLength(sent);
});

test('an attempt has ended as it has, also where what is known of its requests cannot be encrypted any more', async () => {
  const { openTab, server, pass } = createBrowser();
  let isLocked = false;
  const cipher = {
    async encrypt(value: unknown): Promise<unknown> {
      if (isLocked) throw new Error('The key is not there.');
      return value;
    },
    decrypt: async (value: unknown): Promise<unknown> => value,
  };
  const { outbox } = openTab({ handlers: shop, cipher });
  const ended = endOf(outbox.submit('order', 'lamp').delivered);
  await settle();
  isLocked = true;
  server.arrivals[0]?.answer(422);
  await pass(60_000);
  expect(await ended).toMatchObject({ reason: 'refused', processed: 'no' });
  expect(server.arrivals).toHaveLength(1);
});

describe('whatever is thrown, an entry ends as it does where nothing is known of the error', () => {
  const fail = (isRevoked: boolean): Promise<never> => {
    const { proxy, revoke } = Proxy.revocable(new Error(), {});
    if (isRevoked) revoke();
    return Promise.reject(proxy);
  };

  test.each([false, true])('by a handler (a revoked Proxy: %s)', async (isRevoked) => {
    const { openTab, pass } = createBrowser();
    let runs = 0;
    const { outbox } = openTab({
      handlers: {
        order: {
          async mutationFn() {
            runs += 1;
            await Promise.resolve();
            return fail(isRevoked);
          },
        },
      },
    });
    const ended = endOf(outbox.submit('order', 'lamp').delivered);
    await pass(600_000, 10_000);
    expect(runs).toBe(1);
    expect(await ended).toMatchObject({ name: 'DeadLetterError', reason: 'not-repeatable' });
  });

  test.each([false, true])(
    'by a cipher that encrypts variables (a revoked Proxy: %s)',
    async (isRevoked) => {
      const { openTab } = createBrowser();
      const failed = fail(isRevoked);
      const error: unknown = await failed.catch((reason: unknown) => [reason]);
      const { outbox } = openTab({
        handlers: shop,
        cipher: {
          encrypt: () => failed,
          decrypt: async (value: unknown): Promise<unknown> => value,
        },
      });
      const { saved, delivered } = outbox.submit('order', 'lamp');
      const isThrown = (promise: Promise<unknown>): Promise<boolean> =>
        promise.then(
          () => false,
          (reason: unknown) => reason === (error as unknown[])[0],
        );
      expect(await isThrown(saved)).toBe(true);
      expect(await isThrown(delivered)).toBe(true);
    },
  );

  test.each([false, true])(
    'by a cipher that encrypts requests (a revoked Proxy: %s)',
    async (isRevoked) => {
      const { openTab, server, pass } = createBrowser();
      server.rule = (arrival) => arrival.answer(201, { id: 1 });
      let isLocked = false;
      const { outbox } = openTab({
        handlers: shop,
        cipher: {
          async encrypt(value: unknown): Promise<unknown> {
            return isLocked ? fail(isRevoked) : value;
          },
          decrypt: async (value: unknown): Promise<unknown> => value,
        },
      });
      const { saved, delivered } = outbox.submit('order', 'lamp');
      await saved;
      isLocked = true;
      await pass(1000);
      expect(server.arrivals).toEqual([]);
      isLocked = false;
      await pass(10_000);
      expect(await delivered).toEqual({ id: 1 });
    },
  );
});
