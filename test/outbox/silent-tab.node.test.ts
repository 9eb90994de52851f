import { describe, expect, test } from 'vitest';
import { createBrowser, settle, shop } from './rig.ts';

/** What a browser does with locks, and whether a tab that is frozen hears of it. */
const worlds = [
  ['are granted', { hasLocks: true, areLocksGranted: true }],
  ['are never granted', { hasLocks: true, areLocksGranted: false }],
  ['are missing', { hasLocks: false }],
] as const;

describe.each(worlds)('where locks %s', (_, locks) => {
  const open = (isChannel = true) => ({ handlers: shop, ...locks, hasChannel: isChannel });

  test.each([true, false])(
    'the next page sends what a page that has crashed was sending, within two minutes (channel: %s)',
    async (hasChannel) => {
      const { openTab, server, pass } = createBrowser();
      const first = openTab(open(hasChannel));
      const { idempotencyKey } = first.outbox.submit('order', 1);
      await settle();
      first.crash();
      const { outbox } = openTab(open(hasChannel));
      server.rule = (arrival) => arrival.answer(201, { id: 1 });
      await pass(120_000, 1000);
      expect(server.arrivals.map(({ tab, key }) => [tab, key])).toEqual([
        [1, idempotencyKey],
        [2, idempotencyKey],
      ]);
      expect(await outbox.list({ state: 'sending' })).toEqual([]);
    },
  );

  test.each(['waits', 'is sent'])(
    'an outbox that is disposed of hands its entry to the next one, where it %s',
    async (state) => {
      const { openTab, server, pass } = createBrowser();
      const first = openTab(open());
      first.outbox.submit('order', 1);
      await settle();
      if (state === 'waits') server.arrivals[0]?.answer(503, {}, { 'retry-after': '1' });
      await settle();
      first.outbox.dispose();
      await settle();
      server.rule = (arrival) => arrival.answer(201, { id: 1 });
      openTab(open());
      await pass(2000);
      expect(server.arrivals).toHaveLength(2);
    },
  );

  test('what a frozen tab holds is sent by another within two minutes, and is not sent twice by the first', async () => {
    const { openTab, server, pass } = createBrowser();
    const first = openTab(open());
    const { delivered } = first.outbox.submit('order', 1);
    await settle();
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '1' });
    await settle();
    openTab(open());
    await settle();
    first.freeze(false);
    server.rule = (arrival) => arrival.answer(201, { id: 2 });
    await pass(140_000, 1000);
    expect(server.arrivals.map(({ tab }) => tab)).toEqual([1, 2]);
    first.thaw();
    await pass(60_000, 1000);
    expect(server.arrivals).toHaveLength(2);
    expect(await first.outbox.list()).toEqual([]);
    expect(await delivered).toEqual({ id: 2 });
  });

  test('a user who retries what waits in a frozen tab has it sent at once, by this tab', async () => {
    const { openTab, server, pass } = createBrowser();
    const first = openTab(open());
    const { idempotencyKey } = first.outbox.submit('order', 1);
    await settle();
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '600' });
    await settle();
    const second = openTab(open());
    await settle();
    first.freeze(false);
    expect(await second.outbox.retry(idempotencyKey)).toBe(idempotencyKey);
    await pass(100);
    expect(server.arrivals.map(({ tab }) => tab)).toEqual([1, 2]);
  });

  test('a user who retries what a frozen tab is sending is told that another tab has it, until it is sent', async () => {
    const { openTab, server, pass } = createBrowser();
    const first = openTab(open());
    const { idempotencyKey } = first.outbox.submit('order', 1);
    await settle();
    first.freeze(false);
    const second = openTab(open());
    await settle();
    expect(await second.outbox.retry(idempotencyKey)).toBe(idempotencyKey);
    expect(await second.outbox.find(idempotencyKey)).toMatchObject({
      state: 'sending',
      sentBy: 'another-tab',
    });
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    await pass(120_000, 1000);
    expect(await second.outbox.find(idempotencyKey)).toMatchObject({ state: 'done' });
    expect(server.arrivals.map(({ tab }) => tab)).toEqual([1, 2]);
  });
});
