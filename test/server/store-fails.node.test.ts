import {
  type Claim,
  idempotent,
  type IdempotencyStore,
  type IdempotentOptions,
  LeaseOverError,
  memoryStore,
} from 'steadfetch/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLatch, post, problemOf, told } from './rig.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => {
  const timers = vi.getTimerCount();
  vi.useRealTimers();
  vi.restoreAllMocks();
  if (timers > 0) throw new Error(`${timers} timers were left behind.`);
});

type Store = IdempotencyStore<unknown>;

/** A shop whose store is a good one, but for what is said. */
function openShop(
  change: (store: Store) => Partial<Store>,
  options: Partial<IdempotentOptions<unknown>> = {},
) {
  const good: Store = memoryStore();
  const errors: unknown[] = [];
  const state = { runs: 0, errors };
  const handler = () => new Response(`run ${(state.runs += 1)}`);
  const onStoreError = (error: unknown) => void errors.push((error as Error).message);
  const store = { ...good, ...change(good) };
  const send = idempotent(handler, { store, onStoreError, ...options });
  return Object.assign(state, { good, send: () => send(post({ key: '"a"' })) });
}

const gone = () => Promise.reject(new Error('ECONNREFUSED'));

test('a store that is gone is a 503 with Retry-After, and nothing is done', async () => {
  const shop = openShop(() => ({ claim: gone }), { retryAfterSeconds: 3 });
  const response = await shop.send();
  expect(response.headers.get('retry-after')).toBe('3');
  expect(await problemOf(response)).toBe('503 store-unavailable');
  expect([shop.runs, shop.errors]).toEqual([0, ['ECONNREFUSED']]);
});

test('a claim that throws at once is a 503, too', async () => {
  const claim = () => {
    throw new Error('not open');
  };
  const shop = openShop(() => ({ claim }));
  expect(await problemOf(shop.send())).toBe('503 store-unavailable');
  expect(shop.errors).toEqual(['not open']);
});

test('without onStoreError, the console is warned of what the store failed with', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const shop = openShop(() => ({ claim: gone }), { onStoreError: undefined });
  expect(await problemOf(shop.send())).toBe('503 store-unavailable');
  expect(warn.mock.calls).toEqual([
    ['[steadfetch] idempotent: the store failed.', new Error('ECONNREFUSED')],
  ]);
});

test('a claim without an answer is given up after storeTimeoutMs, and freed when it is granted late', async () => {
  const [asked, granted] = [createLatch(), createLatch()];
  let claims = 0;
  const shop = openShop((store) => ({
    async claim(claim: Claim) {
      claims += 1;
      if (claims === 1) {
        asked.open();
        await granted.opened;
      }
      return store.claim(claim);
    },
  }));
  const first = shop.send();
  await asked.opened;
  await vi.advanceTimersByTimeAsync(4999);
  expect(shop.errors).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await problemOf(first)).toBe('503 store-unavailable');
  expect(shop.errors).toEqual([
    'idempotent: the store did not claim within storeTimeoutMs, 5000 ms.',
  ]);
  granted.open();
  await vi.advanceTimersByTimeAsync(0);
  expect(await told(shop.send())).toBe('200 run 1');
});

test('a claim that is late, and was not granted, frees nothing of another request', async () => {
  const [asked, told503] = [createLatch(), createLatch()];
  let runs = 0;
  const shop = openShop(() => ({
    async claim(claim: Claim) {
      asked.open();
      await told503.opened;
      return { kind: 'running', fingerprint: claim.fingerprint };
    },
    async run() {
      runs += 1;
      return true;
    },
  }));
  const answer = shop.send();
  await asked.opened;
  await vi.advanceTimersByTimeAsync(5000);
  expect(await problemOf(answer)).toBe('503 store-unavailable');
  told503.open();
  await vi.advanceTimersByTimeAsync(0);
  expect(runs).toBe(0);
});

test('a transaction that does not begin in time is given up: its handler never runs, and its key is free', async () => {
  const [asked, begun] = [createLatch(), createLatch()];
  let runs = 0;
  const shop = openShop(
    (store) => ({
      async run(claim, work) {
        runs += 1;
        if (runs === 1) {
          asked.open();
          await begun.opened;
        }
        return store.run(claim, work);
      },
    }),
    { storeTimeoutMs: 70 },
  );
  const first = shop.send();
  await asked.opened;
  await vi.advanceTimersByTimeAsync(70);
  expect(await problemOf(first)).toBe('503 store-unavailable');
  expect(shop.errors).toEqual([
    'idempotent: the store did not begin within storeTimeoutMs, 70 ms.',
  ]);
  expect(await problemOf(shop.send())).toBe('409 in-progress');
  begun.open();
  await vi.advanceTimersByTimeAsync(0);
  expect(shop.runs).toBe(0);
  expect(await told(shop.send())).toBe('200 run 1');
});

