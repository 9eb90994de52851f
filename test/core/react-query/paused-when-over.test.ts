import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { createSteadfetch, mutationOptions, retry, type Steadfetch } from 'steadfetch';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fakeTime } from '../fetch/observe.ts';

beforeEach(fakeTime);
afterEach(() => vi.useRealTimers());

const orders = 'http://shop.test/orders';
const items = 'http://shop.test/items';

/** A shop whose orders are rate-limited for twenty seconds, and whose items fail three times. */
async function createShop(): Promise<{ steady: Steadfetch; sent: string[] }> {
  const sent: string[] = [];
  let isFirst = true;
  let reads = 0;
  const steady = createSteadfetch({
    random: () => 0.5,
    fetch: async (input, init) => {
      const { method, url } = new Request(input, init);
      if (isFirst) {
        isFirst = false;
        return new Response('', { status: 429, headers: { 'retry-after': '20' } });
      }
      sent.push(`${method} ${new URL(url).pathname}`);
      if (method === 'GET' && ++reads < 4)
        return new Response('', { status: 500, headers: { 'retry-after': '1' } });
      return Response.json({});
    },
  });
  await steady.fetch(orders, { method: 'POST' }).catch(() => {});
  return { steady, sent };
}

const fourReadsAndOneOrder = [
  'GET /items',
  'GET /items',
  'GET /items',
  'GET /items',
  'POST /orders',
];

test('what a failed attempt of a mutation has left paused is not sent beside the next one', async () => {
  const { steady, sent } = await createShop();
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const options = mutationOptions(steady, {
    mutationFn: (_: void, { json }) =>
      Promise.all([json(orders, { method: 'POST', json: 1 }), json(items)]),
    policy: { maxRetries: 5 },
  });
  const told = new MutationObserver(client, options).mutate();
  await vi.advanceTimersByTimeAsync(80_000);
  expect(await told).toEqual([{}, {}]);
  expect(sent).toEqual(fourReadsAndOneOrder);
});

test('what a failed attempt of retry has left paused is not sent beside the next one', async () => {
  const { steady, sent } = await createShop();
  const told = retry(
    steady,
    ({ signal }) =>
      Promise.all([
        steady.json(orders, { method: 'POST', json: 1, signal }),
        steady.json(items, { signal }),
      ]),
    { maxRetries: 5 },
  );
  await vi.advanceTimersByTimeAsync(80_000);
  expect(await told).toEqual([{}, {}]);
  expect(sent).toEqual(fourReadsAndOneOrder);
});

test('a failed attempt of retry sends nothing more: its signal is aborted', async () => {
  const { steady, sent } = await createShop();
  await vi.advanceTimersByTimeAsync(30_000);
  const later = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 6000));
  const told = retry(
    steady,
    ({ signal }) =>
      Promise.all([
        later().then(() => steady.json(orders, { method: 'POST', json: 1, signal })),
        steady.json(items, { signal }),
      ]),
    { maxRetries: 5 },
  );
  await vi.advanceTimersByTimeAsync(80_000);
  expect(await told).toEqual([{}, {}]);
  expect(sent).toEqual(fourReadsAndOneOrder);
});
