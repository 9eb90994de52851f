import {
  createActionState,
  idempotentAction,
  type IdempotentActionOptions,
  type IdempotencyStore,
  memoryStore,
  refuse,
} from 'steadfetch/server';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
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

test('while Next.js prerenders a page, no key is made for it', () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('NEXT_PHASE', 'phase-production-build');
  expect(createActionState).toThrow('createActionState: this page is prerendered');
  vi.stubEnv('NEXT_PHASE', 'phase-production-server');
  expect(createActionState().status).toBe('idle');
});

test('a first state has a key that tells its time, also where there is no process', () => {
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('process', undefined);
  vi.stubGlobal('Date', { now: () => Number.parseInt('mbzl3k80', 36) });
  expect(createActionState()).toEqual({
    status: 'idle',
    key: expect.stringMatching(/^mbzl3k80-[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/),
  });
});

const nextRedirect = (): Error =>
  Object.assign(new Error('thrown'), { digest: 'NEXT_REDIRECT;push;/thanks;303;' });

test.each<[string, () => unknown, object]>([
  ['data', () => ({ id: 1 }), { status: 200, headers: [], body: '{"id":1}' }],
  ['nothing', () => undefined, { status: 200, headers: [], body: '' }],
  ['a refusal', () => refuse('sold out'), { status: 422, headers: [], body: '"sold out"' }],
  [
    'a redirect of Next.js',
    () => Promise.reject(nextRedirect()),
    { status: 303, headers: [['digest', 'NEXT_REDIRECT;push;/thanks;303;']], body: '' },
  ],
  [
    'a redirect of the web',
    () => new Response(null, { status: 302, headers: { location: '/', 'set-cookie': 'a=1' } }),
    { status: 302, headers: [['location', '/']], body: '' },
  ],
])('of %s is stored what the next version reads, too', async (_, answer, expected) => {
  const { store, ledger } = createMemoryRig();
  const stored: unknown[] = [];
  const keeping: IdempotencyStore<unknown> = {
    claim: (claim) => store.claim(claim),
    run: (claim, work) =>
      store.run(claim, async (tx) => {
        const own = await work(tx);
        stored.push(own && { ...own, body: new TextDecoder().decode(own.body) });
        return own;
      }),
  };
  const shop = createActionShop({ store: keeping, ledger }, {}, answer);
  await shop.send(form(key, lamp)).catch(() => {});
  expect(stored).toEqual([expected]);
});

test('a redirect of Next.js that is thrown again is one for Next.js', async () => {
  const shop = createActionShop(createMemoryRig(), {}, () => Promise.reject(nextRedirect()));
  const messages: string[] = [];
  for (let press = 1; press <= 2; press++)
    await shop
      .send(form(key, lamp))
      .catch((thrown: unknown) => messages.push((thrown as Error).message));
  expect(messages).toEqual(['thrown', 'NEXT_REDIRECT']);
});

test('an action of which a part was done is told so, and is not run again', async () => {
  const store = memoryStore();
  let runs = 0;
  const action = idempotentAction(
    (_fields, { tx }) => {
      runs += 1;
      tx.onCommit(() => {});
      tx.onCommit(() => {
        throw new Error('disk');
      });
      return 'ordered';
    },
    { store, onStoreError: () => {} },
  );
  expect(await action(undefined, form(key, lamp))).toEqual({ status: 'unknown', key, fields: {} });
  await expect(action(undefined, form(key, lamp))).rejects.toThrow(
    'idempotentAction: a part of it was done, and a part of it has failed. It is not run again.',
  );
  expect(runs).toBe(1);
});

test.each<[string, IdempotentActionOptions<unknown>['scope'], string]>([
  ['no scope', undefined, ''],
  ['a scope', () => 'ann', 'ann'],
])('the id of a claim is that of an action, of its owner and of its key: %s', async (...row) => {
  const [, scope, owner] = row;
  const { store, ledger } = createMemoryRig();
  const ids: string[] = [];
  const keeping: IdempotencyStore<unknown> = {
    claim(claim) {
      ids.push(claim.id);
      return store.claim(claim);
    },
    run: (claim, work) => store.run(claim, work),
  };
  await createActionShop({ store: keeping, ledger }, { scope }).send(form(key, lamp));
  expect(ids).toEqual([JSON.stringify(['action', owner, key])]);
});

test('a key has up to 255 characters', async () => {
  const shop = createActionShop(createMemoryRig());
  expect(await shop.send(form('k'.repeat(255), lamp))).toMatchObject({ status: 'succeeded' });
});

test.each<[string, () => unknown, string]>([
  [
    'a form without a key',
    () => idempotentAction(() => 1, { store: memoryStore() })(undefined, form(undefined, lamp)),
    'idempotentAction: the form has no key. Render <KeyField> in it',
  ],
  [
    'a key that is empty',
    () => idempotentAction(() => 1, { store: memoryStore() })(undefined, form('', lamp)),
    'idempotentAction: the form has no key.',
  ],
  [
    'a key that is too long',
    () =>
      idempotentAction(() => 1, { store: memoryStore() })(undefined, form('k'.repeat(256), lamp)),
    'idempotentAction: the form has no key.',
  ],
  [
    'a key that is a file',
    () =>
      idempotentAction(() => 1, { store: memoryStore() })(
        undefined,
        form(undefined, ['idempotency-key', new File(['a'], 'a.txt')]),
      ),
    'idempotentAction: the form has no key. Render <KeyField> in it: a hidden field named idempotency-key.',
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
    "idempotentAction: header is 'Key', and must be left out: the options are store, lifetimeMs, leaseMs, " +
      'storeTimeoutMs, onStoreError, now, scope, name, waitMs, keepFields',
  ],
  [
    'a scope that is none',
    () => idempotentAction(() => 1, { store: memoryStore(), scope: 'ann' as never }),
    "idempotentAction: scope is 'ann', and must be a function.",
  ],
  [
    'a name that is no text',
    () => idempotentAction(() => 1, { store: memoryStore(), name: 5 as never }),
    'idempotentAction: name is 5, and must be text',
  ],
  [
    'a name of a field alone',
    () => idempotentAction(() => 1, { store: memoryStore(), keepFields: 'article' as never }),
    "idempotentAction: keepFields is 'article', and must be a list of names of fields.",
  ],
  [
    'names of fields of which one is none',
    () => idempotentAction(() => 1, { store: memoryStore(), keepFields: ['a', 5 as never] }),
    'idempotentAction: keepFields is ["a",5], and must be a list of names of fields.',
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
