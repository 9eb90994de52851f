import { describe, expect, test } from 'vitest';
import type { OutboxContext } from 'steadfetch/outbox';
import { api, type Arrival, createBrowser, otherApi, settle, longestStepMs } from './rig.ts';

interface Note {
  readonly n: number;
  readonly to: string;
}

type Call = (context: OutboxContext, upload: string) => Promise<unknown>;

/** One handler for whatever address. */
const notes = {
  note: {
    mutationFn: ({ n, to }: Note, { json }: OutboxContext) =>
      json(`${to}/notes`, { method: 'POST', json: n }),
  },
};
/** Each origin has a handler of its own. */
const apart = {
  dead: { mutationFn: (n: number, { json }: OutboxContext) => json(`${api}/a`, { json: n }) },
  well: { mutationFn: (n: number, { json }: OutboxContext) => json(`${otherApi}/b`, { json: n }) },
};

/** What waits, waits in the outbox. */

const count = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('an origin that is dead takes nothing from one that is well', () => {
  test.each([
    ['cuts', (arrival: Arrival) => arrival.cut(), 1000],
    ['says 503', (arrival: Arrival) => arrival.answer(503), 1000],
    ['asks for a pause', (one: Arrival) => one.answer(503, {}, { 'retry-after': '600' }), 1000],
    ['hangs', () => {}, 11_000],
  ])('it %s: behind 40 of its entries, another goes, by the same handler', async (_, dead, ms) => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival) =>
      arrival.url.startsWith(api) ? dead(arrival) : arrival.answer(201, { id: 1 });
    const { outbox } = openTab({ handlers: notes });
    for (const n of count(1, 40)) outbox.submit('note', { n, to: api });
    const { delivered } = outbox.submit('note', { n: 41, to: otherApi });
    let isDelivered = false;
    void delivered.then(() => (isDelivered = true));
    for (let left = ms; left > 0; left -= 100) await pass(100);
    expect(isDelivered).toBe(true);
  });

  test('also an hour later, and at once', async () => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival) => {
      if (!arrival.url.startsWith(api)) arrival.answer(201, { id: 1 });
    };
    const { outbox } = openTab({ handlers: notes });
    for (const n of count(1, 40)) outbox.submit('note', { n, to: api });
    outbox.submit('note', { n: 0, to: otherApi });
    await pass(3_600_000, longestStepMs);
    let isDelivered = false;
    const { delivered } = outbox.submit('note', { n: 41, to: otherApi });
    void delivered.then(() => (isDelivered = true));
    await pass(100);
    expect(isDelivered).toBe(true);
  });

  test('of one that is paused, four wait at its gate, and the others on the disk', async () => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival) =>
      arrival.url.startsWith(api) ? arrival.cut() : arrival.answer(201, { id: 1 });
    const { outbox } = openTab({ handlers: apart });
    for (const n of count(1, 40)) outbox.submit('dead', n);
    await pass(300_000);
    // And two that have been the probe.
    expect(outbox.getState().paused).toBeLessThanOrEqual(6);
    expect(await outbox.submit('well', 1).delivered).toEqual({ id: 1 });
  });
});

describe('a mutationFn whose first request takes longer than a minute', () => {
  const json: Call = (context, upload) => context.json(`${api}/files`, { json: upload });
  test.each<[string, Call]>([
    ['begun at once', json],
    [
      'begun after an await',
      async (context, upload) => {
        await Promise.resolve();
        return json(context, upload);
      },
    ],
    ['by fetch', ({ fetch }, upload) => fetch(`${api}/files`, { method: 'POST', body: upload })],
    [
      'and is not the only one',
      (context, upload) =>
        Promise.all([
          json(context, upload),
          context.json(`${api}/previews`, { json: upload, step: 'preview' }),
        ]),
    ],
  ])('is waited for while it may be on its way (%s)', async (_, call) => {
    const { openTab, server, pass, clock } = createBrowser();
    const arrivals: Arrival[] = [];
    server.rule = (arrival) => {
      arrivals.push(arrival);
      clock.setTimeout(() => arrival.answer(201, { id: 1 }), 90_000);
    };
    const mutationFn = (upload: string, context: OutboxContext) => call(context, upload);
    const { outbox } = openTab({ handlers: { upload: { mutationFn } } });
    // 4 MB at 32 kB/s are 125 s.
    const { delivered } = outbox.submit('upload', 'x'.repeat(4_000_000));
    let isDelivered = false;
    void delivered.then(() => (isDelivered = true));
    await pass(89_000);
    const sent = arrivals.length;
    await pass(5000);
    expect(isDelivered).toBe(true);
    expect(arrivals).toHaveLength(sent);
  });
});

