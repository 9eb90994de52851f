import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import createClient from 'openapi-fetch';
import type { Steadfetch } from 'steadfetch';
import type { OutboxContext } from 'steadfetch/outbox';
import { deriveKey } from '../../src/core/idempotency/key.ts';
import { api, createBrowser, settle } from './rig.ts';

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

const post = (
  { json }: OutboxContext,
  path: string,
  body: unknown,
  step?: string,
): Promise<unknown> => json(`${api}${path}`, { method: 'POST', json: body, step });

/** Two requests, of which a later attempt leaves out the first where it is told to. */
const two = (isFirstLeftOut: () => boolean) => ({
  order: {
    async mutationFn(order: string, context: OutboxContext) {
      if (!isFirstLeftOut()) await post(context, '/drafts', `draft of ${order}`);
      await post(context, '/orders', order, 'order');
      return { id: 1 };
    },
  },
});

test('a tab that has slept sends nothing more of an entry that another has delivered meanwhile', async () => {
  const { openTab, server, pass } = createBrowser();
  const handlers = {
    order: {
      async mutationFn(order: string, { json }: OutboxContext) {
        await json(`${api}/a`, { method: 'PUT', json: order });
        return json(`${api}/b`, { method: 'PUT', json: order });
      },
      scope: 's',
    },
  };
  const slow = openTab({ handlers });
  const { delivered } = slow.outbox.submit('order', 'old');
  await settle();
  slow.freeze();
  server.rule = ({ tab, answer }) => tab > 1 && answer(200, {});
  const quick = openTab({ handlers });
  await pass(1000);
  await quick.outbox.submit('order', 'new').delivered;
  server.arrivals[0]?.answer(200, {});
  slow.thaw();
  await pass(10_000);
  expect(await delivered).toEqual({});
  expect(server.arrivals.map(({ tab, url, body }) => [tab, url.at(-1), body])).toEqual([
    [1, 'a', '"old"'],
    [2, 'a', '"old"'],
    [2, 'b', '"old"'],
    [2, 'a', '"new"'],
    [2, 'b', '"new"'],
  ]);
});

describe('a request that is paused when its attempt has ended is not sent', () => {
  const plain = 'https://plain.example';
  const handlers = {
    order: {
      mutationFn: (order: string, { json }: OutboxContext) =>
        Promise.all([json(`${plain}/limited`, { json: order }), json(`${plain}/a`)]),
    },
  };

  test.each(['nothing', 'clear', 'discard', 'dispose'] as const)(
    'whatever follows: %s',
    async (what) => {
      const { openTab, server, pass } = createBrowser();
      let isLimited = true;
      server.rule = ({ url, answer }) => {
        if (url.endsWith('/a')) answer(500);
        else if (isLimited) answer(429, {}, { 'retry-after': '20' });
        else answer(201);
      };
      const { outbox, steady } = openTab({ handlers });
      void steady.fetch(`${plain}/limited`, { method: 'POST' }).catch(() => {});
      await pass(300);
      isLimited = false;
      const { idempotencyKey, delivered } = outbox.submit('order', 'lamp');
      delivered.catch(() => {});
      await pass(700);
      const acting = {
        nothing: () => (server.rule = ({ answer }) => answer(201)),
        clear: () => outbox.clear(),
        discard: () => outbox.discard(idempotencyKey),
        dispose: () => outbox.dispose(),
      }[what]();
      await pass(60_000, 500);
      await acting;
      const orders = server.arrivals.filter(({ body }) => body === '"lamp"');
      expect(orders).toHaveLength(what === 'nothing' ? 1 : 0);
    },
  );
});

