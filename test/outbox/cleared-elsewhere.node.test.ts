import { describe, expect, test } from 'vitest';
import { createBrowser, settle, shop } from './rig.ts';

const turn = (): Promise<void> => new Promise((done) => void setImmediate(done));

describe('what one tab has cleared, another never writes or sends again', () => {
  test.each([true, false])(
    'where that has just opened and submitted, whenever the clear comes (channel: %s)',
    async (hasChannel) => {
      for (let turns = 0; turns < 40; turns += 2) {
        const { openTab, server, pass, rows } = createBrowser();
        const clearing = openTab({ handlers: shop, hasChannel });
        await settle();
        const opened = openTab({ handlers: shop, hasChannel });
        const { saved, delivered } = opened.outbox.submit('order', 'of ada');
        const end = delivered.catch((error: unknown) => error);
        await saved;
        for (let left = turns; left > 0; left -= 1) await turn();
        await clearing.outbox.clear();
        const before = server.arrivals.length;
        await pass(10_000);
        expect(await rows()).toEqual([]);
        expect(server.arrivals.slice(before)).toEqual([]);
        expect(await end).toMatchObject({ name: 'SteadfetchError' });
        opened.crash();
        clearing.crash();
      }
    },
  );

  test('where that slept, and its connection is replaced afterwards', async () => {
    const { openTab, server, pass, rows } = createBrowser();
    const clearing = openTab({ handlers: shop });
    const asleep = openTab({ handlers: shop });
    await settle();
    const kept = asleep.outbox.submit('order', 'on the disk');
    const kindOfEnd = kept.delivered.catch(() => 'told');
    await settle();
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '60' });
    await settle();
    asleep.freeze(false);
    await clearing.outbox.clear();
    clearing.crash();
    asleep.fail('closed');
    asleep.thaw();
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    await pass(120_000, 4000);
    expect(await rows()).toEqual([]);
    expect(server.arrivals).toHaveLength(1);
    expect(await kindOfEnd).toBe('told');
  });

  test('where that holds it in its page alone, and has not heard of the clear', async () => {
    const { openTab, server, pass, rows } = createBrowser();
    const clearing = openTab({ handlers: shop });
    const asleep = openTab({ handlers: shop });
    await settle();
    asleep.fail('quota');
    const { delivered } = asleep.outbox.submit('order', 'in the page');
    const kindOfEnd = delivered.catch(() => 'told');
    await settle();
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '60' });
    await settle();
    asleep.freeze(false);
    await clearing.outbox.clear();
    asleep.fail('closed');
    asleep.thaw();
    asleep.outbox.submit('order', 'later');
    await pass(2000);
    expect((await rows()).map(({ variables }) => variables)).not.toContain('in the page');
    expect(await kindOfEnd).toBe('told');
  });

  test('where the database is deleted after the clear', async () => {
    const { name, openTab, server, pass, rows } = createBrowser();
    const clearing = openTab({ handlers: shop });
    const other = openTab({ handlers: shop });
    await settle();
    const { delivered } = other.outbox.submit('order', 'of ada');
    const end = delivered.catch(() => 'told');
    await settle();
    await clearing.outbox.clear();
    indexedDB.deleteDatabase(name);
    const before = server.arrivals.length;
    await pass(20_000);
    expect([await rows(), server.arrivals.slice(before)]).toEqual([[], []]);
    expect(await end).toBe('told');
  });
});
