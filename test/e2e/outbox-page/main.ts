import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, profiles, watchConnectivity } from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import type { CartOrder, Told } from '../../proof/account.ts';

// Orders that are submitted through an outbox. Nothing to click: what a test calls is `window.shop`.

declare global {
  interface Window {
    /** Where the test has one: it also works while the page is offline. */
    readonly tell?: (told: Told) => Promise<void>;
    readonly shop: Shop;
  }
}

const { searchParams } = new URL(location.href);
const orders = searchParams.get('orders') ?? '/orders';
const speed = Number(searchParams.get('speed') ?? 1);
/** Of an attempt. A test that holds answers back has more than the default. */
const timeout = Number(searchParams.get('timeout') ?? 10_000);

/** Tells somebody outside of this browser, whatever becomes of this page. */
const tell = async (told: Told): Promise<void> => {
  if (window.tell) return window.tell(told);
  await fetch('/told', { method: 'POST', body: JSON.stringify(told) });
};

/** It goes faster, once the database is there: how long that takes is no part of it. */
const clock = {
  now: () => Date.now() * speed,
  setTimeout(callback: () => void, delayMs: number) {
    const isOpen = outbox?.getState().storage === 'durable';
    return setTimeout(callback, isOpen ? delayMs / speed : delayMs);
  },
  clearTimeout: (handle: unknown) => clearTimeout(handle as ReturnType<typeof setTimeout>),
};

let outbox: ReturnType<typeof open> | undefined;
function open() {
  const steady = createSteadfetch({
    clock,
    policy: { timeout },
    connectivity: watchConnectivity(),
    apis: [{ match: orders, idempotency: profiles.draft }],
  });
  return createOutbox({
    steady,
    queryClient: new QueryClient({ defaultOptions: steady.defaultOptions }),
    handlers: {
      order: {
        mutationFn: (order: CartOrder, { json }) =>
          json<{ id: number }>(orders, { method: 'POST', json: order }),
        scope: ({ cart }) => cart,
        onDead: 'pass',
      },
    },
  });
}
const shown = (outbox = open());

let isErasureTold = false;
shown.subscribe(() => {
  if (isErasureTold || !shown.getState().wasErased) return;
  isErasureTold = true;
  void tell({ kind: 'erased', nos: [] });
});

let turn: Promise<void> = Promise.resolve();
let saving: Promise<unknown> = Promise.resolve();
const submitNow = async (page: string, all: readonly CartOrder[]): Promise<void> => {
  await tell({ kind: 'begun', page, nos: all.map(({ no }) => no) });
  for (const order of all) {
    const { no } = order;
    const { saved, delivered } = shown.submit('order', order);
    const heard = saved.then(({ isDurable }) => tell({ kind: 'saved', nos: [no], isDurable }));
    saving = Promise.all([saving, heard]);
    delivered.then(
      () => void tell({ kind: 'delivered', nos: [no] }),
      () => {},
    );
  }
};

const shop = {
  /** Submits them all at once, in this order, and tells what becomes of each. */
  submit: (page: string, all: readonly CartOrder[]) =>
    (turn = turn.then(() => submitNow(page, all))),
  /** Keeps so many, one after the other. @returns the milliseconds that one took. */
  async enqueue(count: number) {
    const startedAt = performance.now();
    for (let no = 1; no <= count; no += 1)
      await shown.submit('order', { no: -no, article: 'a lamp' }).saved;
    return (performance.now() - startedAt) / count;
  },
  /** Resolves once it was told of all of them that they are kept. */
  async allSaved() {
    await turn;
    await saving;
  },
  state: shown.getState,
  count: async () => (await shown.list({ limit: 1000 })).length,
  /** What is to be sent: so many of each kind at most. */
  async left(limit: number) {
    const entries = await Promise.all(
      (['pending', 'paused', 'sending'] as const).map((state) => shown.list({ state, limit })),
    );
    return entries.flat().map(({ variables }) => (variables as CartOrder).no);
  },
  /** What needs a user, and why. */
  async dead() {
    const entries = await shown.list({ state: 'dead', limit: 1000 });
    return entries.map(({ variables, reason, processed }) => ({
      no: (variables as CartOrder).no,
      reason,
      processed,
    }));
  },
};
Object.assign(window, { shop });

export type Shop = typeof shop;