test('a commit that fails is a 503, and the key is not freed: nobody knows what was done', async () => {
  const shop = openShop((store) => ({
    async run(claim, work) {
      await store.run(claim, work);
      throw new Error('ECONNRESET');
    },
  }));
  expect(await problemOf(shop.send())).toBe('503 store-unavailable');
  expect(await told(shop.send())).toBe('200 run 1');
  expect([shop.runs, shop.errors]).toEqual([1, ['ECONNRESET']]);
});

test('a commit that never ends is a 503 after storeTimeoutMs, and the time of the handler is not part of that', async () => {
  const [started, finished, worked] = [createLatch(), createLatch(), createLatch()];
  const errors: string[] = [];
  const store: Store = {
    ...memoryStore(),
    async run(_, work) {
      await work({});
      worked.open();
      return new Promise<never>(() => {});
    },
  };
  const send = idempotent(
    async () => {
      started.open();
      await finished.opened;
      return new Response();
    },
    { store, onStoreError: (error) => void errors.push((error as Error).message) },
  );
  const answer = send(post({ key: '"a"' }));
  await started.opened;
  await vi.advanceTimersByTimeAsync(20_000);
  finished.open();
  await worked.opened;
  await vi.advanceTimersByTimeAsync(4999);
  expect(errors).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await problemOf(answer)).toBe('503 store-unavailable');
  expect(errors).toEqual(['idempotent: the store did not end within storeTimeoutMs, 5000 ms.']);
});

test('a store that is lost while the handler runs is a 503, not the error of the handler', async () => {
  const errors: string[] = [];
  const store: Store = {
    ...memoryStore(),
    run: (_, work) =>
      work({}).then(
        () => true,
        () => Promise.reject(new Error('no ROLLBACK')),
      ),
  };
  const send = idempotent(() => Promise.reject(new Error('no INSERT')), {
    store,
    onStoreError: (error) => void errors.push((error as Error).message),
  });
  expect(await problemOf(send(post({ key: '"a"' })))).toBe('503 store-unavailable');
  expect(errors).toEqual(['no ROLLBACK']);
});

test('the lease begins before the claim, so that it ends before the store gives the key to another', async () => {
  const [asked, granted, started] = [createLatch(), createLatch(), createLatch()];
  const reasons: unknown[] = [];
  const good: Store = memoryStore();
  const store: Store = {
    ...good,
    async claim(claim) {
      asked.open();
      await granted.opened;
      return good.claim(claim);
    },
  };
  const send = idempotent(
    (_request, { signal }) =>
      new Promise<never>(() => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        started.open();
      }),
    { store, leaseMs: 3000 },
  );
  const answer = send(post({ key: '"a"' })).catch((error: unknown) => error);
  await asked.opened;
  await vi.advanceTimersByTimeAsync(2000);
  granted.open();
  await started.opened;
  await vi.advanceTimersByTimeAsync(999);
  expect(reasons).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  const error = (await answer) as LeaseOverError;
  expect(error).toBeInstanceOf(LeaseOverError);
  expect([error.name, error.leaseMs]).toEqual(['LeaseOverError', 3000]);
  expect(reasons).toEqual([error]);
});

test.each([
  [999, 'canceling statement due to statement timeout'],
  [1000, 'idempotent: the handler gave no answer within leaseMs, 1000 ms.'],
  [5000, 'idempotent: the handler gave no answer within leaseMs, 1000 ms.'],
])(
  'a handler that fails after %d ms, before the timer of its lease is run, is told as: %s',
  async (failsAfterMs, message) => {
    let elapsedMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    const reasons: unknown[] = [];
    const send = idempotent(
      (_request, { signal }) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        // As a database that ends the transaction at its lease, too.
        elapsedMs = failsAfterMs;
        return Promise.reject(new Error('canceling statement due to statement timeout'));
      },
      { store: memoryStore(), leaseMs: 1000 },
    );
    const error = await send(post({ key: '"a"' })).catch((reason: unknown) => reason);
    expect((error as Error).message).toContain(message);
    expect(reasons).toEqual(error instanceof LeaseOverError ? [error] : []);
  },
);

