import type { Claim, StoredAnswer } from 'steadfetch/server';
import { describe, expect, test } from 'vitest';
import { sharedStores, startDrivers } from './shared-stores.ts';
import { createLatch, createShop, post, problemOf, told } from '../server/rig.ts';

const drivers = startDrivers();
const key = '"a"';

let tokens = 0;
const claimOf = (id: string, more: Partial<Claim> = {}): Claim => ({
  id,
  fingerprint: 'f',
  token: `token ${(tokens += 1)}`,
  nowMs: 0,
  leaseMs: 60_000,
  lifetimeMs: 600_000,
  ...more,
});
const answer: StoredAnswer = { status: 200, headers: [['a', 'é']], body: Uint8Array.of(0, 255) };
const answered = { kind: 'answered', fingerprint: 'f', answer };
const running = { kind: 'running', fingerprint: 'f' };
const plain = (result: unknown): unknown => {
  const { answer: own, ...rest } = result as { answer?: StoredAnswer };
  return own ? { ...rest, answer: { ...own, body: Uint8Array.from(own.body) } } : rest;
};

describe.each(sharedStores(drivers))('%s', (name, createRig) => {
  const isSqlite = name.startsWith('sqliteStore');

  test('grants a key once, and then gives its answer, to another process as well', async () => {
    const { store, twin } = await createRig();
    const claim = claimOf('a');
    expect(await store.claim(claim)).toEqual({ kind: 'claimed' });
    expect(await twin.claim(claimOf('a'))).toEqual(running);
    expect(await twin.claim(claimOf('a', { fingerprint: 'g' }))).toEqual(running);
    expect(await store.run(claim, async () => answer)).toBe(true);
    expect(plain(await twin.claim(claimOf('a')))).toEqual(answered);
    expect(await twin.claim(claimOf('b'))).toEqual({ kind: 'claimed' });
  });

  test('grants one of a hundred simultaneous claims', async () => {
    const { store, twin } = await createRig();
    const claims = Array.from({ length: 50 }, () =>
      [store, twin].map(async (one) => one.claim(claimOf('a'))),
    );
    const results = await Promise.all(claims.flat());
    const kinds = results.map(({ kind }) => kind).toSorted();
    expect(kinds).toEqual(['claimed', ...Array.from({ length: 99 }, () => 'running')]);
  });

  // SQLite has that of its machine, which its processes share.
  test.skipIf(isSqlite)(
    'goes by the clock of the server: a process whose clock is wrong changes nothing',
    async () => {
      const { store, twin } = await createRig();
      const yearMs = 31_536_000_000;
      const claim = claimOf('a', { nowMs: -yearMs });
      expect(await store.claim(claim)).toEqual({ kind: 'claimed' });
      expect(await twin.claim(claimOf('a', { nowMs: yearMs }))).toEqual(running);
      await store.run(claim, async () => answer);
      expect(plain(await twin.claim(claimOf('a', { nowMs: yearMs })))).toEqual(answered);
    },
  );

  test('a lease that is over is taken by the same payload only', async () => {
    const { store, twin, endLeases } = await createRig();
    await store.claim(claimOf('a'));
    await endLeases();
    expect(await twin.claim(claimOf('a', { fingerprint: 'g' }))).toEqual(running);
    expect(await twin.claim(claimOf('a'))).toEqual({ kind: 'claimed' });
    expect(await store.claim(claimOf('a'))).toEqual(running);
  });

  test('an answer has no lease', async () => {
    const { store, endLeases } = await createRig();
    const claim = claimOf('a');
    await store.claim(claim);
    await store.run(claim, async () => answer);
    await endLeases();
    expect(plain(await store.claim(claimOf('a')))).toEqual(answered);
  });

  test('a key whose lifetime is over is free for any payload', async () => {
    const { store, twin, expireAll } = await createRig();
    const claim = claimOf('a');
    await store.claim(claim);
    await store.run(claim, async () => answer);
    await expireAll();
    expect(await twin.claim(claimOf('a', { fingerprint: 'g' }))).toEqual({ kind: 'claimed' });
  });

  test('expired keys are dropped', async () => {
    const { store, twin, expireAll, countKeys } = await createRig();
    for (let index = 0; index < 60; index++) await store.claim(claimOf(`${index}`));
    expect(await countKeys()).toBe(60);
    await expireAll();
    await twin.claim(claimOf('x'));
    expect(await countKeys()).toBe(1);
  });

  // In SQLite a handler that has begun has the file, and nobody can take its key: see its own test.
  test.skipIf(isSqlite)(
    'who was taken for dead and comes back overwrites nothing, and its effect is undone',
    async () => {
      const rig = await createRig();
      const [started, woken] = [createLatch(), createLatch()];
      const sleepy = createShop(rig, {}, async () => {
        started.open();
        await woken.opened;
        return new Response('by the late one');
      });
      const other = createShop({ ...rig, store: rig.twin }, {}, () => new Response('by the other'));
      const first = sleepy.send(post({ key }));
      await started.opened;
      expect(await problemOf(other.send(post({ key })))).toBe('409 in-progress');
      await rig.endLeases();
      expect(await told(other.send(post({ key })))).toBe('200 by the other');
      woken.open();
      expect(await problemOf(first)).toBe('409 in-progress');
      expect(await told(sleepy.send(post({ key })))).toBe('200 by the other');
      expect(await rig.ledger.orders()).toEqual(['a lamp']);
    },
  );

  test('whose lease is over while nobody else came may still commit', async () => {
    const rig = await createRig();
    const shop = createShop(rig, {}, async () => {
      await rig.endLeases();
      return new Response('late');
    });
    expect(await told(shop.send(post({ key })))).toBe('200 late');
    expect(await told(shop.send(post({ key })))).toBe('200 late');
    expect(await rig.ledger.orders()).toEqual(['a lamp']);
  });

  test('a failure of who was taken for dead does not free the key of who took it', async () => {
    const { store, twin, endLeases } = await createRig();
    const [dead, alive] = [claimOf('a'), claimOf('a')];
    await store.claim(dead);
    await endLeases();
    await twin.claim(alive);
    expect(await store.run(dead, async () => answer)).toBe(false);
    const failing = store.run(dead, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    expect(await store.run(dead, async () => undefined)).toBe(true);
    expect(await store.claim(claimOf('a'))).toEqual(running);
    expect(await twin.run(alive, async () => answer)).toBe(true);
  });

  test('an answer is not overwritten, and not freed, by a second run of its own claim', async () => {
    const { store } = await createRig();
    const claim = claimOf('a');
    await store.claim(claim);
    await store.run(claim, async () => answer);
    await store.run(claim, async () => undefined);
    expect(plain(await store.claim(claimOf('a')))).toEqual(answered);
  });

  test('keys and scopes of any characters are each their own', async () => {
    const rig = await createRig();
    const users = [
      'Zoë',
      'Zoe\u0308',
      '😀',
      "'; DROP TABLE x; --",
      '{a}',
      '*',
      '$1',
      '\0',
      '\ud800',
      'x'.repeat(5000),
    ];
    const scope = ({ headers }: Request) => users[Number(headers.get('user'))] ?? '';
    const shop = createShop(rig, { scope });
    const keys = ['" "', '"~!%*{}[]"', '"\\"\\\\"'];
    const send = (user: number, own: string) =>
      told(shop.send(post({ key: own, headers: { user: `${user}` } })));
    const pairs = users.flatMap((_, user) => keys.map((own) => [user, own] as const));
    const first: string[] = [];
    for (const [user, own] of pairs) first.push(await send(user, own));
    expect(first).toEqual(pairs.map((_, index) => `201 a lamp: order ${index + 1}`));
    for (const [index, [user, own]] of pairs.entries())
      expect(await send(user, own)).toBe(`201 a lamp: order ${index + 1}`);
  });

  test('a large answer comes back as it was, of text or of bytes', async () => {
    const rig = await createRig();
    const bytes = Uint8Array.from({ length: 1_000_000 }, (_, index) => (index * 31) % 256);
    const text = 'é'.repeat(500_000);
    const shop = createShop(rig, {}, (order) => new Response(order === 'text' ? text : bytes));
    const send = async (body: string) =>
      Buffer.from(await (await shop.send(post({ key: `"${body}"`, body }))).arrayBuffer());
    for (const body of ['text', 'bytes', 'text', 'bytes'])
      expect((await send(body)).equals(Buffer.from(body === 'text' ? text : bytes))).toBe(true);
    expect(shop.runs).toBe(2);
  });

  test('a text with a byte order mark keeps it', async () => {
    const rig = await createRig();
    const bytes = Uint8Array.of(0xef, 0xbb, 0xbf, 0x61);
    const shop = createShop(rig, {}, () => new Response(bytes));
    await shop.send(post({ key }));
    const again = await shop.send(post({ key }));
    expect(new Uint8Array(await again.arrayBuffer())).toEqual(bytes);
  });

  test('tx throws once its transaction has ended', async () => {
    const rig = await createRig();
    let lent: unknown;
    const claim = claimOf('a');
    await rig.store.claim(claim);
    await rig.store.run(claim, async (tx) => {
      lent = tx;
      return answer;
    });
    const store = name.split(' ')[0];
    const write = async () => rig.ledger.write(lent, 'late');
    await expect(write()).rejects.toThrow(
      `${store}: tx was used after its transaction had ended. Nothing was written.`,
    );
    expect(await rig.ledger.orders()).toEqual([]);
  });

  test('a server that is gone is a 503, and when it is back, all is as it was', async () => {
    const rig = await createRig();
    const errors: unknown[] = [];
    const onStoreError = (error: unknown) => void errors.push(error);
    const shop = createShop(rig, { onStoreError, storeTimeoutMs: 50 });
    const patient = createShop(rig, { onStoreError });
    expect(await told(patient.send(post({ key })))).toBe('201 a lamp: order 1');
    await rig.server.kill();
    for (const own of [key, '"b"'])
      expect(await problemOf(shop.send(post({ key: own })))).toBe('503 store-unavailable');
    await rig.server.start();
    const send = async (own: string) => {
      const response = await patient.send(post({ key: own }));
      return response.status < 500 && response.status !== 409 ? await response.text() : '';
    };
    // Until the driver has connected again, and freed what it had claimed meanwhile.
    await expect.poll(() => send(key)).toBe('a lamp: order 1');
    await expect.poll(() => send('"b"')).toBe('a lamp: order 2');
    expect(shop.runs + patient.runs).toBe(2);
    expect(errors.length).toBeGreaterThanOrEqual(2);
    expect(await rig.ledger.orders()).toEqual(['a lamp', 'a lamp']);
  });
});
