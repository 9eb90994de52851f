import { idempotentAction, type IdempotencyStore, memoryStore } from 'steadfetch/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createActionShop, form, testAction } from './action-contract.ts';
import { createLatch, createMemoryRig, stores } from './rig.ts';

// A key without a date has no age.
const key = '8e03978e-40d5-43dd-bc93-6894a57f9324';
const lamp: [string, string] = ['article', 'a lamp'];

describe.each(stores)('with %s', (_, createStore) => {
  testAction(createStore);
});

describe('in time', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  test('a second press asks after 50, 150, 350 ms and so on, and ends as unknown after waitMs', async () => {
    const { store, ledger } = createMemoryRig();
    let claims = 0;
    let claimed = createLatch();
    const counting: IdempotencyStore<unknown> = {
      claim(claim) {
        claims++;
        claimed.open();
        return store.claim(claim);
      },
      run: (claim, work) => store.run(claim, work),
    };
    const started = createLatch();
    const shop = createActionShop({ store: counting, ledger }, { waitMs: 1000 }, () => {
      started.open();
      return new Promise<never>(() => {});
    });
    void shop.send(form(key, lamp));
    await started.opened;
    claimed = createLatch();
    const second = shop.send(form(key, lamp));
    // The digests of a claim take real time.
    await claimed.opened;
    const counts: number[] = [];
    for (const untilMs of [49, 1, 99, 1, 199, 1, 399, 1, 249]) {
      await vi.advanceTimersByTimeAsync(untilMs);
      counts.push(claims - 2);
    }
    expect(counts).toEqual([0, 1, 1, 2, 2, 3, 3, 4, 4]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await second).toEqual({ status: 'unknown', key, fields: {} });
    expect(claims - 2).toBe(5);
  });

  test('a lease that is over has done nothing, and the press after it runs', async () => {
    const started = createLatch();
    const shop = createActionShop(createMemoryRig(), { leaseMs: 5000 }, (order, run) => {
      started.open();
      return run === 1 ? new Promise<never>(() => {}) : { order, run };
    });
    const first = shop.send(form(key, lamp)).catch((error: unknown) => error);
    await started.opened;
    await vi.advanceTimersByTimeAsync(5000);
    expect(await first).toMatchObject({ name: 'LeaseOverError' });
    expect(await shop.orders()).toEqual([]);
    expect(await shop.send(form(key, lamp))).toMatchObject({ data: { run: 2 } });
    expect(await shop.orders()).toEqual(['a lamp']);
  });
});

test('while its store fails a form is unknown under its key, and nothing is done', async () => {
  const store = {
    claim: () => Promise.reject(new Error('gone')),
    run: () => Promise.reject(new Error('gone')),
  };
  const errors: unknown[] = [];
  const action = idempotentAction(() => 'ran', { store, onStoreError: (e) => errors.push(e) });
  expect(await action(undefined, form(key, lamp))).toEqual({ status: 'unknown', key, fields: {} });
  expect(errors).toEqual([new Error('gone')]);
});

test('the first redirect has its cookies, and a replayed one has not', async () => {
  const shop = createActionShop(
    createMemoryRig(),
    {},
    () =>
      new Response(null, { status: 303, headers: { location: '/thanks', 'set-cookie': 'a=1' } }),
  );
  const cookies: (string | null)[] = [];
  for (let press = 1; press <= 2; press++)
    await shop
      .send(form(key, lamp))
      .catch((thrown: unknown) => cookies.push((thrown as Response).headers.get('set-cookie')));
  expect(cookies).toEqual(['a=1', null]);
});

test('without a name a key of another function asks', async () => {
  const store = memoryStore();
  const order = idempotentAction(() => 'ordered', { store });
  const draft = idempotentAction(() => 'kept', { store });
  expect(await draft(undefined, form(key, lamp))).toMatchObject({ data: 'kept' });
  expect(await order(undefined, form(key, lamp))).toMatchObject({ status: 'needs-confirmation' });
});

test('the function gets the fields without the key and what React adds', async () => {
  const action = idempotentAction((fields) => [...fields.keys()], { store: memoryStore() });
  const sent = form(key, ['$ACTION_KEY', 'k1'], lamp);
  expect(await action(undefined, sent)).toMatchObject({ data: ['article'] });
});

test('while Next.js prerenders a page, no key is made for it', async () => {
  const { createActionState } = await import('steadfetch/server');
  vi.stubEnv('NEXT_PHASE', 'phase-production-build');
  expect(createActionState).toThrow('createActionState: this page is prerendered');
  vi.unstubAllEnvs();
});

test.each<[string, () => unknown, string]>([
  [
    'a form without a key',
    () => idempotentAction(() => 1, { store: memoryStore() })(undefined, form(undefined, lamp)),
    'idempotentAction: the form has no key. Render <KeyField> in it',
  ],
  [
    'fields that are none',
    () => idempotentAction(() => 1, { store: memoryStore() })(form(key, lamp), undefined as never),
    'idempotentAction: its second argument is no FormData',
  ],
  [
    'a scope that is a token',
    () =>
      idempotentAction(() => 1, { store: memoryStore(), scope: () => 'Bearer abc' })(
        undefined,
        form(key, lamp),
      ),
    'idempotentAction: scope is a credential',
  ],
  [
    'an option of idempotent',
    () => idempotentAction(() => 1, { store: memoryStore(), header: 'Key' } as never),
    'idempotentAction: header is',
  ],
  [
    'no store',
    () => idempotentAction(() => 1, {} as never),
    'idempotentAction: store is undefined, and must be an IdempotencyStore',
  ],
  [
    'a name that is empty',
    () => idempotentAction(() => 1, { store: memoryStore(), name: '' }),
    "idempotentAction: name is '', and must be text",
  ],
  [
    'a time that is none',
    () => idempotentAction(() => 1, { store: memoryStore(), waitMs: -1 }),
    'idempotentAction: waitMs is -1',
  ],
  [
    'no function',
    () => idempotentAction('order' as never, { store: memoryStore() }),
    "idempotentAction: its first argument is 'order', and must be a function.",
  ],
])('%s is a TypeError', async (_, call, message) => {
  const failure = await (async () => call())().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TypeError);
  expect((failure as Error).message).toContain(message);
});
