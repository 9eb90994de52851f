import { environmentManager, isServer, MutationObserver } from '@tanstack/react-query';
import type { OutboxContext } from 'steadfetch/outbox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createBrowser, settle } from './rig.ts';

const handlers = {
  order: {
    mutationFn: (order: string, { json }: OutboxContext) =>
      json('https://api.example/orders', { method: 'POST', json: order }),
  },
};

type Browser = ReturnType<typeof createBrowser>;

/** Where an entry is when its user logs out. */
const states: Readonly<Record<string, (browser: Browser) => Promise<void>>> = {
  'under way': async () => settle(),
  async 'in backoff'({ server, pass }) {
    server.rule = (arrival) => arrival.answer(503);
    await pass(100);
  },
  async paused({ server, pass }) {
    server.rule = (arrival) => arrival.answer(429, {}, { 'retry-after': '30' });
    await pass(1000);
  },
};

describe.each(Object.entries(states))(
  'after steady.endSession(), an entry that is %s',
  (_, reach) => {
    test.each([
      ['in this tab', undefined, 0],
      ['in another tab', undefined, 1],
      ['of a named user, in this tab', 'ada', 0],
      ['of a named user, in another tab', 'ada', 1],
    ])('%s is not sent any more, also not by the next page', async (_where, user, from) => {
      const browser = createBrowser();
      const { server, openTab, pass, rows } = browser;
      const tabs = [openTab({ handlers, user }), openTab({ handlers, user })] as const;
      const { delivered } = (tabs[from] as (typeof tabs)[0]).outbox.submit('order', 'kite');
      const told = delivered.catch((error: unknown) => error);
      await reach(browser);
      const sent = server.arrivals.length;
      const ended = tabs[0].steady.endSession();
      server.rule = (arrival) => arrival.answer(200);
      await pass(1000);
      await ended;
      expect(await told).toMatchObject({ code: 'cancelled', outcome: { processed: 'unknown' } });
      openTab({ handlers, user });
      await pass(600_000, 10_000);
      expect(server.arrivals).toHaveLength(sent);
      expect(await rows()).toEqual([]);
    });
  },
);

test('queryClient.clear() leaves the entry of a mutation, which is warned about in development', async () => {
  environmentManager.setIsServer(() => false);
  onTestFinished(() => environmentManager.setIsServer(() => isServer));
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const { server, openTab } = createBrowser();
  const { client, outbox } = openTab({ handlers });
  const told = new MutationObserver(client, outbox.mutationOptions('order')).mutate('kite');
  await settle();
  client.clear();
  await settle();
  server.arrivals[0]?.answer(200, { id: 1 });
  expect(await told).toEqual({ id: 1 });
  expect(server.arrivals).toHaveLength(1);
  expect(warn.mock.calls.join()).toContain('At a log-out, call steady.endSession().');
  warn.mockRestore();
});

test('an entry of the next session goes, and an outbox that was disposed of before keeps its entries', async () => {
  const { server, openTab, pass } = createBrowser();
  const ada = openTab({ handlers, user: 'ada' });
  const { saved } = ada.outbox.submit('order', 'kite');
  await saved;
  ada.outbox.dispose();
  const sent = server.arrivals.length;
  await ada.steady.endSession();
  await pass(1000);
  expect(server.arrivals).toHaveLength(sent);
  server.rule = (arrival) => arrival.answer(200);
  const eve = openTab({ handlers, user: 'eve' });
  await eve.steady.endSession();
  await eve.outbox.submit('order', 'lamp').delivered;
  expect(await openTab({ handlers, user: 'ada' }).outbox.list()).toMatchObject([
    { variables: 'kite' },
  ]);
});