describe('the requests of an entry', () => {
  test('are on the disk before each goes, with their bytes', async () => {
    const { openTab, server, rows } = createBrowser();
    const { outbox } = openTab({ handlers: two(() => false) });
    const { idempotencyKey: key } = outbox.submit('order', 'lamp');
    await settle();
    const draft = { id: '', target: `POST ${api}/drafts`, key, body: '"draft of lamp"' };
    expect(server.arrivals).toMatchObject([{ key, body: '"draft of lamp"' }]);
    expect(await rows()).toMatchObject([{ steps: [draft] }]);
    server.arrivals[0]?.answer(201);
    await settle();
    const order = { id: '#order', key: server.arrivals[1]?.key, body: '"lamp"' };
    expect(order.key).toBe(deriveKey(key, '0 #order'));
    expect(await rows()).toMatchObject([{ steps: [{ ...draft, isDone: true }, order] }]);
  });

  test('never share a key, also where an attempt was refused before anything of it was sent', async () => {
    const { openTab, server, pass } = createBrowser();
    const handlers = {
      ...two(() => false),
      other: { mutationFn: (_: string, context: OutboxContext) => post(context, '/other', 'x') },
    };
    // The first attempt waits at the gate for too long, and nothing of it is sent.
    server.rule = ({ answer, body }) =>
      body === '"x"' ? answer(503, {}, { 'retry-after': '120' }) : answer(201);
    const { outbox } = openTab({ handlers });
    outbox.submit('other', '');
    await settle();
    const { idempotencyKey: key } = outbox.submit('order', 'lamp');
    server.rule = ({ answer }) => answer(201);
    for (let left = 20; left > 0; left -= 1) await pass(30_000);
    expect(server.arrivals.filter(({ body }) => body !== '"x"')).toMatchObject([
      { key, body: '"draft of lamp"' },
      { key: deriveKey(key, '0 #order'), body: '"lamp"' },
    ]);
    expect(await outbox.list()).toEqual([]);
  });

  test('need names from the second on: without one it is not sent, and what was sent stays unknown', async () => {
    const handlers = {
      order: {
        async mutationFn(order: string, context: OutboxContext) {
          await post(context, '/orders', order);
          return post(context, '/payments', order);
        },
      },
    };
    const { openTab, server } = createBrowser();
    server.rule = (arrival) => arrival.answer(201);
    const { outbox } = openTab({ handlers });
    await expect(outbox.submit('order', 'lamp').delivered).rejects.toMatchObject({
      reason: 'refused',
      outcome: { processed: 'unknown' },
      cause: {
        message: expect.stringMatching(/^steady\.fetch: step is missing for POST .*payments/),
      },
    });
    expect(server.arrivals).toHaveLength(1);
  });

  test('have the same keys in another tab, also when one is left out there', async () => {
    let isLeftOut = false;
    const { openTab, server } = createBrowser();
    const handlers = two(() => isLeftOut);
    const first = openTab({ handlers });
    first.outbox.submit('order', 'lamp');
    await settle();
    server.arrivals[0]?.answer(201);
    await settle();
    first.crash();
    // The first has been done, as the program finds out.
    isLeftOut = true;
    openTab({ handlers });
    await settle();
    expect(server.arrivals.map(({ tab, body }) => [tab, body])).toEqual([
      [1, '"draft of lamp"'],
      [1, '"lamp"'],
      [2, '"lamp"'],
    ]);
    expect(server.arrivals[2]?.key).toBe(server.arrivals[1]?.key);
  });

  const counting = () => {
    let count = 0;
    return {
      order: {
        mutationFn(order: string, context: OutboxContext) {
          count += 1;
          return post(context, '/orders', `${order} ${count}`);
        },
      },
    };
  };

  test('never have two payloads under one key: in another tab, the bytes that were sent are sent', async () => {
    const handlers = counting();
    const { openTab, server } = createBrowser();
    const first = openTab({ handlers });
    first.outbox.submit('order', 'lamp');
    await settle();
    first.crash();
    server.rule = (arrival) => arrival.answer(201);
    const { outbox } = openTab({ handlers });
    await settle();
    expect(server.arrivals.map(({ body }) => body)).toEqual(['"lamp 1"', '"lamp 1"']);
    expect(await outbox.list({ state: 'dead' })).toEqual([]);
  });

  test('whose bytes there is no room for are known by their digest: other bytes are refused', async () => {
    const handlers = counting();
    const { openTab, server, rows } = createBrowser();
    const cipher = {
      encrypt: async (value: unknown) => {
        if (JSON.stringify(value).includes('body'))
          throw new DOMException('', 'QuotaExceededError');
        return value;
      },
      decrypt: async (value: unknown) => value,
    };
    const first = openTab({ handlers, cipher });
    first.outbox.submit('order', 'lamp');
    await settle();
    const digest: unknown = expect.stringMatching(/^[\da-f]{32}$/);
    expect(await rows()).toMatchObject([
      { steps: { 'steadfetch.sealed': [{ id: '', body: undefined, digest }] } },
    ]);
    first.crash();
    const { outbox } = openTab({ handlers, cipher });
    await settle();
    expect(server.arrivals.map(({ body }) => body)).toEqual(['"lamp 1"']);
    expect(await outbox.list()).toMatchObject([
      { state: 'dead', reason: 'refused', processed: 'unknown', lastError: { name: 'TypeError' } },
    ]);
  });

  test('in the same tab are sent with the bytes of the first time', async () => {
    let count = 0;
    const handlers = {
      order: {
        mutationFn(order: string, context: OutboxContext) {
          count += 1;
          return post(context, '/orders', `${order} ${count}`);
        },
      },
    };
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival, nth) => (nth === 1 ? arrival.cut() : arrival.answer(201));
    openTab({ handlers }).outbox.submit('order', 'lamp');
    await pass(5000);
    expect(server.arrivals.map(({ body }) => body)).toEqual(['"lamp 1"', '"lamp 1"']);
    expect(new Set(server.arrivals.map(({ key }) => key)).size).toBe(1);
  });
});

