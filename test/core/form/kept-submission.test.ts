import { notifyManager } from '@tanstack/react-query';
import type { AnyOutboxHandlers } from 'steadfetch/outbox';
import type { SafeSubmitResult } from 'steadfetch/react';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openForm } from '../../../src/core/form/form.ts';
import type { SafeForm } from '../../../src/core/form/presses.ts';
import { createBrowser, plainApi, shop, type TestBrowser, type TestTab } from '../../outbox/rig.ts';

type Context = Parameters<AnyOutboxHandlers[string]['mutationFn']>[1];
const handlers = {
  ...shop,
  /** Its API is not declared to honour keys. */
  unkeyed: {
    mutationFn: (order: unknown, { json }: Context) =>
      json(`${plainApi}/orders`, { method: 'POST', json: order }),
  },
  scoped: {
    ...shop.order,
    scope: (): string => {
      throw new Error('The scope of what?');
    },
  },
};
type Name = keyof typeof handlers;

let browser: TestBrowser;
let tab: TestTab<typeof handlers>;
let form: SafeForm | undefined;
const openTab = (lifetimeMs?: number): void => {
  form = undefined;
  tab = browser.openTab({ handlers, ...(lifetimeMs && { lifetimeMs }) });
};

// By default it tells in a timer, which nothing here would wait for.
beforeAll(() => notifyManager.setScheduler(setImmediate));
beforeEach(() => {
  sessionStorage.clear();
  browser = createBrowser();
  openTab();
});
afterEach(() => tab.crash());

type Form = SafeSubmitResult;
/** The form of the tab as it is now. */
const show = (name: Name): Form => {
  form ??= openForm(tab.client, 'checkout');
  form.setOptions({ form: 'checkout', mutation: tab.outbox.mutationOptions(name) });
  return form.getState();
};
/** Presses Submit, and gives what has become of it 5 s later. */
const press = async (name: Name, variables: unknown = 'kite'): Promise<readonly unknown[]> => {
  let status: readonly unknown[] = ['under way'];
  const submit = async (): Promise<void> => {
    const result = await show(name).submit(variables);
    status = 'reason' in result ? [result.status, result.reason] : [result.status];
  };
  void submit();
  await browser.pass(5000);
  return status;
};
const isBooked = (count: number): void => expect(browser.server.arrivals).toHaveLength(count);

test.each(['cut', 'cutBody'] as const)(
  'an order without a key whose answer was lost (%s) is asked about before the outbox sends it again',
  async (fault) => {
    browser.server.rule = (arrival, count) =>
      count === 1 ? arrival[fault]() : arrival.answer(201);
    expect(await press('unkeyed')).toEqual(['unknown']);
    expect(await press('unkeyed')).toEqual(['needs-confirmation', 'no-key']);
    isBooked(1);
    void show('unkeyed').confirmation?.confirm();
    await browser.pass(5000);
    isBooked(2);
    expect(await tab.outbox.list()).toMatchObject([{ state: 'dead' }]);
  },
);

test('an order without a key that was discarded on its way is asked about before it is sent again', async () => {
  expect(await press('unkeyed')).toEqual(['under way']);
  const [entry] = await tab.outbox.list();
  await tab.outbox.discard(entry?.idempotencyKey ?? '');
  await browser.pass(200);
  expect(await press('unkeyed')).toEqual(['needs-confirmation', 'no-key']);
  isBooked(1);
});

test.each([
  ['still in the outbox', async () => {}],
  [
    'no longer in it',
    async () => {
      const [entry] = await tab.outbox.list();
      await tab.outbox.discard(entry?.idempotencyKey ?? '');
    },
  ],
])(
  'after a reload, an order that was sent without a key and is %s is not sent again: the press says so, and the next one asks',
  async (_, forget) => {
    expect(await press('unkeyed')).toEqual(['under way']);
    tab.crash();
    openTab();
    await browser.pass(200);
    await forget();
    expect(await press('unkeyed')).toEqual(['unknown']);
    expect(await press('unkeyed')).toEqual(['needs-confirmation', 'no-key']);
    isBooked(1);
  },
);

