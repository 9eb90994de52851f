import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { extendMutation } from '../../src/core/react-query/mutation/definition.ts';
import { Submission } from '../../src/core/operation/parts/submission.ts';
import { createBrowser, settle, shop } from './rig.ts';

const { order } = shop;

const unhandled = vi.fn<(reason: unknown) => void>();
beforeEach(() => void process.on('unhandledRejection', unhandled));
afterEach(() => {
  process.off('unhandledRejection', unhandled);
  unhandled.mockReset();
});

/** The same options, with a key that the test knows. */
const submitAs = <O extends { readonly mutationFn?: object }>(options: O): O => ({
  ...options,
  mutationFn: extendMutation('a test', options.mutationFn, {
    submissionOf: () => new Submission({ key: 'the-same-key', createdAt: 0 }),
  }),
});

describe('a result', () => {
  test('that nobody waits for is kept ten minutes, also when several come in between', async () => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival) => arrival.answer(201, { id: 7 });
    const first = openTab({ handlers: shop });
    await first.outbox.submit('order', 1).saved;
    first.crash();
    const { outbox } = openTab({ handlers: shop });
    await settle();
    expect(await outbox.list()).toMatchObject([{ state: 'done', data: { id: 7 } }]);
    await pass(599_000);
    const second = openTab({ handlers: shop });
    await second.outbox.submit('order', 2).saved;
    second.crash();
    await settle();
    expect(await outbox.list()).toHaveLength(2);
    await pass(4000);
    expect(await outbox.list()).toMatchObject([{ variables: 2 }]);
    await pass(602_000, 2000);
    expect(await outbox.list()).toEqual([]);
  });

  test('from before the clock was set back is kept ten minutes of the new time, and no longer', async () => {
    const { openTab, server, pass, clock } = createBrowser();
    server.rule = (arrival) => arrival.answer(201, { id: 7 });
    const first = openTab({ handlers: shop });
    await first.outbox.submit('order', 1).saved;
    first.crash();
    const { outbox } = openTab({ handlers: shop });
    await settle();
    clock.jump(-3_600_000);
    await pass(3_600_000 + 590_000, 10_000);
    expect(await outbox.list()).toHaveLength(1);
    await pass(620_000, 10_000);
    expect(await outbox.list()).toEqual([]);
  });

  test('of the same key reaches whoever has submitted it twice in a tab, also while the first is written', async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const { openTab, server } = createBrowser();
      const { outbox, client } = openTab({ handlers: shop });
      const press = () => {
        const options = submitAs(outbox.mutationOptions('order'));
        return client.getMutationCache().build(client, options).execute(1);
      };
      await settle();
      const ends = [press()];
      for (let left = turns; left > 0; left -= 1)
        await new Promise((done) => void setImmediate(done));
      ends.push(press());
      await settle();
      expect(server.arrivals).toMatchObject([{ key: 'the-same-key' }]);
      server.arrivals[0]?.answer(201, { id: 3 });
      expect(await Promise.all(ends)).toEqual([{ id: 3 }, { id: 3 }]);
    }
  });

  test('of the same key reaches both tabs that have submitted it', async () => {
    const { openTab, server } = createBrowser();
    const [one, other] = [openTab({ handlers: shop }), openTab({ handlers: shop })].map(
      ({ outbox, client }) => {
        const options = submitAs(outbox.mutationOptions('order'));
        return client.getMutationCache().build(client, options).execute(1);
      },
    );
    await settle();
    expect(server.arrivals).toMatchObject([{ key: 'the-same-key' }]);
    server.arrivals[0]?.answer(201, { id: 3 });
    expect(await one).toEqual({ id: 3 });
    expect(await other).toEqual({ id: 3 });
  });

  test('reaches a frozen tab that has missed the message, once it is back', async () => {
    const { openTab, server } = createBrowser();
    const first = openTab({ handlers: shop });
    openTab({ handlers: shop });
    const { delivered } = first.outbox.submit('order', 1);
    await settle();
    first.freeze();
    await settle();
    // Its own request is answered while it sleeps, and then that of the tab that has taken over.
    server.arrivals[0]?.answer(201, { id: 4 });
    server.arrivals[1]?.answer(201, { id: 4 });
    await settle();
    first.thaw();
    expect(await delivered).toEqual({ id: 4 });
    await settle();
    expect(await first.outbox.list()).toEqual([]);
  });

  test('that came while the only tab slept ends it: nothing is sent again', async () => {
    const { openTab, server } = createBrowser();
    const { outbox, freeze, thaw } = openTab({ handlers: shop });
    const { delivered } = outbox.submit('order', 1);
    await settle();
    freeze();
    await settle();
    server.arrivals[0]?.answer(201, { id: 5 });
    thaw();
    expect(await delivered).toEqual({ id: 5 });
    await settle();
    expect(server.arrivals).toHaveLength(1);
    expect(await outbox.list()).toEqual([]);
  });
});