test('an attempt of which one request went and another was paused does not begin anew under other keys', async () => {
  const { openTab, server, pass, clock } = createBrowser();
  const handlers = {
    order: {
      async mutationFn(order: string, context: OutboxContext) {
        await post(context, '/orders', order);
        await post(context, '/orders', `${order} too`, 'too');
      },
    },
  };
  server.rule = (arrival, nth) => {
    if (nth === 2) arrival.answer(503, {}, { 'retry-after': '400' });
    else arrival.answer(201);
  };
  const { outbox } = openTab({ handlers });
  outbox.submit('order', 'lamp');
  for (let left = 10; left > 0; left -= 1) {
    clock.advance(60_000);
    await pass(200);
  }
  const keys = new Map(server.arrivals.map(({ key, body }) => [body, key]));
  for (const { key, body } of server.arrivals) expect(key).toBe(keys.get(body));
  expect([...keys.keys()]).toEqual(['"lamp"', '"lamp too"']);
  expect(await outbox.list()).toEqual([]);
});

describe('where the API knows no keys', () => {
  const other = 'https://other.example';
  const send = (order: string, { fetch }: OutboxContext): Promise<unknown> =>
    fetch(`${other}/orders`, { method: 'POST', body: order });
  const unkeyed = { order: { mutationFn: send } };

  test('what was under way when its tab died is not sent again by itself', async () => {
    const { openTab, server } = createBrowser();
    const first = openTab({ handlers: unkeyed });
    const { idempotencyKey } = first.outbox.submit('order', 'lamp');
    await settle();
    expect(server.arrivals).toMatchObject([{ key: null }]);
    first.crash();
    const { outbox } = openTab({ handlers: unkeyed });
    await settle();
    expect(server.arrivals).toHaveLength(1);
    expect(await outbox.list()).toMatchObject([
      { state: 'dead', reason: 'not-repeatable', processed: 'unknown' },
    ]);
    // A user may.
    expect(await outbox.retry(idempotencyKey)).toBe(idempotencyKey);
    await settle();
    expect(server.arrivals).toHaveLength(2);
  });

  test('what was only held when its tab died is sent by the next', async () => {
    const { openTab, server } = createBrowser();
    server.rule = (arrival, nth) => {
      if (nth === 1) arrival.answer(503, {}, { 'retry-after': '30' });
      else arrival.answer(201);
    };
    const handlers = { order: { mutationFn: send } };
    const first = openTab({ handlers });
    first.outbox.submit('order', 'lamp');
    await settle();
    const { saved } = first.outbox.submit('order', 'chair');
    await saved;
    await settle();
    expect(server.arrivals).toHaveLength(1);
    first.crash();
    openTab({ handlers });
    await settle();
    expect(server.arrivals.slice(1).map(({ body }) => body)).toContain('chair');
  });

  test('what its server has surely not done is sent again by itself', async () => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival, nth) => {
      if (nth === 1) arrival.answer(429, {}, { 'retry-after': '1' });
      else arrival.answer(201);
    };
    const { outbox } = openTab({ handlers: { order: { mutationFn: send } } });
    const { delivered } = outbox.submit('order', 'lamp');
    await pass(10_000);
    expect(server.arrivals.map(({ key, body }) => [key, body])).toEqual([
      [null, 'lamp'],
      [null, 'lamp'],
    ]);
    expect(await delivered).toBeDefined();
  });

  test('what harms nobody when it is done twice is sent again', async () => {
    const { openTab, server } = createBrowser();
    const handlers = { order: { mutationFn: send, idempotent: true } };
    const first = openTab({ handlers });
    first.outbox.submit('order', 'lamp');
    await settle();
    first.crash();
    openTab({ handlers });
    await settle();
    expect(server.arrivals.map(({ body }) => body)).toEqual(['lamp', 'lamp']);
  });
});

