import { expect, test } from 'vitest';
import { api, createBrowser, settle, shop } from './rig.ts';

test('an entry is kept before its first byte is sent, and gone once its answer is in', async () => {
  const { openTab, server } = createBrowser();
  const { outbox } = openTab({ handlers: shop });
  const { saved, delivered, idempotencyKey } = outbox.submit('order', { sku: 'lamp' });
  await saved;
  expect(server.arrivals).toHaveLength(0);
  await settle();
  expect(server.arrivals).toMatchObject([{ key: idempotencyKey, body: '{"sku":"lamp"}' }]);
  expect(await outbox.find(idempotencyKey)).toMatchObject({ state: 'sending', attempts: 1 });
  server.arrivals[0]?.answer(201, { id: 7 });
  expect(await delivered).toEqual({ id: 7 });
  await settle();
  expect(await outbox.list()).toEqual([]);
});

test('an entry is sent again under the same key, as long as it takes', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = (arrival, count) =>
    count < 4 ? arrival.answer(503) : arrival.answer(201, { id: 1 });
  const { outbox } = openTab({ handlers: shop });
  const { delivered } = outbox.submit('order', { sku: 'lamp' });
  await pass(120_000);
  expect(await delivered).toEqual({ id: 1 });
  expect(new Set(server.arrivals.map(({ key }) => key)).size).toBe(1);
  expect(server.arrivals).toHaveLength(4);
});

test('what a tab has left when it died is sent by another, under the same key', async () => {
  const { openTab, server } = createBrowser();
  const first = openTab({ handlers: shop });
  const second = openTab({ handlers: shop });
  const { idempotencyKey } = first.outbox.submit('order', { sku: 'lamp' });
  await settle();
  first.crash();
  await settle();
  expect(server.arrivals).toMatchObject([
    { tab: 1, key: idempotencyKey },
    { tab: 2, key: idempotencyKey },
  ]);
  server.arrivals[1]?.answer(201);
  await settle();
  expect(await second.outbox.find(idempotencyKey)).toMatchObject({ state: 'done' });
});

test('the tab that submitted is told when another has delivered', async () => {
  const { openTab, server } = createBrowser();
  const first = openTab({ handlers: shop });
  openTab({ handlers: shop });
  const { delivered } = first.outbox.submit('order', { sku: 'lamp' });
  await settle();
  first.freeze();
  await settle();
  server.arrivals[1]?.answer(201, { id: 9 });
  await settle();
  first.thaw();
  expect(await delivered).toEqual({ id: 9 });
  await settle();
  expect(await first.outbox.list()).toEqual([]);
});

test('a refused entry is a dead letter with its reason until a user decides', async () => {
  const { openTab, server } = createBrowser();
  server.rule = (arrival) => arrival.answer(422);
  const { outbox } = openTab({ handlers: shop });
  const { delivered, idempotencyKey } = outbox.submit('order', { sku: 'lamp' });
  await expect(delivered).rejects.toMatchObject({
    code: 'dead-letter',
    reason: 'refused',
    outcome: { status: 422, processed: 'no' },
  });
  await settle();
  expect(await outbox.find(idempotencyKey)).toMatchObject({
    state: 'dead',
    reason: 'refused',
    processed: 'no',
    lastError: { name: 'HttpError', status: 422 },
  });
});

const scoped = { order: { ...shop.order, scope: 'cart' } };

test('entries of one scope are sent one after the other, over all tabs', async () => {
  const { openTab, server } = createBrowser();
  const first = openTab({ handlers: scoped });
  const second = openTab({ handlers: scoped });
  for (const [index, { outbox }] of [first, second, first, second].entries()) {
    outbox.submit('order', index);
    await settle();
  }
  for (const index of [0, 1, 2, 3]) {
    expect(server.arrivals.map(({ body }) => body)).toEqual(
      ['0', '1', '2', '3'].slice(0, index + 1),
    );
    server.arrivals[index]?.answer(201);
    await settle();
  }
  expect(await first.outbox.list({ state: 'pending' })).toEqual([]);
  expect(api).toBe('https://api.example');
});