test('a delivery is told once in every tab, whoever else has it answered, too', async () => {
  const { openTab, server } = createBrowser();
  const told: string[] = [];
  const open = (tab: string) =>
    openTab({ handlers: { order: { ...order, onDelivered: () => void told.push(tab) } } });
  const first = open('first');
  open('second');
  first.outbox.submit('order', 1);
  await settle();
  first.freeze();
  await settle();
  first.thaw();
  await settle();
  server.arrivals[1]?.answer(201);
  await settle();
  server.arrivals[0]?.answer(201);
  await settle();
  expect(told.toSorted()).toEqual(['first', 'second']);
});

test('an onDelivered that throws costs nobody anything', async () => {
  const { openTab, server, clock } = createBrowser();
  const onDelivered = (): never => {
    throw new Error('the app’s mistake');
  };
  const handlers = { order: { ...order, scope: 'cart', onDelivered } };
  const first = openTab({ handlers });
  const second = openTab({ handlers });
  const before = clock.now();
  const one = first.outbox.submit('order', 1);
  const other = second.outbox.submit('order', 2);
  await settle();
  server.arrivals[0]?.answer(201, { id: 1 });
  expect(await one.delivered).toEqual({ id: 1 });
  await settle();
  server.arrivals[1]?.answer(201, { id: 2 });
  expect(await other.delivered).toEqual({ id: 2 });
  await settle();
  expect(clock.now()).toBe(before);
  expect(unhandled).toHaveBeenCalledTimes(4);
});

describe('clear', () => {
  test('forgets everything in all tabs, breaks off what is under way, and holds no lock', async () => {
    const { openTab, server } = createBrowser();
    const first = openTab({ handlers: shop });
    const second = openTab({ handlers: shop });
    const ends: unknown[] = [];
    for (const { outbox } of [first, second])
      outbox.submit('order', 1).delivered.catch((error: unknown) => void ends.push(error));
    await settle();
    // Adopted: nobody here has submitted it.
    const third = openTab({ handlers: shop });
    await third.outbox.submit('order', 3).saved;
    third.crash();
    await settle();
    expect(server.arrivals).toHaveLength(3);
    await first.outbox.clear();
    await settle();
    expect(server.arrivals.map(({ isAborted }) => isAborted())).toEqual([true, true, true]);
    expect(ends.map((error) => (error as Error).message)).toEqual(
      Array(2).fill(
        `This 'order' was discarded from the outbox. Whether it was done is not known.`,
      ),
    );
    expect(await second.outbox.list()).toEqual([]);
    expect([first.locks(), second.locks()]).toEqual([0, 0]);
  });

  test('forgets what is on its way to the disk, and keeps what is submitted after it', async () => {
    const { openTab, server } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    const before = outbox.submit('order', 1);
    const clearing = outbox.clear();
    const after = outbox.submit('order', 2);
    await expect(before.saved).rejects.toThrow('was discarded from the outbox before it was sent');
    await expect(before.delivered).rejects.toThrow('was discarded');
    await clearing;
    expect(await after.saved).toEqual({ isDurable: true });
    await settle();
    expect(server.arrivals.map(({ body }) => body)).toEqual(['2']);
  });

  test('forgets what is in the other pages alone', async () => {
    const { openTab, server, pass } = createBrowser();
    const first = openTab({ handlers: shop });
    const second = openTab({ handlers: shop });
    second.fail('quota');
    const { saved, delivered } = second.outbox.submit('order', 1);
    expect(await saved).toEqual({ isDurable: false });
    await settle();
    server.arrivals[0]?.answer(503);
    await first.outbox.clear();
    await expect(delivered).rejects.toThrow('was discarded');
    await pass(60_000);
    expect(server.arrivals).toHaveLength(1);
  });

  test('keeps another tab from sending what it has held back', async () => {
    const { openTab, server, pass } = createBrowser();
    const first = openTab({ handlers: shop });
    const second = openTab({ handlers: shop });
    server.rule = (arrival) => arrival.answer(503, {}, { 'retry-after': '30' });
    second.outbox.submit('order', 1);
    second.outbox.submit('order', 2);
    await pass(1000);
    const before = server.arrivals.length;
    second.freeze();
    await first.outbox.clear();
    second.thaw();
    await pass(120_000);
    expect(server.arrivals).toHaveLength(before);
  });
});

