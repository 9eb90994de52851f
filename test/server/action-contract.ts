import { redirect } from '@tanstack/react-router';
import {
  type ActionContext,
  createActionState,
  idempotentAction,
  type IdempotentActionOptions,
  refuse,
} from 'steadfetch/server';
import { expect, test } from 'vitest';
import { createLatch, type NamedStore, type StoreRig } from './rig.ts';

/** A form as it arrives, in the order of its fields. */
export function form(key: string | undefined, ...entries: [string, string | File][]): FormData {
  const fields = new FormData();
  if (key !== undefined) fields.append('idempotency-key', key);
  for (const [name, value] of entries) fields.append(name, value);
  return fields;
}

const key = 'mbzl3k80-8e03978e-40d5-43dd-bc93-6894a57f9324';
const bornAt = Number.parseInt('mbzl3k80', 36);
const lamp: [string, string] = ['article', 'a lamp'];

/** A redirect as Next.js throws it. */
const nextRedirect = (to: string): Error =>
  Object.assign(new Error('NEXT_REDIRECT'), { digest: `NEXT_REDIRECT;push;${to};303;` });

type Answer = (order: string, run: number, context: ActionContext<unknown>) => unknown;

/** An action that writes an order, and then answers. */
export function createActionShop(
  { store, ledger }: StoreRig,
  options: Partial<IdempotentActionOptions<unknown>> = {},
  answer: Answer = (order, run) => ({ order, run }),
) {
  const shop = { runs: 0, nowMs: bornAt };
  const action = idempotentAction(
    async (fields, context) => {
      const run = (shop.runs += 1);
      const order = fields.get('article') as string;
      await ledger.write(context.tx, order);
      return answer(order, run, context);
    },
    { now: () => shop.nowMs, storeTimeoutMs: 600_000, ...options, store },
  );
  const send = (fields: FormData): Promise<unknown> => action(undefined, fields);
  return Object.assign(shop, { send, orders: () => ledger.orders() });
}

