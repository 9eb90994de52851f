import { expect, test } from 'vitest';
import { createBrowser, settle, shop } from './rig.ts';

const handlers = { order: { ...shop.order, scope: (cart: unknown) => String(cart) } };

test('a scope goes on in its tab, though the one that delivered before it died and told nobody', async () => {
  const { openTab, server } = createBrowser();
  const dying = openTab({ handlers });
  const waiting = openTab({ handlers });
  openTab({ handlers });
  // Something else that it owns: so that there is something to take over.
  dying.outbox.submit('order', 'blue');
  dying.outbox.submit('order', 'red');
  await settle();
  waiting.outbox.submit('order', 'red');
  await settle();
  expect(server.arrivals.map(({ tab, body }) => [tab, body])).toEqual([
    [1, '"blue"'],
    [1, '"red"'],
  ]);
  dying.mute();
  server.arrivals[1]?.answer(201);
  await settle();
  expect(server.arrivals).toHaveLength(2);
  dying.crash();
  await settle();
  const later = server.arrivals.slice(2).map(({ tab, body }) => [tab, body]);
  expect(later).toContainEqual([2, '"red"']);
  expect(later.filter(([, body]) => body === '"red"')).toHaveLength(1);
});
