import type { OutboxContext } from 'steadfetch/outbox';
import { expect, test } from 'vitest';
import { api, createBrowser, settle } from './rig.ts';

const handlers = {
  note: {
    mutationFn: async (text: string, { fetch }: OutboxContext) => {
      await fetch(api, { method: 'POST', body: text });
    },
  },
};

test('an entry whose request was redirected to a login page is not delivered, and goes again under its key', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = (arrival, count) =>
    count === 1 ? arrival.answerPage('<form>Log in</form>', true) : arrival.answer(201);
  const { outbox } = openTab({ handlers });
  const { delivered, idempotencyKey } = outbox.submit('note', 'buy milk');
  await settle();
  expect(await outbox.find(idempotencyKey)).toMatchObject({ state: 'pending', attempts: 1 });
  await pass(60_000);
  await delivered;
  expect(server.arrivals).toMatchObject([
    { key: idempotencyKey, body: 'buy milk' },
    { key: idempotencyKey, body: 'buy milk' },
  ]);
});

test('a page that answers a write without a redirect counts as its answer', async () => {
  const { openTab, server } = createBrowser();
  const { outbox } = openTab({ handlers });
  const { delivered } = outbox.submit('note', 'buy milk');
  await settle();
  server.arrivals[0]?.answerPage('<p>Saved</p>');
  await settle();
  await delivered;
  expect(await outbox.list()).toEqual([]);
});
