import { mutationOptions } from 'steadfetch';
import { cleanup } from '@testing-library/react';
import { idempotent, memoryStore, type MemoryTransaction } from 'steadfetch/server';
import { describe, expect, test } from 'vitest';
import type { Transport } from '../../../src/core/lib/clock.ts';
import { mutationIdOf, mutationStatusesOf } from '../../../src/core/react-query/status/mutation.ts';
import { createFormRig, type FormRig, type Payload, type Receipt } from './form-rig.tsx';
import { createOrderBook } from './order-book.ts';

/** A shop behind `steadfetch/server`, with as much in stock as is said, and a line that loses answers. */
function createShop() {
  const shop = {
    stock: 0,
    orders: [] as string[],
    keys: [] as string[],
    /** How many of the next answers are lost. */
    lost: 0,
  };
  const serve = idempotent<MemoryTransaction>(
    async (request, { tx, key }) => {
      if (shop.stock === 0) return new Response('sold out', { status: 422 });
      tx.onCommit(() => {
        shop.stock--;
        shop.orders.push(key);
      });
      return Response.json({ id: shop.orders.length + 1, sent: await request.text() });
    },
    // Not by hashing, which takes real time.
    { store: memoryStore(), fingerprint: (request) => request.text() },
  );
  const fetch: Transport = async (input, init) => {
    const request = new Request(new URL(input as string, 'http://localhost:3000'), init);
    if (request.method === 'PUT') return new Response('seen');
    shop.keys.push(request.headers.get('idempotency-key') ?? '');
    const response = await serve(request);
    if (shop.lost > 0) {
      shop.lost--;
      throw new TypeError('Failed to fetch');
    }
    return response;
  };
  return Object.assign(shop, { fetch });
}

type Shop = ReturnType<typeof createShop>;

const openPage = (shop: Shop, isReload = false): FormRig =>
  createFormRig({ book: { ...createOrderBook(), fetch: shop.fetch }, isReload });

function open(rig: FormRig, ...options: Parameters<FormRig['createForm']>) {
  const form = rig.createForm(...options);
  rig.show(<form.Form />);
  return {
    ...form,
    async pressAndWait() {
      const result = form.press();
      await rig.time.advance(1000);
      return result;
    },
  };
}

const reload = (rig: FormRig, shop: Shop): FormRig => {
  rig.end();
  cleanup();
  return openPage(shop, true);
};

describe('what was refused and can be done by now', () => {
  test('is done by the next press of the same', async () => {
    const shop = createShop();
    const form = open(openPage(shop));
    const soldOut = { status: 'failed', error: { status: 422 } };
    expect(await form.pressAndWait()).toMatchObject(soldOut);
    expect(await form.pressAndWait()).toMatchObject(soldOut);
    shop.stock = 1;
    expect(await form.pressAndWait()).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect(new Set(shop.keys).size).toBe(3);
  });

  test('also after a reload', async () => {
    const shop = createShop();
    const rig = openPage(shop);
    await open(rig).pressAndWait();
    shop.stock = 1;
    expect(await open(reload(rig, shop)).pressAndWait()).toMatchObject({ status: 'succeeded' });
    expect(shop.orders).toHaveLength(1);
  });
});

