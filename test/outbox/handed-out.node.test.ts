import createClient from 'openapi-fetch';
import { outboxHandler } from 'steadfetch/outbox';
import { expect, test } from 'vitest';
import type { paths } from '../clients/recipes/openapi.ts';
import { type Arrival, api, createBrowser } from './rig.ts';

/** An answer, and how the entry ends after it. Every later request is answered 200. */
type End = readonly [answer: string, end: string, give: (arrival: Arrival) => void];

const again = 'sent again, and done';
const ends: readonly End[] = [
  ['500', again, ({ answer }) => answer(500)],
  ['503', again, ({ answer }) => answer(503)],
  ['429', again, ({ answer }) => answer(429)],
  ['408', again, ({ answer }) => answer(408)],
  ['none', again, ({ cut }) => cut()],
  // An app may take these for done: it is there already, or gone already.
  ['409', 'done', ({ answer }) => answer(409, {}, { 'idempotent-replayed': 'true' })],
  ['422', 'done', ({ answer }) => answer(422)],
  ['404', 'done', ({ answer }) => answer(404)],
  ['200', 'done', ({ answer }) => answer(200, { id: 1 })],
];

test.each(ends)(
  'an entry whose client hands out its answer, %s, as its result is %s',
  async (_, end, give) => {
    const { openTab, server, pass } = createBrowser();
    server.rule = (arrival, count) =>
      count === 1 ? give(arrival) : arrival.answer(200, { id: 1 });
    const order = outboxHandler({
      mutationFn: async (name: string, { rawFetch }) => {
        const client = createClient<paths>({ baseUrl: api, fetch: rawFetch });
        return client.POST('/products', { body: { name } }).catch((error: unknown) => ({ error }));
      },
    });
    const { outbox } = openTab({ handlers: { order } });
    const { delivered } = outbox.submit('order', 'kite');
    await pass(60_000, 1000);
    await delivered;
    expect(await outbox.list()).toEqual([]);
    const keys = server.arrivals.map(({ key }) => key);
    expect(keys).toEqual(Array(end === again ? 2 : 1).fill(keys[0]));
  },
);

test('a write that another server has taken instead, and a read that fails after it, are no failure', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = ({ url, answer }) => answer(url.endsWith('/orders') ? 200 : 503);
  const order = outboxHandler({
    mutationFn: async (body: string, { rawFetch }) => {
      await rawFetch(`${api}/first`, { method: 'POST', body });
      await rawFetch(`${api}/orders`, { method: 'POST', body, step: 'other' });
      await rawFetch(`${api}/list`);
      return 'ordered';
    },
  });
  const { outbox } = openTab({ handlers: { order } });
  const { delivered } = outbox.submit('order', 'kite');
  await pass(60_000, 1000);
  expect(await delivered).toBe('ordered');
  expect(server.arrivals).toHaveLength(3);
});

test('a write beside one that was done, such as a note in a log, is the business of its handler', async () => {
  const { openTab, server, pass } = createBrowser();
  server.rule = ({ url, answer }) => answer(url.endsWith('/orders') ? 200 : 503);
  const order = outboxHandler({
    mutationFn: async (body: string, { json, rawFetch }) => {
      const ordered = await json<object>(`${api}/orders`, { method: 'POST', body });
      await rawFetch(`${api}/log`, { method: 'POST', body, step: 'log' });
      return ordered;
    },
  });
  const { outbox } = openTab({ handlers: { order } });
  const { delivered } = outbox.submit('order', 'kite');
  await pass(60_000, 1000);
  await delivered;
  expect(server.arrivals.map(({ url }) => url)).toEqual([`${api}/orders`, `${api}/log`]);
});