test.each(['POST', 'PUT', 'PATCH'])(
  'a %s that the page of a captive portal answers is delivered once the portal is gone',
  async (method) => {
    const { openTab, server, pass } = createBrowser();
    const handlers = {
      order: {
        mutationFn: (order: string, { json }: OutboxContext) =>
          json(`${api}/orders/1`, { method, json: order }),
      },
    };
    server.rule = (arrival) => arrival.answerPage('<!doctype html><title>Welcome</title>');
    const { outbox } = openTab({ handlers });
    const { delivered } = outbox.submit('order', 'lamp');
    await pass(60_000);
    expect(server.arrivals.length).toBeGreaterThan(1);
    expect(await outbox.list()).toMatchObject([{ processed: 'unknown', reason: undefined }]);
    server.rule = (arrival) => arrival.answer(201, { id: 1 });
    await pass(400_000);
    expect(await delivered).toEqual({ id: 1 });
    expect(await outbox.list()).toEqual([]);
    expect(new Set(server.arrivals.map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
  },
);

test('no request goes where it cannot be noted before, and it goes when it can', async () => {
  const { openTab, server, pass } = createBrowser();
  let breakDisk = (): void => {};
  const handlers = {
    order: {
      async mutationFn(order: string, context: OutboxContext) {
        // From here on the disk is broken.
        if (context.attempt === 1) breakDisk();
        // A program that takes every error for an answer.
        return post(context, '/orders', order).catch(() => 'answered');
      },
    },
  };
  const tab = openTab({ handlers });
  breakDisk = () => tab.fail('write');
  const { delivered } = tab.outbox.submit('order', 'lamp');
  await pass(3000);
  expect(server.arrivals).toEqual([]);
  server.rule = (arrival) => arrival.answer(201, { id: 1 });
  tab.fail('none');
  await pass(6000);
  expect(server.arrivals).toHaveLength(1);
  expect(await delivered).toEqual({ id: 1 });
});

test('a tab that has slept while its request was paused does not send what is another’s by now', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = (arrival, nth) => {
    if (nth === 1) arrival.answer(503, {}, { 'retry-after': '20' });
  };
  const handlers = two(() => true);
  const first = openTab({ handlers });
  const second = openTab({ handlers });
  first.outbox.submit('order', 'lamp');
  await settle();
  // Paused: its origin has asked for a pause.
  await first.outbox.submit('order', 'chair').saved;
  await settle();
  first.freeze();
  await pass(120_000);
  const byTab = server.arrivals.filter(({ body, tab }) => body === '"chair"' && tab === 2);
  // It hangs, and is tried again.
  expect(byTab.length).toBeGreaterThan(0);
  first.thaw();
  await pass(60_000);
  expect(server.arrivals.filter(({ tab }) => tab === 1).map(({ body }) => body)).toEqual([
    '"lamp"',
  ]);
  expect(await second.outbox.list()).toHaveLength(2);
});

test('a tab that has slept while its request was paused, and has its rows again, sends it', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = (arrival, nth) => {
    if (nth === 1) arrival.answer(503, {}, { 'retry-after': '20' });
    else arrival.answer(201);
  };
  // The first is over with its first answer, so that nothing but the second is left to look after.
  const order = { ...two(() => true).order, maxAttempts: 1 };
  const { outbox, freeze, thaw } = openTab({ handlers: { order } });
  outbox.submit('order', 'lamp');
  await settle();
  const { delivered } = outbox.submit('order', 'chair');
  await settle();
  freeze();
  await settle();
  thaw();
  await pass(120_000);
  expect(await delivered).toEqual({ id: 1 });
  expect(await outbox.list()).toMatchObject([{ variables: 'lamp', reason: 'max-attempts' }]);
});