describe('a refusal whose answer was lost', () => {
  test('is unknown; once its key is answered with it again, it was surely not done', async () => {
    const shop = createShop();
    const rig = openPage(shop);
    const form = open(rig);
    shop.lost = 1;
    expect(await form.pressAndWait()).toMatchObject({ status: 'unknown' });
    shop.stock = 1;
    expect(await form.pressAndWait()).toMatchObject({
      status: 'failed',
      error: { status: 422, outcome: { processed: 'no' } },
    });
    await rig.time.settle();
    expect(form.last()).toMatchObject({ status: 'error', unknown: undefined });
    const statuses = mutationStatusesOf(rig.client, 'test');
    expect(statuses.getState(mutationIdOf(form.last().target)).status).toBe('failed');
    expect(await form.pressAndWait()).toMatchObject({ status: 'succeeded' });
    expect(shop.keys.map((key) => key === shop.keys[0])).toEqual([true, true, false]);
    expect(shop.orders).toHaveLength(1);
  });

  test('also after a reload', async () => {
    const shop = createShop();
    const rig = openPage(shop);
    shop.lost = 1;
    await open(rig).pressAndWait();
    const next = reload(rig, shop);
    const form = open(next);
    expect(form.last().unknown).toBeDefined();
    expect(await form.pressAndWait()).toMatchObject({ status: 'failed', error: { status: 422 } });
    await next.time.settle();
    expect(form.last().unknown).toBe(undefined);
  });

  test('and that the next attempt of the same press gets was surely not done', async () => {
    const shop = createShop();
    const rig = openPage(shop);
    const placeOrder = mutationOptions(rig.steady, {
      mutationFn: (order: object, { json }) => json('/orders', { json: order }),
      policy: { maxRetries: 2 },
    });
    const form = open(rig, {}, placeOrder);
    shop.lost = 1;
    const result = form.press();
    await rig.time.advance(5000);
    expect(await result).toMatchObject({ status: 'failed', error: { status: 422 } });
    expect(shop.keys).toEqual([shop.keys[0], shop.keys[0]]);
  });

  test('does not undo another request that may have been done', async () => {
    const shop = createShop();
    const rig = openPage(shop);
    const own = mutationOptions(rig.steady, {
      async mutationFn(order: object, { json, fetch }) {
        await fetch('/orders/1', { method: 'PUT', body: 'seen' });
        return json('/orders', { json: order });
      },
      policy: { maxRetries: 0 },
    });
    expect(await open(rig, {}, own).pressAndWait()).toMatchObject({
      status: 'unknown',
      error: { status: 422 },
    });
  });
});

test('of several requests, one that was refused is tried anew by the next press, and one that is done is not done again', async () => {
  const shop = createShop();
  const rig = openPage(shop);
  const own = mutationOptions(rig.steady, {
    async mutationFn(order: object, { json }) {
      await json('/orders', { json: order });
      return json('/orders', { json: { ...order, gift: true }, step: 'gift' });
    },
    policy: { maxRetries: 0 },
  });
  const form = open(rig, {}, own);
  shop.stock = 1;
  expect(await form.pressAndWait()).toMatchObject({ status: 'unknown', error: { status: 422 } });
  expect(shop.orders).toHaveLength(1);
  shop.stock = 1;
  expect(await form.pressAndWait()).toMatchObject({ status: 'succeeded' });
  const [order, gift, again, newGift] = shop.keys;
  expect(again).toBe(order);
  expect(newGift).not.toBe(gift);
  expect(shop.orders).toHaveLength(2);
});

describe('two requests at once, both done and both answers lost', () => {
  test('a refusal that comes after the other one has ended the press proves nothing', async () => {
    const keys: string[] = [];
    let press = 0;
    const fetch: Transport = async (input, init) => {
      const isPayment = (input as string).endsWith('/pay');
      if (isPayment) keys.push(new Headers(init?.headers).get('idempotency-key') ?? '');
      if (press === 1) throw new TypeError('Failed to fetch');
      if (press === 3) return Response.json({ id: 1 });
      if (isPayment) await new Promise((later) => void setTimeout(later, 200));
      return new Response('a new session, please', { status: 403 });
    };
    const rig = createFormRig({ book: { ...createOrderBook(), fetch } });
    const orderAndPay = mutationOptions(rig.steady, {
      mutationFn: async (payload: Payload, { json }) => {
        const order = json<Receipt>('/orders', { json: payload });
        const [receipt] = await Promise.all([
          order,
          json('/orders/pay', { json: payload, step: 'pay' }),
        ]);
        return receipt;
      },
      policy: { maxRetries: 0 },
    });
    const form = open(rig, {}, orderAndPay);
    const pressAgain = () => {
      press++;
      return form.pressAndWait();
    };
    expect(await pressAgain()).toMatchObject({ status: 'unknown' });
    expect(await pressAgain()).toMatchObject({ status: 'unknown', error: { status: 403 } });
    expect(await pressAgain()).toMatchObject({ status: 'succeeded' });
    // Under another key it would be paid twice.
    expect(keys.map((key) => key === keys[0])).toEqual([true, true, true]);
  });
});
