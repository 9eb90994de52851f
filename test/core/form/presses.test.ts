import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  defineIdempotency,
  limitConcurrency,
  mutationOptions,
  profiles,
} from 'steadfetch';
import type { SafeSubmitOptions, SafeSubmitResult } from 'steadfetch/react';
import { virtualTime, type VirtualTime } from 'steadfetch/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openForm } from '../../../src/core/form/form.ts';
import { mutationControlsOf } from '../../../src/core/react-query/controls.ts';
import { mutationIdOf, mutationStatusesOf } from '../../../src/core/react-query/status/mutation.ts';
import { noOrigin } from '../../setup/no-origin.ts';
import { createOrderBook, type OrderBook } from '../react/order-book.ts';

interface Order {
  readonly sku: string;
  readonly file?: File;
}
type Form = SafeSubmitResult<unknown, Error, Order>;
type Options = Partial<SafeSubmitOptions<unknown, Order>>;

const kite = { sku: 'kite' };
const dragon = { sku: 'dragon' };
const stored = 'steadfetch.form.checkout';

let time: VirtualTime;
let book: OrderBook;
beforeEach(() => {
  sessionStorage.clear();
  time = virtualTime(vi);
  book = createOrderBook();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  time.restore();
});

/** A page with forms, which nothing shows yet. */
function createPage({
  lifetimeMs = 60_000,
  onMutate = async (): Promise<unknown> => undefined,
} = {}) {
  const idempotency = defineIdempotency({ ...profiles.draft, lifetimeMs });
  const steady = createSteadfetch({
    ...noOrigin,
    clock: time.clock,
    fetch: book.fetch,
    concurrency: limitConcurrency({ maxInFlight: 1 }),
    apis: [{ match: 'http://localhost:3000/', idempotency }],
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const mutation = mutationOptions(steady, {
    mutationFn: ({ sku }: Order, { json }) => json('/orders', { json: { sku } }),
    onMutate,
    policy: { maxRetries: 0, maxPauseMs: 1000 },
  });
  const open = (name = 'checkout', options: Options = {}) => {
    const form = openForm<unknown, Error, Order, unknown>(client, name);
    const setOptions = (): void => form.setOptions({ form: name, mutation, ...options });
    setOptions();
    const show = (): Form => form.getState();
    return { form, show, setOptions, press: (order: Order = kite) => show().submit(order) };
  };
  return { steady, client, open };
}

/** A form whose order was done, and whose answer was lost. */
async function lose(options: Options = {}) {
  const page = createPage();
  const form = page.open('checkout', options);
  book.plan('lost answer');
  void form.press();
  await time.advance(2000);
  return { ...page, ...form };
}

/** A payload whose file is read when the test says so. */
function slowPayload() {
  let read!: () => void;
  const content = new Promise<ArrayBuffer>((resolve) => {
    read = () => resolve(new ArrayBuffer(7));
  });
  const file = new File(['content'], 'a.txt', { lastModified: 0 });
  file.slice = () => ({ arrayBuffer: () => content }) as Blob;
  return { order: { ...kite, file }, read };
}

test('forms of two names have a status each', async () => {
  const { client, open } = createPage();
  const [checkout, address] = [open('checkout'), open('address')];
  book.plan('lost answer', 'slow');
  void address.press();
  await time.advance(100);
  void checkout.press();
  await time.advance(100);
  const statuses = mutationStatusesOf(client, 'test');
  const statusOf = ({ show }: typeof checkout) =>
    statuses.getState(mutationIdOf(show().target)).status;
  expect([checkout, address].map(statusOf)).toEqual(['sending', 'unknown']);
  book.answer();
  await time.settle();
  expect([checkout, address].map(statusOf)).toEqual(['succeeded', 'unknown']);
});

test('a mutation that a listener of the cache begins with each other one is not taken for that of the form', async () => {
  const { client, open } = createPage();
  const { show, press } = open();
  const cache = client.getMutationCache();
  cache.subscribe(({ type }) => {
    if (type === 'added' && cache.getAll().length === 1)
      cache.build(client, { mutationFn: async () => 1 });
  });
  book.plan('lost answer');
  void press();
  await time.settle();
  expect(show().unknown).toMatchObject({ idempotencyKey: book.keys[0], isRepeatable: true });
});

describe('who is shown a form', () => {
  test('is shown at once that it is pressed, and what React Query knows of it', async () => {
    let note!: (context: string) => void;
    const onMutate = () => new Promise<string>((resolve) => (note = resolve));
    const { show, press } = createPage({ onMutate }).open();
    const { order, read } = slowPayload();
    void press(order);
    expect(show()).toMatchObject({ status: 'pending', variables: order });
    read();
    await time.settle();
    expect(show()).toMatchObject({ status: 'pending', context: undefined });
    book.plan('slow');
    note('noted');
    await time.settle();
    expect(show()).toMatchObject({ status: 'pending', context: 'noted' });
  });

  test('is shown the unknown order, also if a listener of the cache has looked while it ended', async () => {
    const { client, open } = createPage();
    const { show, press } = open();
    client.getMutationCache().subscribe(() => void show());
    book.plan('lost answer');
    void press();
    await time.settle();
    expect(show().unknown).toMatchObject({ idempotencyKey: book.keys[0] });
  });

  test('hears when the key of a press of this page has expired', async () => {
    const { form, show, press } = createPage().open();
    const expired: (boolean | undefined)[] = [];
    form.subscribe(() => expired.push(show().unknown?.isExpired));
    book.plan('lost answer');
    void press();
    await time.advance(2000);
    expect(expired.at(-1)).toBe(false);
    expired.length = 0;
    await time.advance(60_000);
    expect(expired).toEqual([true]);
  });

  test('is shown a form that has no options yet, which cannot be sent', async () => {
    await lose();
    const { client } = createPage();
    const form = openForm(client, 'checkout');
    form.subscribe(() => {});
    expect(form.getState().unknown).toBeDefined();
    form.getState().reset({ forgetUnknown: true });
    vi.spyOn(console, 'warn').mockReturnValue();
    const pressed = form.getState().submit(kite);
    await time.settle();
    expect(await pressed).toMatchObject({ error: new Error('No mutationFn found') });
  });

  test('hears that the page is back as long as it shows it, and the page is not listened to for longer', () => {
    const { form } = createPage().open();
    const [one, other] = [vi.fn<() => void>(), vi.fn<() => void>()];
    const stops = [form.subscribe(one), form.subscribe(other)];
    const remove = vi.spyOn(globalThis, 'removeEventListener');
    const comeBack = (): readonly number[] => {
      dispatchEvent(new Event('pageshow'));
      vi.advanceTimersByTime(0);
      return [one.mock.calls.length, other.mock.calls.length];
    };
    expect(comeBack()).toEqual([1, 1]);
    stops[0]?.();
    expect(remove).not.toHaveBeenCalled();
    expect(comeBack()).toEqual([1, 2]);
    stops[1]?.();
    expect(remove.mock.calls.map(([type]) => type)).toEqual(['pageshow']);
    expect(comeBack()).toEqual([1, 2]);
  });

  test('waits for the end of its key with one timer, however often it is rendered, and with none once it is hidden', async () => {
    const { form, setOptions } = await lose();
    const wait = vi.spyOn(globalThis, 'setTimeout');
    const stop = form.subscribe(() => {});
    setOptions();
    expect(wait).not.toHaveBeenCalled();
    const before = vi.getTimerCount();
    stop();
    expect(vi.getTimerCount()).toBe(before - 1);
    form.subscribe(() => {});
    expect(vi.getTimerCount()).toBe(before);
  });

  test('that is rendered again changes no options of its mutation', () => {
    const { client, open } = createPage();
    const { setOptions } = open();
    const types: string[] = [];
    client.getMutationCache().subscribe(({ type }) => void types.push(type));
    setOptions();
    expect(types).toEqual([]);
  });

  test('needs no events of a page, which React Native has not', () => {
    vi.stubGlobal('addEventListener', undefined);
    vi.stubGlobal('removeEventListener', undefined);
    const { form } = createPage().open();
    expect(form.subscribe(() => {})).not.toThrow();
  });

  test('hears that a question was cancelled', async () => {
    const { form, show, press } = await lose();
    await press(dragon);
    const changed = vi.fn<() => void>();
    form.subscribe(changed);
    show().confirmation?.cancel();
    await time.settle();
    expect(changed).toHaveBeenCalledTimes(1);
    expect(show().confirmation).toBe(undefined);
  });
});

describe('reset()', () => {
  test('takes a question back, and tells', async () => {
    const { form, show, press } = await lose();
    await press(dragon);
    const changed = vi.fn<() => void>();
    form.subscribe(changed);
    show().reset();
    await time.settle();
    expect(changed).toHaveBeenCalledTimes(1);
    expect(show()).toMatchObject({ status: 'idle', confirmation: undefined });
  });

  test('takes the failure back to read a payload', async () => {
    const { show, press } = createPage().open();
    const file = new File(['x'], 'a.txt');
    file.slice = () => {
      throw new DOMException('The file could not be read.', 'NotReadableError');
    };
    await press({ ...kite, file });
    expect(show().status).toBe('error');
    show().reset();
    expect(show()).toMatchObject({ status: 'idle', error: null });
  });

  test('forgets the key of what was found not to be done', async () => {
    const { show, press } = await lose({ resolve: async () => 'not-done' });
    await show().unknown?.resolve();
    show().reset();
    void press();
    await time.settle();
    expect(new Set(book.keys).size).toBe(2);
  });

  test('does nothing while a payload is being read: it goes under the key that it had', async () => {
    const { order, read } = slowPayload();
    const { show, press } = createPage().open();
    const first = press(order);
    read();
    book.plan('lost answer');
    await time.advance(2000);
    expect(await first).toMatchObject({ status: 'unknown' });
    const again = slowPayload();
    const second = press(again.order);
    show().reset({ forgetUnknown: true });
    again.read();
    await time.advance(2000);
    expect(await second).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect(book.keys).toEqual([book.keys[0], book.keys[0]]);
  });

  test('within a second of a success forgets it, and the next press is another order', async () => {
    const { show, press } = createPage().open();
    void press();
    await time.advance(999);
    show().reset();
    void press();
    await time.advance(1000);
    expect(book.orders.map(({ id }) => id)).toEqual([1, 2]);
    void press();
    await time.advance(500);
    show().reset();
    await time.advance(1000);
    expect(show().status).toBe('idle');
  });
});

test('the end of the second after a success does not end what was pressed in it', async () => {
  const { press } = createPage().open();
  book.plan('done', 'slow');
  void press();
  await time.advance(500);
  const both = [press(dragon)];
  await time.advance(500);
  both.push(press(dragon));
  await time.settle();
  book.answer();
  await time.settle();
  const answered = {
    status: 'succeeded',
    data: { id: 2, key: book.keys[1], body: '{"sku":"dragon"}' },
  };
  expect(await Promise.all(both)).toEqual([answered, answered]);
  expect(book.keys).toHaveLength(2);
});

describe('a question that is confirmed twice', () => {
  async function askToConfirm() {
    const page = await lose();
    const asked = await page.press(dragon);
    if (asked.status !== 'needs-confirmation') throw new Error(asked.status);
    const confirm = async (): Promise<string> => {
      const confirmed = asked.confirm();
      await time.advance(2000);
      return (await confirmed).status;
    };
    return { ...page, confirm };
  }

  test('is sent again where it was surely not done', async () => {
    const { confirm } = await askToConfirm();
    book.plan(422);
    expect([await confirm(), await confirm()]).toEqual(['failed', 'succeeded']);
    expect(new Set(book.keys).size).toBe(3);
  });

  test('is sent once where it may have been done', async () => {
    const { confirm } = await askToConfirm();
    book.plan('lost answer');
    expect([await confirm(), await confirm()]).toEqual(['unknown', 'unknown']);
    expect(new Set(book.keys).size).toBe(2);
  });
});

describe('a form that does not find out', () => {
  type World = Awaited<ReturnType<typeof lose>>;
  const presses: Readonly<Record<string, (world: World) => Promise<string>>> = {
    'is refused': async ({ press }) => {
      book.plan(403);
      const pressed = press();
      await time.advance(2000);
      return (await pressed).status;
    },
    'is cancelled': async ({ client, show, press }) => {
      book.plan('slow');
      const pressed = press();
      await time.advance(100);
      const statuses = mutationStatusesOf(client, 'test');
      mutationControlsOf(statuses, mutationIdOf(show().target)).cancel();
      await time.advance(2000);
      return (await pressed).status;
    },
    'is paused for too long': async ({ steady, press }) => {
      book.plan('slow');
      void steady.fetch('/orders', { method: 'POST' }).catch(() => {});
      await time.advance(100);
      const pressed = press();
      await time.advance(2000);
      book.answer();
      await time.advance(100);
      return (await pressed).status;
    },
  };
  const asks = 'needs-confirmation';

  test.each<[readonly string[], readonly string[]]>([
    [
      ['is refused', 'is refused', 'is refused'],
      ['unknown', asks, asks],
    ],
    [
      ['is refused', 'is cancelled', 'is refused'],
      ['unknown', 'unknown', asks],
    ],
    [
      ['is refused', 'is paused for too long', 'is refused'],
      ['unknown', 'unknown', asks],
    ],
  ])('asks at the second press of these that tells nothing: %j', async (ways, ends) => {
    const world = await lose();
    const statuses: string[] = [];
    for (const way of ways) statuses.push((await presses[way]?.(world)) ?? '');
    expect(statuses).toEqual(ends);
    expect(world.show().confirmation).toMatchObject({
      reason: 'cannot-find-out',
      variables: kite,
    });
    const confirmed = world.show().confirmation?.confirm();
    await time.advance(2000);
    expect(await confirmed).toMatchObject({ status: 'succeeded' });
    expect(book.keys.at(-1)).not.toBe(book.keys[0]);
  });

  test('sends what is confirmed as soon as it asks', async () => {
    const world = await lose();
    await presses['is refused']?.(world);
    book.plan(403);
    const confirmed = world.press().then((asked) => {
      if (asked.status !== 'needs-confirmation') throw new Error(asked.status);
      return asked.confirm();
    });
    await time.advance(2000);
    expect(await confirmed).toMatchObject({ status: 'succeeded' });
    expect(new Set(book.keys).size).toBe(2);
  });

  test('says unknown where its session has ended meanwhile', async () => {
    const { steady, press } = await lose();
    book.plan('slow');
    const pressed = press();
    await time.advance(100);
    const ended = steady.endSession();
    await time.advance(100);
    await ended;
    expect(await pressed).toMatchObject({ status: 'unknown' });
  });

  test.each<[string, number, string]>([
    ['keeps keys for a minute by then', 0, 'key-expired'],
    ['does so, and the clock was set back since', 3_600_000, 'age-unknown'],
  ])('asks at the next press where its API %s', async (_, backMs, reason) => {
    book.plan('lost answer');
    void createPage({ lifetimeMs: Infinity }).open().press();
    await time.advance(61_000);
    vi.setSystemTime(Date.now() - backMs);
    const { show, press } = createPage().open();
    const pressed = press();
    await time.advance(2000);
    expect(await pressed).toMatchObject({ status: 'unknown' });
    expect(await press()).toMatchObject({ status: 'needs-confirmation', reason });
    expect(show().unknown?.isExpired).toBe(true);
    expect(book.keys).toHaveLength(1);
  });
});

describe('resolve()', () => {
  type Answer = Awaited<ReturnType<NonNullable<Options['resolve']>>>;

  /** An unknown order, about which the API answers when the test says so. */
  async function ask() {
    let tell!: (answer: Answer) => void;
    const resolve = vi.fn<() => Promise<Answer>>(() => new Promise((told) => (tell = told)));
    const page = await lose({ resolve });
    const { unknown } = page.show();
    if (!unknown) throw new Error('It is known.');
    return { ...page, resolve, unknown, tell: (answer: Answer) => tell(answer) };
  }

  test('has told of an order that was done: the press a second later is another order', async () => {
    const { press, unknown, tell } = await ask();
    const answer = unknown.resolve();
    await time.settle();
    tell({ done: 7 });
    await time.advance(1000);
    expect(await answer).toBe('done');
    const pressed = press();
    await time.settle();
    expect(await pressed).toMatchObject({ status: 'succeeded', data: { id: 2 } });
  });

  test('asks with the instance of the mutation, where that is not of the client', async () => {
    await lose();
    const { client } = createPage();
    const other = createSteadfetch({ ...noOrigin, clock: time.clock, fetch: book.fetch });
    const mutation = mutationOptions(other, {
      mutationFn: (order: Order) => Promise.resolve<unknown>(order),
    });
    const form = openForm<unknown, Error, Order, unknown>(client, 'checkout');
    const resolve = vi.fn<NonNullable<Options['resolve']>>(async () => 'unknown');
    form.setOptions({ form: 'checkout', mutation, resolve });
    await form.getState().unknown?.resolve();
    expect(resolve.mock.lastCall?.[0].fetch).toBe(other.fetch);
  });

  test('does not ask while it is sent again, nor once its end is known', async () => {
    const { unknown, resolve, press } = await ask();
    book.plan('slow');
    const again = press();
    await time.settle();
    expect(await unknown.resolve()).toBe('unknown');
    book.answer();
    await time.advance(2000);
    expect(await again).toMatchObject({ status: 'succeeded' });
    expect(await unknown.resolve()).toBe('unknown');
    expect(resolve).not.toHaveBeenCalled();
  });

  test.each<[string, (known: object) => string]>([
    ['has sent it again', (known) => JSON.stringify({ ...known, sentBy: 'the other page' })],
    ['knows its end', () => ''],
  ])('changes nothing where another page of the tab %s meanwhile', async (_, change) => {
    const { show, unknown, tell } = await ask();
    const answer = unknown.resolve();
    await time.settle();
    const text = change(JSON.parse(sessionStorage.getItem(stored) ?? '') as object);
    sessionStorage.setItem(stored, text);
    tell({ done: 7 });
    await time.settle();
    expect(await answer).toBe('done');
    expect(sessionStorage.getItem(stored)).toBe(text);
    expect(show().status).toBe('error');
  });
});

describe('the end of the session', () => {
  test('forgets an order of before, which was never pressed in this page', async () => {
    await lose();
    const { steady, open } = createPage();
    const { show } = open();
    expect(show().unknown).toBeDefined();
    await steady.endSession();
    expect(show().unknown).toBe(undefined);
    expect(sessionStorage.getItem(stored)).toBe(null);
  });

  test('forgets an order also where the page has no storage but its own', async () => {
    vi.stubGlobal('sessionStorage', undefined);
    vi.spyOn(console, 'warn').mockReturnValue();
    const { steady, show } = await lose();
    expect(show().unknown).toBeDefined();
    await steady.endSession();
    expect(show().unknown).toBe(undefined);
  });

  test('ends the second after a success: the press of the next user is another order', async () => {
    const { steady, open } = createPage();
    const { show, press } = open();
    void press();
    await time.advance(100);
    await steady.endSession();
    expect(show().status).toBe('idle');
    void press();
    await time.settle();
    expect(book.orders.map(({ id }) => id)).toEqual([1, 2]);
  });

  test('ends a press that is under way, and what is pressed with it', async () => {
    const { steady, open } = createPage();
    const { press } = open();
    book.plan('slow');
    const first = press();
    await time.settle();
    const ended = steady.endSession();
    const both = [first, press()];
    await time.advance(100);
    await ended;
    expect(await Promise.all(both)).toMatchObject([{ status: 'unknown' }, { status: 'unknown' }]);
    expect(book.keys).toHaveLength(1);
  });

  test('ends a press whose payload is being read: it was surely not done', async () => {
    const { steady, open } = createPage();
    const { show, press } = open();
    const { order, read } = slowPayload();
    const pressed = press(order);
    await steady.endSession();
    read();
    await time.settle();
    expect(await pressed).toMatchObject({
      status: 'failed',
      error: {
        message: 'A log-out, or the clearing of its cache, has ended this before it was sent.',
        outcome: { kind: 'aborted', processed: 'no' },
        operation: { kind: 'mutation' },
      },
    });
    expect(show().status).toBe('error');
    expect(book.keys).toEqual([]);
  });
});