describe('a mutationFn that never settles', () => {
  test('keeps nobody else from going for longer than 5 s, and is tried again after a minute', async () => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    const runs: number[] = [];
    const { outbox } = openTab({
      handlers: {
        stuck: {
          mutationFn: (n: number) => {
            runs.push(n);
            return new Promise<never>(() => {});
          },
        },
        ...apart,
      },
    });
    for (const n of count(1, 8)) outbox.submit('stuck', n);
    expect(await outbox.submit('well', 1).delivered).toEqual({ id: 1 });
    expect(runs).toEqual([1, 2, 3, 4]);
    await pass(5000);
    expect(runs).toEqual(count(1, 8));
    await pass(61_000);
    const [first] = await outbox.list();
    expect(first).toMatchObject({
      variables: 1,
      processed: 'unknown',
      lastError: {
        name: 'IdleError',
        message:
          'The mutationFn of an outbox handler has not settled, and has sent nothing, for 60 s. It is tried ' +
          'again later. Let whatever it awaits end by itself, or give its policy a longer timeout.',
      },
    });
    await pass(300_000);
    expect(runs.filter((n) => n === 1).length).toBeGreaterThan(1);
  });

  test('goes when it is discarded, and with it its place', async () => {
    const { openTab } = createBrowser();
    const { outbox } = openTab({
      handlers: { stuck: { mutationFn: (n: number) => new Promise<never>(() => void n) } },
    });
    const { idempotencyKey, delivered } = outbox.submit('stuck', 1);
    await settle();
    expect(await outbox.discard(idempotencyKey)).toBe(true);
    await expect(delivered).rejects.toThrow('was discarded');
    await settle();
    expect(outbox.getState().sending).toBe(0);
  });
});

/** Entries that have failed for twenty minutes, so that their next attempts are minutes away. */
async function afterOutage() {
  const browser = createBrowser();
  const { server, clock } = browser;
  const outage = (arrival: Arrival): void => arrival.answer(503);
  const served = (arrival: Arrival): void => arrival.answer(201, { id: 1 });
  server.rule = outage;
  const tab = browser.openTab({ handlers: apart, health: false });
  const ends: Promise<unknown>[] = [];
  for (const n of count(1, 40)) ends.push(tab.outbox.submit('dead', n).delivered);
  let left = 40;
  for (const end of ends) void end.then(() => (left -= 1));
  for (let minutes = 0; minutes < 20; minutes += 1) {
    clock.advance(60_000);
    await settle();
  }
  return {
    ...browser,
    tab,
    left: () => left,
    heal: () => (server.rule = served),
  };
}

/** No time passes, but the disk has much to do. */
async function written(left: () => number): Promise<void> {
  for (let turns = 0; turns < 200 && left() > 0; turns += 1) await settle();
}

describe('after an outage, whatever succeeds at its origin', () => {
  test('draws all that waits for it to within 5 s', async () => {
    const { tab, left, heal, pass } = await afterOutage();
    expect(left()).toBe(40);
    heal();
    await tab.steady.fetch(`${api}/shown`);
    await pass(5000);
    await written(left);
    expect(left()).toBe(0);
  });

  test('does so in another tab, too', async () => {
    const { openTab, left, heal, pass } = await afterOutage();
    heal();
    const other = openTab({ handlers: apart, health: false });
    await pass(100);
    void other.steady.fetch(`${api}/shown`).catch(() => {});
    await pass(5000);
    await written(left);
    expect(left()).toBe(0);
  });
});

describe('a success ends the wait of what has failed before it', () => {
  /** An entry that fails at its next attempt, too, and would then wait for 18 s. */
  const failing = async () => {
    const browser = createBrowser({ seed: 3 });
    const { server, openTab, pass } = browser;
    server.rule = (arrival) => arrival.answer(arrival.url.endsWith('/shown') ? 200 : 503);
    const tab = openTab({ handlers: apart, health: false });
    const other = openTab({ handlers: apart, health: false });
    const { idempotencyKey } = tab.outbox.submit('dead', 1);
    await pass(40_000);
    const attempts = (): number => server.arrivals.filter(({ url }) => url.endsWith('/a')).length;
    return { ...browser, tab, other, idempotencyKey, attempts };
  };

  test.each([
    ['this tab', 'tab', 100],
    ['this tab', 'tab', 400],
    ['another tab', 'other', 100],
    ['another tab', 'other', 1500],
  ] as const)(
    'also where it is in %s (%s), and comes %i ms after another success',
    async (_, where, gapMs) => {
      const { [where]: page, tab, idempotencyKey, attempts, pass } = await failing();
      void page.steady.fetch(`${api}/shown`);
      await pass(0);
      await tab.outbox.retry(idempotencyKey);
      await pass(gapMs, 50);
      const before = attempts();
      void page.steady.fetch(`${api}/shown`);
      await pass(5000);
      expect(attempts()).toBeGreaterThan(before);
    },
  );

  test('also where its end is still being written', async () => {
    const { server, tab, idempotencyKey, attempts, pass, rows } = await failing();
    server.rule = (arrival) => {
      if (arrival.url.endsWith('/shown')) return arrival.answer(200);
      arrival.answer(503);
      // Their answers are there in this order, and what is written of the first is not.
      void tab.steady.fetch(`${api}/shown`);
    };
    await tab.outbox.retry(idempotencyKey);
    await settle();
    server.rule = (arrival) => arrival.answer(503);
    const before = attempts();
    expect((await rows())[0]?.attempts).toBe(before);
    await pass(5000);
    expect(attempts()).toBe(before + 1);
  });
});