test('a lease that ends while the store commits takes nothing of the answer', async () => {
  const [worked, committed] = [createLatch(), createLatch()];
  const good: Store = memoryStore();
  const store: Store = {
    ...good,
    async run(claim, work) {
      const isHeld = await good.run(claim, work);
      worked.open();
      await committed.opened;
      return isHeld;
    },
  };
  const send = idempotent(() => new Response('ordered'), { store, leaseMs: 1000 });
  const answer = send(post({ key: '"a"' }));
  await worked.opened;
  await vi.advanceTimersByTimeAsync(1000);
  committed.open();
  expect(await told(answer)).toBe('200 ordered');
});

test('an answer that comes after the lease is read no further, and its source is told', async () => {
  const [started, late, cancelled] = [createLatch(), createLatch(), createLatch()];
  const endless = new ReadableStream({
    start: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel: cancelled.open,
  });
  const send = idempotent(
    async () => {
      started.open();
      await late.opened;
      return new Response(endless);
    },
    { store: memoryStore(), leaseMs: 1000 },
  );
  const answer = send(post({ key: '"a"' })).catch((error: unknown) => error);
  await started.opened;
  await vi.advanceTimersByTimeAsync(1000);
  expect(await answer).toBeInstanceOf(LeaseOverError);
  late.open();
  await cancelled.opened;
});

test('a handler whose lease is over before it begins is not run', async () => {
  const [asked, begun] = [createLatch(), createLatch()];
  const shop = openShop(
    (store) => ({
      async run(claim, work) {
        asked.open();
        await begun.opened;
        return store.run(claim, work);
      },
    }),
    { leaseMs: 1000 },
  );
  const answer = shop.send().catch((error: unknown) => error);
  await asked.opened;
  await vi.advanceTimersByTimeAsync(1000);
  begun.open();
  expect(await answer).toBeInstanceOf(LeaseOverError);
  expect(shop.runs).toBe(0);
});

test('what a store gets is text that every store can hold: of what cannot be, the SHA-256', async () => {
  const claims: Claim[] = [];
  const store: Store = {
    ...memoryStore(),
    claim(claim) {
      claims.push(claim);
      return { kind: 'full' };
    },
  };
  const seen = async (scope: string | undefined, key: string, fingerprint: string) => {
    const options = {
      scope: scope === undefined ? undefined : () => scope,
      fingerprint: () => fingerprint,
      maxKeyLength: 9999,
    };
    await idempotent(() => new Response(), { store, ...options })(post({ key: `"${key}"` }));
    const { id = '', fingerprint: print = '' } = claims.at(-1) ?? {};
    return [id, print];
  };
  const hash = expect.stringMatching(/^sha256:[\da-f]{64}$/) as string;
  expect(await seen(undefined, 'a', 'f')).toEqual(['["","a"]', 'f']);
  expect(await seen('Zoë 😀', 'a b', 'f')).toEqual(['["Zoë 😀","a b"]', 'f']);
  expect(await seen('\0', 'a', '')).toEqual(['["\\u0000","a"]', '']);
  expect(await seen('u', 'a'.repeat(504), 'f'.repeat(512))).toEqual([
    `["u","${'a'.repeat(504)}"]`,
    'f'.repeat(512),
  ]);
  expect(await seen('u', 'a'.repeat(505), 'f'.repeat(513))).toEqual([hash, hash]);
  const odd = ['a\0', 'b\0', '\ud800', '\udc00', '"\ud800', 'x'.repeat(513)];
  const prints = await Promise.all(odd.map(async (print) => (await seen('u', 'a', print))[1]));
  expect(prints).toEqual(odd.map(() => hash));
  expect(new Set(prints).size).toBe(odd.length);
});

const loggers: readonly (readonly [how: string, onStoreError: () => unknown])[] = [
  [
    'throws',
    () => {
      throw new Error('no logger');
    },
  ],
  ['rejects', () => Promise.reject(new Error('no logger'))],
];

test.each(loggers)(
  'an onStoreError that %s changes no answer, and ends no process',
  async (_, onStoreError) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const unhandled = vi.fn<(reason: unknown) => void>();
    process.on('unhandledRejection', unhandled);
    const claim = openShop(() => ({ claim: gone }), { onStoreError });
    const run = openShop(() => ({ run: gone }), { onStoreError });
    expect(await problemOf(claim.send())).toBe('503 store-unavailable');
    expect(await problemOf(run.send())).toBe('503 store-unavailable');
    await new Promise((wake) => setImmediate(wake));
    process.off('unhandledRejection', unhandled);
    expect(warn.mock.calls).toEqual([[new Error('no logger')], [new Error('no logger')]]);
    expect(unhandled.mock.calls).toEqual([]);
  },
);
