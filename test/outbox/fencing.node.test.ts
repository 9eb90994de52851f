import { expect, test } from 'vitest';
import { createBrowser, settle, shop } from './rig.ts';

test('what a tab that has slept finds out about an entry that another has taken over is not written', async () => {
  const { openTab, server } = createBrowser();
  const sleeping = openTab({ handlers: shop });
  const awake = openTab({ handlers: shop });
  const { idempotencyKey, delivered } = sleeping.outbox.submit('order', { sku: 'lamp' });
  await settle();
  sleeping.freeze();
  await settle();
  expect(server.arrivals.map(({ tab }) => tab)).toEqual([1, 2]);
  // It would be a dead letter.
  server.arrivals[0]?.answer(422);
  sleeping.thaw();
  await settle();
  expect(await awake.outbox.find(idempotencyKey)).toMatchObject({ state: 'sending' });
  server.arrivals[1]?.answer(201, { id: 9 });
  expect(await delivered).toEqual({ id: 9 });
});