test('a handler that throws at once is no other failure', async () => {
  const { openTab } = createBrowser();
  const handlers = {
    order: {
      mutationFn(): Promise<never> {
        throw new RangeError('a mistake');
      },
    },
  };
  const { outbox } = openTab({ handlers });
  const { delivered } = outbox.submit('order', undefined);
  await expect(delivered).rejects.toMatchObject({
    reason: 'refused',
    cause: new RangeError('a mistake'),
  });
  await settle();
  expect(await outbox.list()).toMatchObject([{ lastError: { name: 'RangeError' } }]);
});

test('a result that cannot be stored is told to whoever waits, and kept as nothing', async () => {
  const { openTab, server } = createBrowser();
  server.rule = (arrival) => arrival.answer(201);
  const onClick = (): void => {};
  const handlers = {
    order: {
      async mutationFn(order: string, context: OutboxContext) {
        await post(context, '/orders', order);
        return { onClick };
      },
    },
  };
  const first = openTab({ handlers });
  expect(await first.outbox.submit('order', 'lamp').delivered).toEqual({ onClick });
  await first.outbox.submit('order', 'chair').saved;
  first.crash();
  const { outbox } = openTab({ handlers });
  await settle();
  expect(await outbox.list()).toMatchObject([{ state: 'done', data: undefined }]);
});

describe('a handler that sends past its context', () => {
  const warnings = (): string =>
    vi
      .mocked(console.warn)
      .mock.calls.map(([text]) => String(text))
      .join('\n');

  test('with the json of the instance, after an await, is warned about, and is not sent twice when its tab dies', async () => {
    const { openTab, server } = createBrowser();
    const handlers = {
      order: {
        async mutationFn(order: string): Promise<unknown> {
          await Promise.resolve();
          return newest?.json(`${api}/orders`, { json: order });
        },
      },
    };
    let newest: Steadfetch | undefined;
    const open = () => {
      const tab = openTab({ handlers });
      newest = tab.steady;
      return tab;
    };
    const first = open();
    const { idempotencyKey } = first.outbox.submit('order', 'lamp');
    await settle();
    expect(server.arrivals).toMatchObject([{ body: '"lamp"', key: null }]);
    expect(warnings()).toContain("with the fetch or json of the mutationFn's context");
    first.crash();
    const { outbox } = open();
    await settle();
    expect(await outbox.find(idempotencyKey)).toMatchObject({
      state: 'dead',
      reason: 'not-repeatable',
      processed: 'unknown',
    });
    expect(server.arrivals).toHaveLength(1);
  });

  const foreign = (answers: (() => void)[], sent: string[]) => ({
    async mutationFn(order: string): Promise<unknown> {
      sent.push(order);
      await new Promise<void>((answer) => void answers.push(answer));
      return 'done';
    },
  });

  test('with another client is warned about once it has ended well, and from then on is not sent twice when its tab dies', async () => {
    const { openTab } = createBrowser();
    const answers: (() => void)[] = [];
    const sent: string[] = [];
    const handlers = { order: foreign(answers, sent) };
    const first = openTab({ handlers });
    const { delivered } = first.outbox.submit('order', 'lamp');
    await settle();
    expect(warnings()).toBe('');
    answers[0]?.();
    expect(await delivered).toBe('done');
    expect(warnings()).toContain("The outbox handler 'order' has ended well and sent nothing");
    const { idempotencyKey } = first.outbox.submit('order', 'chair');
    await settle();
    expect(sent).toEqual(['lamp', 'chair']);
    first.crash();
    const { outbox } = openTab({ handlers });
    await settle();
    expect(await outbox.find(idempotencyKey)).toMatchObject({
      state: 'dead',
      reason: 'not-repeatable',
      processed: 'unknown',
    });
    expect(sent).toEqual(['lamp', 'chair']);
  });

  test('and never settles, is not sent twice, either', async () => {
    const { openTab, pass } = createBrowser();
    const answers: (() => void)[] = [];
    const sent: string[] = [];
    const { outbox } = openTab({ handlers: { order: foreign(answers, sent) } });
    outbox.submit('order', 'lamp');
    await settle();
    answers[0]?.();
    const { idempotencyKey } = outbox.submit('order', 'chair');
    await pass(70_000);
    expect(await outbox.find(idempotencyKey)).toMatchObject({ reason: 'not-repeatable' });
    expect(sent).toEqual(['lamp', 'chair']);
  });

  test('and says that all of it may be done twice, is sent again, and nobody is warned', async () => {
    const { openTab } = createBrowser();
    const answers: (() => void)[] = [];
    const sent: string[] = [];
    const handlers = { order: { ...foreign(answers, sent), idempotent: true } };
    const first = openTab({ handlers });
    first.outbox.submit('order', 'lamp');
    await settle();
    answers[0]?.();
    first.outbox.submit('order', 'chair');
    await settle();
    first.crash();
    openTab({ handlers });
    await settle();
    expect(sent).toEqual(['lamp', 'chair', 'chair']);
    expect(warnings()).toBe('');
  });
});

