import axios from 'axios';
import createClient from 'openapi-fetch';
import { linkClient, rawFetchFor, type Steadfetch } from 'steadfetch';
import type { OutboxContext } from 'steadfetch/outbox';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { api, createBrowser, settle } from './rig.ts';

beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

type Send = (steady: Steadfetch, body: string, context: OutboxContext) => Promise<unknown>;

const url = `${api}/orders`;
const read = async (answering: Promise<Response>): Promise<unknown> => (await answering).json();

/** Each way in which a request belongs to its entry. */
const ways: readonly [string, Send][] = [
  ['by the json of its context', (_, body, { json }) => json(url, { method: 'POST', body })],
  [
    'by the rawFetch of its context',
    (_, body, { rawFetch }) => read(rawFetch(url, { method: 'POST', body })),
  ],
  ['because it is sent at once', (steady, body) => steady.json(url, { method: 'POST', body })],
  [
    'by the signal, after an await',
    async (steady, body, { signal }) => {
      await settle();
      return steady.json(url, { method: 'POST', body, signal });
    },
  ],
  [
    'by the signal that rawFetchFor is given',
    (steady, body, { signal }) =>
      read(rawFetchFor(steady, signal)(url, { method: 'POST', body, signal })),
  ],
  [
    'by the signal of a call of a linked client',
    async (steady, body, { signal }) => {
      await settle();
      const plain = createClient<object>({ baseUrl: api, fetch: steady.rawFetch });
      const client = linkClient(steady, plain);
      const given = { body, bodySerializer: String, signal };
      const { response } = await client.request('post', '/orders' as never, given as never);
      if (!response.ok) throw new Error('Not placed.', { cause: response });
      return 'done';
    },
  ],
];

function open({ openTab }: ReturnType<typeof createBrowser>, send: Send) {
  const own: { steady?: Steadfetch } = {};
  const tab = openTab({
    handlers: {
      order: {
        mutationFn: async (body: string, context: OutboxContext): Promise<unknown> =>
          own.steady && send(own.steady, body, context),
        policy: { uploadBytesPerSecond: 100 },
      },
    },
  });
  own.steady = tab.steady;
  return tab;
}

test.each(ways)(
  'a request that belongs to its entry %s is one of it: nobody is warned, and the next tab sends it again',
  async (_, send) => {
    const browser = createBrowser();
    const { server, pass } = browser;
    server.rule = ({ answer }, count) => count !== 2 && answer(201, {});
    const tab = open(browser, send);
    await tab.outbox.submit('order', 'lamp').delivered;
    const { idempotencyKey } = tab.outbox.submit('order', 'chair');
    await pass(1000);
    expect(server.arrivals).toHaveLength(2);
    tab.crash();
    const next = open(browser, send);
    await pass(1000);
    expect(server.arrivals.slice(1)).toMatchObject([
      { key: idempotencyKey, body: 'chair' },
      { key: idempotencyKey, body: 'chair' },
    ]);
    expect(await next.outbox.list({ state: 'dead' })).toEqual([]);
    expect(console.warn).not.toHaveBeenCalled();
    next.crash();
  },
);

test.each(ways)(
  'an upload of 100 s that belongs to its entry %s is not given up as a handler that does nothing',
  async (_, send) => {
    const browser = createBrowser();
    const { server, pass } = browser;
    const tab = open(browser, send);
    const { idempotencyKey } = tab.outbox.submit('order', 'x'.repeat(10_000));
    await pass(100_000, 1000);
    expect(server.arrivals.map(({ isAborted }) => isAborted())).toEqual([false]);
    server.arrivals[0]?.answer(201, {});
    await pass(1000);
    expect(await tab.outbox.find(idempotencyKey)).toBeUndefined();
    tab.crash();
  },
);

/** What a client makes of a failed answer that it was given by the rawFetch of the context. */
const errors: readonly [string, (status: number) => object][] = [
  ['nothing', () => ({})],
  ['its status', (status) => ({ status })],
  ['its status as a text', (status) => ({ status: `${status}` })],
  ['its status in a cause', (status) => ({ cause: { status } })],
  [
    'its status and its method, as axios does',
    (status) => ({ config: { method: 'post' }, response: { status, headers: {} } }),
  ],
  [
    'its status and its method, as ky does',
    (status) => ({ request: { method: 'POST' }, response: { status } }),
  ],
];

const clients: readonly [string, Send][] = [
  ...errors.map(([says, fieldsOf]): [string, Send] => [
    `whose error says ${says}`,
    async (_steady, body, { rawFetch }) => {
      const response = await rawFetch(url, { method: 'POST', body });
      if (!response.ok) throw Object.assign(new Error('Not placed.'), fieldsOf(response.status));
      return response.json();
    },
  ]),
  [
    'that is axios with its adapter for fetch',
    async (_steady, body, { rawFetch }) => {
      const env = { fetch: rawFetch, Request, Response };
      return (await axios.create({ adapter: 'fetch', env } as object).post(url, body)).data;
    },
  ],
];

describe.each(clients)('of a client %s', (_, send) => {
  test.each([503, 429, 408])('a write that is answered %i is sent again', async (status) => {
    const browser = createBrowser();
    const { server, pass } = browser;
    server.rule = ({ answer }, count) =>
      count === 1 ? answer(status, {}, { 'retry-after': '7' }) : answer(201, { id: 1 });
    const tab = open(browser, send);
    const { delivered, idempotencyKey } = tab.outbox.submit('order', 'lamp');
    await pass(6900);
    expect(server.arrivals).toHaveLength(1);
    await pass(3000);
    expect(server.arrivals.map(({ key }) => key)).toEqual([idempotencyKey, idempotencyKey]);
    expect(await delivered).toEqual({ id: 1 });
    tab.crash();
  });

  test('one that is refused goes once', async () => {
    const browser = createBrowser();
    const { server, pass } = browser;
    server.rule = ({ answer }) => answer(422);
    const tab = open(browser, send);
    const { delivered } = tab.outbox.submit('order', 'lamp');
    await expect(delivered).rejects.toMatchObject({ reason: 'refused' });
    await pass(10_000);
    expect(server.arrivals).toHaveLength(1);
    tab.crash();
  });
});