test('the entries of one person are not seen, and not sent, as those of another', async () => {
  const { openTab, server } = createBrowser();
  const ada = openTab({ handlers: shop, user: 'ada' });
  const eve = openTab({ handlers: shop, user: 'eve' });
  const { saved } = ada.outbox.submit('order', 1);
  await saved;
  ada.crash();
  await settle();
  expect(await eve.outbox.list()).toEqual([]);
  await eve.outbox.clear();
  expect(server.arrivals.filter(({ tab }) => tab === 2)).toEqual([]);
  const again = openTab({ handlers: shop, user: 'ada' });
  expect(await again.outbox.list()).toMatchObject([{ variables: 1 }]);
});

test('two outboxes of one name share their entries, as two tabs do', async () => {
  const { openTab, server } = createBrowser();
  const [one, other] = [openTab({ handlers: shop }), openTab({ handlers: shop })] as const;
  const { idempotencyKey } = one.outbox.submit('order', 1);
  await settle();
  expect(await other.outbox.find(idempotencyKey)).toMatchObject({ state: 'sending' });
  expect(server.arrivals).toHaveLength(1);
  expect(one.locks()).toBe(1);
  expect(other.locks()).toBe(1);
});

describe('after dispose', () => {
  test('nothing is sent or asked for, whoever waits is told, and what is kept is the next tab’s', async () => {
    const { openTab, server, clock, pass } = createBrowser();
    const first = openTab({ handlers: shop });
    const { delivered, idempotencyKey } = first.outbox.submit('order', 1);
    await settle();
    const timers = clock.pending();
    first.outbox.dispose();
    first.outbox.dispose();
    await expect(delivered).rejects.toMatchObject({
      message: expect.stringContaining('It is kept, and sent by another tab or the next page'),
      outcome: { kind: 'aborted', processed: 'unknown' },
    });
    expect(server.arrivals[0]?.isAborted()).toBe(true);
    await settle();
    expect(first.locks()).toBe(0);
    expect(clock.pending()).toBeLessThan(timers);
    await pass(60_000);
    expect(server.arrivals).toHaveLength(1);
    openTab({ handlers: shop });
    await settle();
    expect(server.arrivals[1]).toMatchObject({ key: idempotencyKey });
  });

  test('what was on its way to the disk is kept there, and is the next tab’s', async () => {
    const { openTab, rows } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    await settle();
    const { saved } = outbox.submit('order', 1);
    for (let left = 3; left > 0; left -= 1) await new Promise((done) => void setImmediate(done));
    outbox.dispose();
    expect(await saved).toEqual({ isDurable: true });
    expect(await rows()).toMatchObject([{ variables: 1, state: 'pending' }]);
  });

  test('everything says so', async () => {
    const { openTab } = createBrowser();
    const { outbox, locks } = openTab({ handlers: shop });
    const late = outbox.submit('order', 1);
    outbox.dispose();
    const said = /the outbox was disposed of. Make another: createOutbox\(/;
    expect(() => outbox.submit('order', 2)).toThrow(said);
    await expect(outbox.list()).rejects.toThrow(said);
    await expect(outbox.find('1')).rejects.toThrow(said);
    await expect(outbox.retry('1')).rejects.toThrow(said);
    await expect(outbox.clear()).rejects.toThrow(said);
    expect(await late.saved).toEqual({ isDurable: true });
    await expect(late.delivered).rejects.toThrow('It is kept, and sent by another tab');
    await settle();
    expect(locks()).toBe(0);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('what a submission cannot be', () => {
  test('of a handler that is not there', () => {
    const { outbox } = createBrowser().openTab({ handlers: shop });
    expect(() => outbox.submit('orders' as 'order', 1)).toThrow(
      `outbox: handler is 'orders', and must be one of order.`,
    );
  });

  test('in a scope that is no text, or that cannot be told', () => {
    const scopes = [
      () => 7 as unknown as string,
      () => null as unknown as string,
      () => {
        throw new RangeError('no scope');
      },
    ];
    const messages = scopes.map((scope) => {
      const { outbox } = createBrowser().openTab({ handlers: { order: { ...order, scope } } });
      try {
        outbox.submit('order', 1);
        return 'was taken';
      } catch (error) {
        return String(error);
      }
    });
    expect(messages).toEqual([
      `TypeError: outbox 'order': scope is 7, and must be a text, or undefined.`,
      `TypeError: outbox 'order': scope is null, and must be a text, or undefined.`,
      'RangeError: no scope',
    ]);
  });

  test('of what cannot be encrypted, which holds up no other', async () => {
    const { openTab, server } = createBrowser();
    const encrypt = async (value: unknown): Promise<unknown> => {
      if (value === 'bad') throw new Error('no key');
      return value;
    };
    const decrypt = async (sealed: unknown): Promise<unknown> => sealed;
    const { outbox } = openTab({ handlers: shop, cipher: { encrypt, decrypt } });
    outbox.submit('order', 'first');
    const { saved, delivered } = outbox.submit('order', 'bad');
    outbox.submit('order', 'last');
    await settle();
    await expect(saved).rejects.toThrow('no key');
    await expect(delivered).rejects.toThrow('no key');
    expect(server.arrivals.map(({ body }) => body)).toEqual(['"first"', '"last"']);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test('of what a cipher has made that cannot be stored', async () => {
    const cipher = { encrypt: async () => () => {}, decrypt: async () => 1 };
    const { outbox } = createBrowser().openTab({ handlers: shop, cipher });
    const { saved } = outbox.submit('order', 1);
    await expect(saved).rejects.toMatchObject({ name: 'DataCloneError' });
  });
});

test('variables are sent as they were submitted, whatever becomes of the object', async () => {
  const { openTab, server } = createBrowser();
  const { outbox } = openTab({ handlers: shop });
  const basket = { count: 1 };
  outbox.submit('order', basket);
  basket.count = 2;
  await settle();
  expect(server.arrivals.map(({ body }) => body)).toEqual(['{"count":1}']);
});

test('what is submitted before the database is open is kept in that order', async () => {
  const { openTab, server } = createBrowser();
  const { outbox } = openTab({ handlers: { order: { ...order, scope: 'cart' } } });
  expect(outbox.getState().storage).toBe('opening');
  const all = [1, 2, 3].map((n) => outbox.submit('order', n).saved);
  for (const { isDurable } of await Promise.all(all)) expect(isDurable).toBe(true);
  expect((await outbox.list()).map(({ variables }) => variables)).toEqual([1, 2, 3]);
  await settle();
  expect(server.arrivals.map(({ body }) => body)).toEqual(['1']);
});

test('messages of another version, and what nobody has written, are not heard', async () => {
  const { openTab, post, server } = createBrowser();
  const { outbox } = openTab({ handlers: shop });
  const { idempotencyKey: id } = outbox.submit('order', 1);
  await settle();
  for (const message of [
    null,
    'cleared',
    { kind: 'cleared' },
    { kind: 'cleared', version: 2 },
    { kind: 'due', owner: 'nobody', seq: -1, isUrged: true, version: 1 },
    { kind: 'done', id: 'nobody', handler: 'nobody', version: 1 },
  ])
    post(message);
  await settle();
  expect(await outbox.find(id)).toMatchObject({ state: 'sending' });
  expect(server.arrivals.map(({ isAborted }) => isAborted())).toEqual([false]);
  // One that lies about a row changes nothing of it, either.
  post({ kind: 'done', id, handler: 'order', version: 1 });
  post({ kind: 'ended', id, version: 1 });
  await settle();
  expect(await outbox.find(id)).toMatchObject({ state: 'sending' });
});

test('a user who wants it now gets it from the tab in front of them, whichever had it', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = (arrival) => arrival.answer(503, {}, { 'retry-after': '200' });
  const first = openTab({ handlers: shop });
  const second = openTab({ handlers: shop });
  const { idempotencyKey } = first.outbox.submit('order', 1);
  await pass(1000);
  server.rule = (arrival) => arrival.answer(201, { id: 1 });
  expect(await second.outbox.retry(idempotencyKey)).toBe(idempotencyKey);
  await pass(1000);
  expect(server.arrivals.map(({ tab }) => tab)).toEqual([1, 2]);
  expect(await second.outbox.list()).toEqual([]);
});