test('an order whose key has expired in the outbox is asked about, not tried for ever', async () => {
  tab.crash();
  openTab(60_000);
  browser.server.rule = (arrival) => arrival.cut();
  expect(await press('order')).toEqual(['under way']);
  await browser.pass(600_000, 5000);
  expect(await tab.outbox.list()).toMatchObject([{ state: 'dead', reason: 'expired' }]);
  const sent = browser.server.arrivals.length;
  expect(await press('order')).toEqual(['needs-confirmation', 'key-expired']);
  isBooked(sent);
});

test.each([
  ['a scope that throws', 'scoped', 'kite'],
  ['variables that cannot be stored', 'order', { toJSON: () => 'kite' }],
  ['variables that JSON cannot express', 'order', { count: 1n }],
] as const)('%s has sent nothing: the form says failed', async (_, name, variables) => {
  expect(await press(name, variables)).toEqual(['failed']);
  expect(show(name).unknown).toBeUndefined();
  isBooked(0);
});

test('after a reload, the form hears that the outbox has delivered its order, without a press', async () => {
  browser.server.rule = (arrival) => arrival.cut();
  expect(await press('order')).toEqual(['under way']);
  tab.crash();
  browser.server.rule = (arrival) => arrival.answer(201, { id: 7 });
  openTab();
  expect(show('order').unknown).toMatchObject({ variables: undefined });
  await browser.pass(60_000, 1000);
  expect(show('order')).toMatchObject({ unknown: undefined, status: 'success', data: { id: 7 } });
  expect(sessionStorage.getItem('steadfetch.form.checkout')).toBeNull();
  const keys = browser.server.arrivals.map(({ key }) => key);
  expect(new Set(keys).size).toBe(1);
});

test('a press after a reload, and the delivery of what was pressed before, are one success', async () => {
  browser.server.rule = (arrival) => arrival.cut();
  expect(await press('order')).toEqual(['under way']);
  tab.crash();
  openTab();
  show('order');
  expect(await press('order')).toEqual(['under way']);
  browser.server.rule = (arrival) => arrival.answer(201, { id: 7 });
  await browser.pass(60_000, 1000);
  expect(show('order')).toMatchObject({ unknown: undefined, status: 'success', data: { id: 7 } });
  expect(tab.client.getMutationCache().getAll()).toHaveLength(1);
});

test.each<[string, (known: object) => string]>([
  ['another order', (known) => JSON.stringify({ ...known, key: 'another' })],
  ['none', () => ''],
])(
  'a delivery is of the order that it was of, where another page of the tab knows %s by then',
  async (_, change) => {
    browser.server.rule = (arrival) => arrival.cut();
    expect(await press('order')).toEqual(['under way']);
    const name = 'steadfetch.form.checkout';
    const text = change(JSON.parse(sessionStorage.getItem(name) ?? '') as object);
    tab.crash();
    openTab();
    show('order');
    sessionStorage.setItem(name, text);
    browser.server.rule = (arrival) => arrival.answer(201, { id: 7 });
    await browser.pass(60_000, 1000);
    expect(browser.server.arrivals.length).toBeGreaterThan(1);
    expect(sessionStorage.getItem(name)).toBe(text);
    expect(show('order').status).toBe('idle');
    sessionStorage.removeItem(name);
  },
);

test('a form that comes after the outbox has delivered its order says so', async () => {
  browser.server.rule = (arrival) => arrival.cut();
  expect(await press('order')).toEqual(['under way']);
  tab.crash();
  browser.server.rule = (arrival) => arrival.answer(201, { id: 7 });
  openTab();
  await browser.pass(60_000, 1000);
  show('order');
  await browser.pass(500);
  expect(show('order')).toMatchObject({ unknown: undefined, status: 'success', data: { id: 7 } });
});