/** Another key, of the same time. */
const otherKey: unknown = expect.stringMatching(
  /^mbzl3k80-(?!8e03978e)[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
);

const succeeded = (data: unknown, isReplayed: boolean) => ({
  status: 'succeeded',
  data,
  isReplayed,
  key: otherKey,
  submission: key,
});

/** What an action does with every store that is to be had. */
export function testAction(createStore: NamedStore[1]): void {
  const open = async (options?: Partial<IdempotentActionOptions<unknown>>, answer?: Answer) =>
    createActionShop(await createStore(), options, answer);

  test('a form that is sent again gets the first answer, which says that it is replayed', async () => {
    const shop = await open();
    const data = { order: 'a lamp', run: 1 };
    expect(await shop.send(form(key, lamp))).toEqual(succeeded(data, false));
    expect(await shop.send(form(key, lamp))).toEqual(succeeded(data, true));
    expect(await shop.orders()).toEqual(['a lamp']);
  });

  test('two presses at once are one order, and both get its answer', async () => {
    const latch = createLatch();
    const shop = await open({}, async (order, run) => {
      await latch.opened;
      return { order, run };
    });
    const both = [shop.send(form(key, lamp)), shop.send(form(key, lamp))];
    latch.open();
    const states = (await Promise.all(both)) as { data: unknown; isReplayed: boolean }[];
    const data = { order: 'a lamp', run: 1 };
    expect(states.map((state) => state.data)).toEqual([data, data]);
    expect(states.filter(({ isReplayed }) => isReplayed)).toHaveLength(1);
    expect(await shop.orders()).toEqual(['a lamp']);
  });

  test('a second press that waits in vain is unknown under the same key, and shows the kept fields', async () => {
    const latch = createLatch();
    const started = createLatch();
    const shop = await open({ waitMs: 0, keepFields: ['article', 'photo'] }, async () => {
      started.open();
      return latch.opened;
    });
    const first = shop.send(form(key, lamp));
    await started.opened;
    const photo = new File(['one'], 'a.png');
    const edited = form(key, lamp, ['password', 'secret'], ['photo', photo]);
    expect(await shop.send(edited)).toEqual({
      status: 'needs-confirmation',
      reason: 'edited-after-unknown',
      key: otherKey,
      submission: key,
      fields: { article: 'a lamp' },
    });
    expect(await shop.send(form(key, lamp))).toEqual({
      status: 'unknown',
      key,
      fields: { article: 'a lamp' },
    });
    latch.open();
    await first;
    expect(await shop.orders()).toEqual(['a lamp']);
  });

  test.each<[string, [string, string | File][]]>([
    ['another value', [['article', 'a chair']]],
    ['one more field', [lamp, ['gift', 'on']]],
    ['the same field twice', [lamp, lamp]],
    ['another file', [lamp, ['photo', new File(['two'], 'a.png')]]],
  ])('%s under a used key does nothing, and asks', async (_, entries) => {
    const shop = await open();
    const first = entries.length > 1 && entries[1]?.[0] === 'photo';
    const photo: [string, File] = ['photo', new File(['one'], 'a.png')];
    await shop.send(first ? form(key, lamp, photo) : form(key, lamp));
    const asked = (await shop.send(form(key, ...entries))) as { status: string; key: string };
    expect(asked).toEqual({
      status: 'needs-confirmation',
      reason: 'edited-after-unknown',
      key: otherKey,
      submission: key,
      fields: {},
    });
    expect(shop.runs).toBe(1);
    expect(await shop.send(form(asked.key, ...entries))).toMatchObject({ status: 'succeeded' });
    expect(shop.runs).toBe(2);
  });

  test.each<[string, FormData]>([
    ['with what React adds before hydration', form(key, ['$ACTION_REF_1', ''], lamp)],
    ['with the key in another place', form(undefined, lamp, ['idempotency-key', key])],
  ])('a form %s is the same', async (_, other) => {
    const shop = await open();
    await shop.send(form(key, lamp));
    expect(await shop.send(other)).toMatchObject({ status: 'succeeded', isReplayed: true });
  });

  test('lines that another encoding ends otherwise are the same', async () => {
    const shop = await open();
    await shop.send(form(key, ['article', 'a\r\nlamp']));
    const again = await shop.send(form(key, ['article', 'a\nlamp']));
    expect(again).toMatchObject({ isReplayed: true, data: { order: 'a\nlamp' } });
  });

  test('a refusal is kept, with its data, and the next press has a new key', async () => {
    const shop = await open({}, (order) => refuse({ [order]: 'sold out' }));
    const data = { 'a lamp': 'sold out' };
    const state = { status: 'refused', data, isReplayed: false, submission: key };
    expect(await shop.send(form(key, lamp))).toEqual({ ...state, key: otherKey });
    expect(await shop.send(form(key, lamp))).toEqual({ ...state, isReplayed: true, key: otherKey });
    expect(shop.runs).toBe(1);
  });

  test('an action that throws has done nothing, and the same key runs again', async () => {
    const shop = await open({}, (order, run) => {
      if (run === 1) throw new Error('The printer is on fire.');
      return { order, run };
    });
    await expect(shop.send(form(key, lamp))).rejects.toThrow('The printer is on fire.');
    expect(await shop.orders()).toEqual([]);
    const data = { order: 'a lamp', run: 2 };
    expect(await shop.send(form(key, lamp))).toEqual(succeeded(data, false));
    expect(await shop.orders()).toEqual(['a lamp']);
  });

  test.each<[string, () => unknown]>([
    ['thrown by Next.js', () => nextRedirect('/thanks')],
    ['that is a Response', () => Response.redirect('https://shop.example/thanks', 303)],
    ['of TanStack Router', () => redirect({ to: '/thanks', search: { order: 1 } })],
    ['of TanStack Router, to another site', () => redirect({ href: 'https://pay.example/' })],
  ])('a redirect %s is a success: it is kept, and thrown again', async (_, create) => {
    const shop = await open({}, () => {
      throw create();
    });
    const where = async (): Promise<unknown> => {
      const thrown: unknown = await shop.send(form(key, lamp)).catch((error: unknown) => error);
      if (!(thrown instanceof Response)) return (thrown as { digest: string }).digest;
      return [thrown.status, thrown.headers.get('location'), { ...thrown }];
    };
    const first = await where();
    expect(await where()).toEqual(first);
    expect(shop.runs).toBe(1);
    expect(await shop.orders()).toEqual(['a lamp']);
  });

  test('a redirect that could not be thrown again is a TypeError: nothing is done', async () => {
    const shop = await open({}, () =>
      Promise.reject(Object.assign(new Error('to /thanks'), { status: 303 })),
    );
    await expect(shop.send(form(key, lamp))).rejects.toThrow(
      'idempotentAction: this redirect cannot be thrown again for a second press.',
    );
    expect(await shop.orders()).toEqual([]);
  });

  test('data that has a status is no redirect', async () => {
    const shop = await open({}, () => ({ status: 303 }));
    expect(await shop.send(form(key, lamp))).toEqual(succeeded({ status: 303 }, false));
  });

  test('a returned redirect is the same as a thrown one', async () => {
    const shop = await open({}, () => Response.redirect('https://shop.example/thanks', 303));
    for (let press = 1; press <= 2; press++)
      await expect(shop.send(form(key, lamp))).rejects.toBeInstanceOf(Response);
    expect(await shop.orders()).toEqual(['a lamp']);
  });

  test.each<[string, unknown]>([
    ['a Date', { at: new Date(0) }],
    ['a function', () => 1],
    ['a Map', new Map([[1, 2]])],
    ['NaN', { total: Number.NaN }],
    ['a bigint', 1n],
    ['a Response that is no redirect', new Response('ordered')],
  ])('an answer that is %s is no JSON: nothing is done', async (_, data) => {
    const shop = await open({}, () => data);
    await expect(shop.send(form(key, lamp))).rejects.toThrow(
      'idempotentAction: what the action returns is not JSON',
    );
    expect(await shop.orders()).toEqual([]);
  });

  test.each([[undefined], [null], [0], [''], [[]], [{ a: undefined }]])(
    'the answer %j is the same when it is replayed',
    async (data) => {
      const shop = await open({}, () => data);
      const first = (await shop.send(form(key, lamp))) as { data: unknown };
      const second = (await shop.send(form(key, lamp))) as { data: unknown };
      expect([first.data, second.data]).toEqual([data, data]);
      expect(shop.runs).toBe(1);
    },
  );

  test('each user has keys of their own', async () => {
    const scope = (fields: FormData) => fields.get('user') as string;
    const shop = await open({ scope });
    for (const user of ['ann', 'ben', 'ann'])
      await shop.send(form(key, ['article', 'a lamp'], ['user', user]));
    expect(shop.runs).toBe(2);
  });

  test('two actions of one store with one key do not take each other for themselves', async () => {
    const rig = await createStore();
    const order = createActionShop(rig, { name: 'order' });
    const draft = createActionShop(rig, { name: 'draft' });
    await draft.send(form(key, lamp));
    expect(await order.send(form(key, lamp))).toMatchObject({ status: 'needs-confirmation' });
    expect(order.runs).toBe(0);
  });

  test('a key that is older than its store remembers does nothing, and asks', async () => {
    const shop = await open({ lifetimeMs: 60_000, leaseMs: 60_000 });
    shop.nowMs = bornAt + 60_000;
    expect(await shop.send(form(key, lamp))).toMatchObject({ status: 'succeeded' });
    shop.nowMs += 1;
    const asked = (await shop.send(form(key, lamp))) as { key: string };
    expect(asked).toMatchObject({ status: 'needs-confirmation', reason: 'key-expired' });
    expect(shop.runs).toBe(1);
    expect(await shop.send(form(asked.key, lamp))).toMatchObject({ status: 'succeeded' });
  });

  test('a first state has a key of its own each time', async () => {
    const shop = await open();
    for (let turn = 0; turn < 3; turn++) await shop.send(form(createActionState().key, lamp));
    expect(shop.runs).toBe(3);
  });
}
