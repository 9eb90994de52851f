import type { OutboxContext } from 'steadfetch/outbox';
import { describe, expect, test, vi } from 'vitest';
import { createBrowser, plainApi, settle } from './rig.ts';

/** Orders that go without a key, because their API honours none, once the test lets them. */
function createShop() {
  const waiting: (() => void)[] = [];
  return {
    go: () => {
      for (const go of waiting.splice(0)) go();
    },
    handlers: {
      order: {
        async mutationFn(order: string, { json }: OutboxContext) {
          await new Promise<void>((go) => void waiting.push(go));
          return json<{ id: number }>(`${plainApi}/orders`, { method: 'POST', json: order });
        },
      },
    },
  };
}

describe('a request without a key that was surely not sent goes later', () => {
  test('where the note that it is about to go takes longer than its time limit', async () => {
    const { openTab, server, pass } = createBrowser();
    const { handlers, go } = createShop();
    const { outbox, fail } = openTab({ handlers });
    const { delivered } = outbox.submit('order', 'lamp');
    await settle();
    fail('hang');
    go();
    await settle();
    fail('none');
    await pass(10_000);
    expect(await outbox.list()).toMatchObject([{ state: 'pending', processed: 'no' }]);
    await pass(5000);
    go();
    await settle();
    expect(server.arrivals).toHaveLength(1);
    server.arrivals[0]?.answer(201, { id: 1 });
    expect(await delivered).toEqual({ id: 1 });
    await settle();
    expect(await outbox.list()).toEqual([]);
  });

  test('also under a limit of one attempt', async () => {
    const { openTab, server, pass } = createBrowser();
    const { handlers, go } = createShop();
    const { outbox, fail } = openTab({
      handlers: { order: { ...handlers.order, maxAttempts: 1 } },
    });
    outbox.submit('order', 'lamp');
    await settle();
    fail('hang');
    go();
    await settle();
    fail('none');
    await pass(15_000);
    go();
    await settle();
    expect(server.arrivals).toHaveLength(1);
  });

  test('where the note hangs until it is given up', async () => {
    const { openTab, server, pass } = createBrowser();
    const { handlers, go } = createShop();
    const patient = { ...handlers.order, policy: { timeout: 120_000 } };
    const { outbox, fail } = openTab({ handlers: { order: patient } });
    outbox.submit('order', 'lamp');
    await settle();
    fail('hang');
    go();
    await pass(60_000);
    fail('none');
    await pass(60_000);
    go();
    await settle();
    expect(server.arrivals).toHaveLength(1);
    server.arrivals[0]?.answer(201, { id: 1 });
    await settle();
    expect(await outbox.list()).toEqual([]);
  });

  test('where the outbox is disposed of while that is noted: the next page delivers it', async () => {
    let unsent = 0;
    for (let turns = 0; turns < 12; turns += 1) {
      const { openTab, server, pass } = createBrowser();
      const { handlers, go } = createShop();
      const first = openTab({ handlers });
      first.outbox.submit('order', 'lamp').delivered.catch(() => {});
      await settle();
      go();
      for (let left = turns; left > 0; left -= 1)
        await new Promise((done) => void setImmediate(done));
      first.outbox.dispose();
      const wasSent = server.arrivals.length > 0;
      await settle();
      const { outbox } = openTab({ handlers });
      await pass(1000);
      go();
      await settle();
      // Once it was sent, nobody knows.
      expect(server.arrivals.map(({ tab }) => tab)).toEqual([wasSent ? 1 : 2]);
      expect(await outbox.list()).toMatchObject([{ state: wasSent ? 'dead' : 'sending' }]);
      if (!wasSent) unsent += 1;
    }
    expect(unsent).toBe(5);
  });

  test('so it does where another client was to send it', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    let unsent = 0;
    for (let turns = 0; turns < 30; turns += 1) {
      const { openTab, pass } = createBrowser();
      const sent: string[] = [];
      const mutationFn = async (order: string): Promise<void> => {
        sent.push(order);
        if (sent.length > 1) await new Promise(() => {});
      };
      const first = openTab({ handlers: { order: { mutationFn } } });
      await first.outbox.submit('order', 'lamp').delivered;
      await settle();
      first.outbox.submit('order', 'chair').delivered.catch(() => {});
      for (let left = turns; left > 0; left -= 1)
        await new Promise((done) => void setImmediate(done));
      first.outbox.dispose();
      const wasSent = sent.length > 1;
      await settle();
      const { outbox } = openTab({ handlers: { order: { mutationFn } } });
      await pass(1000);
      expect(sent).toEqual(['lamp', 'chair']);
      expect(await outbox.list()).toMatchObject([{ state: wasSent ? 'dead' : 'sending' }]);
      if (!wasSent) unsent += 1;
    }
    expect(unsent).toBe(19);
  });
});

describe('what was done without a key, and whose database closes before that is written, is told done', () => {
  test('by the page that knows it, once its database is open again', async () => {
    const { openTab, server, pass } = createBrowser();
    const { handlers, go } = createShop();
    const { outbox, fail } = openTab({ handlers });
    const { delivered } = outbox.submit('order', 'lamp');
    await settle();
    go();
    await settle();
    fail('closed');
    server.arrivals[0]?.answer(201, { id: 1 });
    await pass(3000);
    expect(await delivered).toEqual({ id: 1 });
    await settle();
    expect(await outbox.list()).toEqual([]);
    expect(server.arrivals).toHaveLength(1);
  });

  test('also where another tab has taken it over meanwhile, and could only ask a user', async () => {
    const { openTab, server, pass } = createBrowser();
    const { handlers, go } = createShop();
    const first = openTab({ handlers });
    const { delivered, idempotencyKey } = first.outbox.submit('order', 'lamp');
    await settle();
    const other = openTab({ handlers });
    await settle();
    go();
    await settle();
    first.fail('closed');
    server.arrivals[0]?.answer(201, { id: 1 });
    await pass(900);
    expect(await other.outbox.find(idempotencyKey)).toMatchObject({ reason: 'not-repeatable' });
    await pass(2100);
    expect(await delivered).toEqual({ id: 1 });
    expect(await other.outbox.list()).toEqual([]);
    expect(server.arrivals).toHaveLength(1);
  });

  test('and so is what was refused', async () => {
    const { openTab, server, pass } = createBrowser();
    const { handlers, go } = createShop();
    const { outbox, fail } = openTab({ handlers });
    const { delivered } = outbox.submit('order', 'lamp');
    const end = delivered.catch((error: unknown) => error);
    await settle();
    go();
    await settle();
    fail('closed');
    server.arrivals[0]?.answer(422);
    await pass(3000);
    expect(await end).toMatchObject({ reason: 'refused', outcome: { processed: 'no' } });
    expect(server.arrivals).toHaveLength(1);
  });

  test('and what its server asks to send later is sent later', async () => {
    const { openTab, server, pass } = createBrowser();
    const { handlers, go } = createShop();
    const { outbox, fail } = openTab({ handlers });
    const { delivered } = outbox.submit('order', 'lamp');
    await settle();
    go();
    await settle();
    fail('closed');
    server.arrivals[0]?.answer(429, {}, { 'retry-after': '5' });
    await pass(10_000);
    go();
    await settle();
    expect(server.arrivals).toHaveLength(2);
    server.arrivals[1]?.answer(201, { id: 1 });
    expect(await delivered).toEqual({ id: 1 });
  });
});