describe('without BroadcastChannel', () => {
  test('a scope goes on in the other tab, and whoever has submitted is told', async () => {
    const { openTab, server, pass } = createBrowser();
    const handlers = {
      order: {
        scope: 'one',
        mutationFn: (n: number, { json }: OutboxContext) => json(`${api}/orders`, { json: n }),
      },
    };
    const first = openTab({ handlers, hasChannel: false });
    const second = openTab({ handlers, hasChannel: false });
    const before = first.outbox.submit('order', 1);
    await before.saved;
    const { delivered } = second.outbox.submit('order', 2);
    await pass(8000);
    expect(server.arrivals.map(({ body }) => body)).toEqual(['1']);
    server.arrivals[0]?.answer(201, { id: 1 });
    await pass(5100);
    expect(server.arrivals.map(({ body }) => body)).toEqual(['1', '2']);
    second.crash();
    await pass(5100);
    // The first has taken it over.
    expect(server.arrivals.map(({ tab }) => tab)).toEqual([1, 2, 1]);
    void delivered.catch(() => {});
  });
});

describe('whatever becomes of the clock', () => {
  test.each([-3_600_000, -86_400_000, 3_600_000, 86_400_000])(
    'set by %i ms in a backoff, an entry goes no later than it would have',
    async (byMs) => {
      const at = async (jumpMs: number): Promise<number> => {
        const { openTab, server, clock, pass } = createBrowser();
        let wasMs = 0;
        let ranMs = 0;
        server.rule = (arrival, number) => {
          if (number < 8) arrival.answer(503);
          else {
            wasMs = ranMs;
            arrival.answer(201, { id: 1 });
          }
        };
        const { outbox } = openTab({ handlers: apart, health: false });
        const { delivered } = outbox.submit('dead', 1);
        let isOver = false;
        void delivered.then(() => (isOver = true));
        await pass(60_000);
        ranMs = 60_000;
        clock.jump(jumpMs);
        while (!isOver && ranMs < 3_600_000) {
          await pass(1000);
          ranMs += 1000;
        }
        return wasMs;
      };
      expect(await at(byMs)).toBeLessThanOrEqual((await at(0)) + 5000);
    },
  );
});

test.each(['quota', 'write'] as const)(
  'an entry whose turn comes just when the disk takes nothing (%s) goes once it does, and nobody has to look',
  async (fault) => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    const tab = openTab({
      handlers: {
        order: {
          mutationFn: (n: number, { json }: OutboxContext) => json(`${api}/orders`, { json: n }),
          scope: 'cart',
          onDelivered: () => tab.fail(fault),
        },
      },
    });
    const { delivered } = tab.outbox.submit('order', 1);
    tab.outbox.submit('order', 2);
    await delivered;
    await settle();
    tab.fail('none');
    await pass(5100);
    expect(server.arrivals.map(({ body }) => body)).toEqual(['1', '2']);
  },
);

test.each([
  ['a year', '31536000'],
  ['an epoch time', '1732723200'],
  ['more than any number', '99999999999999999999'],
  ['a date', 'Fri, 31 Dec 2099 23:59:59 GMT'],
])('a server that names %s as the time to wait is asked again after a day', async (_, value) => {
  const browser = createBrowser();
  const { clock, server, pass } = browser;
  const { outbox } = browser.openTab({ handlers: apart });
  server.rule = (arrival) => arrival.answer(503, {}, { 'retry-after': value });
  outbox.submit('dead', 1);
  await pass(1000);
  const [entry] = await outbox.list();
  expect((entry?.nextRetryAt ?? 0) - clock.now()).toBe(86_400_000 - 1000);
  server.rule = (arrival) => arrival.answer(201);
  clock.sleep(86_400_000);
  await pass(6000);
  expect(server.arrivals).toHaveLength(2);
});

test('a success that comes while the wait of another entry is being written ends that wait', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = (arrival) => arrival.answer(503);
  const { outbox } = openTab({ handlers: notes, health: false });
  const ids = count(1, 2).map((n) => outbox.submit('note', { n, to: api }).idempotencyKey);
  // By now they wait for minutes.
  await pass(3_600_000, longestStepMs);
  server.rule = undefined;
  for (const id of ids) await outbox.retry(id);
  await settle();
  const [one, other] = server.arrivals.slice(-2);
  server.rule = (arrival) => arrival.answer(201);
  one?.answer(503);
  other?.answer(201);
  await pass(5000);
  expect(await outbox.list()).toEqual([]);
});
