import { expect, test } from 'vitest';
import { createBrowser, shop } from './rig.ts';

test('whoever waits is told how it ended, though the disk could not be read when another tab said so', async () => {
  const { openTab, server, rows, pass } = createBrowser();
  const [one, other] = [openTab({ handlers: shop }), openTab({ handlers: shop })];
  await pass(0);
  const { delivered } = one.outbox.submit('order', 'tea');
  await pass(100);
  one.freeze();
  await pass(1000);
  server.arrivals[0]?.answer(201, { id: 7 });
  server.arrivals[1]?.answer(201, { id: 7 });
  await pass(1000);
  expect(await rows()).toMatchObject([{ state: 'done' }]);
  one.fail('all');
  one.thaw();
  await pass(10_000);
  one.fail('none');
  // The database is opened again 1, 2, 4 and 8 s after the last time.
  await pass(10_000);
  const end = await Promise.race([delivered, pass(1000).then(() => 'nobody knows')]);
  expect(end).toEqual({ id: 7 });
  other.crash();
});

test('whoever waits is told what another tab has delivered while the database was not open here', async () => {
  const { openTab, server, rows, pass } = createBrowser();
  const [one, other] = [openTab({ handlers: shop }), openTab({ handlers: shop })];
  await pass(0);
  const { delivered } = one.outbox.submit('order', 'tea');
  await pass(100);
  // The next write finds that the connection is gone, and another tab takes over at once.
  one.fail('closed');
  server.arrivals[0]?.answer(503);
  await pass(300);
  server.arrivals[1]?.answer(201, { id: 7 });
  await pass(300);
  expect(await rows()).toMatchObject([{ state: 'done' }]);
  await pass(5000);
  const end = await Promise.race([delivered, pass(1000).then(() => 'nobody knows')]);
  expect(end).toEqual({ id: 7 });
  other.crash();
});

test('whoever waits is told that its entry is gone with the database, where another tab had edited it', async () => {
  const { openTab, server, name, pass } = createBrowser();
  server.rule = (arrival) => arrival.answer(503);
  const [one, other] = [openTab({ handlers: shop }), openTab({ handlers: shop })];
  await pass(0);
  const { delivered, idempotencyKey } = one.outbox.submit('order', 'tea');
  await pass(100);
  expect(await other.outbox.edit(idempotencyKey, 'coffee')).toBeDefined();
  await pass(100);
  indexedDB.deleteDatabase(name);
  await pass(5000);
  const end = await Promise.race([
    delivered.catch((error: unknown) => error),
    pass(1000).then(() => 'nobody knows'),
  ]);
  expect(end).toMatchObject({ name: 'SteadfetchError', outcome: { processed: 'unknown' } });
});