describe('a PUT that is done, and the body of whose answer breaks off', () => {
  const put = (order: string, { json }: OutboxContext): Promise<unknown> =>
    json(`${api}/orders/1`, { method: 'PUT', json: order });

  test('is sent again, and has its answer then', async () => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival, nth) => {
      if (nth < 3) arrival.cutBody();
      else arrival.answer(200, { id: 1 });
    };
    const { outbox } = openTab({ handlers: { order: { mutationFn: put } } });
    const { delivered } = outbox.submit('order', 'lamp');
    await pass(10_000);
    expect(await delivered).toEqual({ id: 1 });
    expect(server.arrivals.map(({ body }) => body)).toEqual(Array(3).fill('"lamp"'));
  });

  test('is not, where something without a key was done beside it', async () => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival, nth) => {
      if (nth === 2) arrival.cutBody();
      else arrival.answer(200, { id: 1 });
    };
    const handlers = {
      order: {
        async mutationFn(order: string, context: OutboxContext) {
          await context.json('https://other.example/orders', { json: order });
          return put(order, context);
        },
      },
    };
    const { outbox } = openTab({ handlers });
    outbox.submit('order', 'lamp');
    await pass(10_000);
    expect(server.arrivals).toHaveLength(2);
    expect(await outbox.list()).toMatchObject([{ state: 'dead', reason: 'answer-lost' }]);
  });
});

test('another client is given the rawFetch of its entry: also after an await, it sends the key', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = ({ answer }, count) => answer(count === 1 ? 503 : 200);
  const { outbox } = openTab({
    handlers: {
      order: {
        async mutationFn(order: string, { rawFetch }: OutboxContext) {
          await settle();
          const client = createClient<object>({ baseUrl: api, fetch: rawFetch });
          const { error } = await client.request(
            'post',
            '/orders' as never,
            { body: order } as never,
          );
          if (error) throw new Error('Not placed.', { cause: error });
          return 'done';
        },
      },
    },
  });
  const { delivered, idempotencyKey } = outbox.submit('order', 'kite');
  await pass(20_000);
  expect(await delivered).toBe('done');
  expect(server.arrivals.map(({ key }) => key)).toEqual([idempotencyKey, idempotencyKey]);
});

test.each([
  ['a time limit', new DOMException('signal timed out', 'TimeoutError')],
  ['a controller of its own', 'superseded'],
])('%s of a handler is no end of its entry', async (_, reason) => {
  const { openTab, server, pass, clock } = createBrowser();
  server.rule = ({ answer }, count) => count > 1 && answer(200, {});
  const { outbox } = openTab({
    handlers: {
      order: {
        mutationFn(order: string, { json }: OutboxContext) {
          const controller = new AbortController();
          clock.setTimeout(() => controller.abort(reason), 3000);
          return json(`${api}/orders`, { json: order, signal: controller.signal });
        },
      },
    },
  });
  const { delivered } = outbox.submit('order', 'kite');
  await pass(20_000);
  expect(await delivered).toEqual({});
  const [first, second] = server.arrivals;
  expect(second?.key).toBe(first?.key);
});
