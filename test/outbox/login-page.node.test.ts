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
  const { outbox } = openTab({ handlers });
  const { delivered, idempotencyKey } = outbox.submit('note', 'buy milk');
  await settle();
  server.arrivals[0]?.answerPage('<form>Log in</form>', true);
  await settle();
  expect(await outbox.find(idempotencyKey)).toMatchObject({ state: 'pending', attempts: 1 });
  await pass(60_000);
  expect(server.arrivals[1]).toMatchObject({ key: idempotencyKey, body: 'buy milk' });
  server.arrivals[1]?.answer(201);
  await delivered;
  expect(await outbox.list()).toEqual([]);
});

test('a page that answers a write without a redirect counts as its answer', async () => {
  const { openTab, server } = createBrowser();
  const { outbox } = openTab({ handlers });
  const { delivered } = outbox.submit('note', 'buy milk');
  await settle();
  server.arrivals[0]?.answerPage('<p>Saved</p>');
  await delivered;
  expect(await outbox.list()).toEqual([]);
});
