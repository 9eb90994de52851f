import { type Claim, memoryStore } from 'steadfetch/server';
import { describe, expect, test } from 'vitest';

const claimOf = (id: string, nowMs: number): Claim => ({
  id,
  fingerprint: 'f',
  token: `${id} ${nowMs}`,
  nowMs,
  leaseMs: 10,
  lifetimeMs: 100,
});
const answer = { status: 200, headers: [], body: new Uint8Array() };

test('as many keys as it may have are those of one lifetime: expired ones take no room', async () => {
  const kinds = async (maxKeys: number, untilMs: number) => {
    const store = memoryStore({ maxKeys });
    const seen = new Set<string>();
    for (let nowMs = 0; nowMs < untilMs; nowMs++) {
      const claim = claimOf(`${nowMs}`, nowMs);
      const { kind } = await store.claim(claim);
      seen.add(kind);
      if (kind === 'claimed') await store.run(claim, async () => answer);
    }
    return [...seen];
  };
  expect(await kinds(100, 10_000)).toEqual(['claimed']);
  expect(await kinds(99, 99)).toEqual(['claimed']);
  expect(await kinds(99, 100)).toEqual(['claimed', 'full']);
});

test('a key has two bytes for each of its characters, and of those of its fingerprint', async () => {
  const kinds = async (maxBytes: number) => {
    const store = memoryStore({ maxBytes });
    // 2 * (5 + 1) = 12 bytes each.
    const claims = ['one__', 'two__', 'three'].map(async (id) => store.claim(claimOf(id, 0)));
    return (await Promise.all(claims)).map(({ kind }) => kind);
  };
  expect(await kinds(12)).toEqual(['claimed', 'full', 'full']);
  expect(await kinds(24)).toEqual(['claimed', 'claimed', 'full']);
  expect(await kinds(25)).toEqual(['claimed', 'claimed', 'claimed']);
});

test('a key that is used again after its lifetime takes its room once', async () => {
  // 2 * (1 + 1) bytes, and 6 of the answer.
  const store = memoryStore({ maxBytes: 11 });
  for (let turn = 0; turn < 5; turn++) {
    const claim = claimOf('a', 100 * turn);
    expect(await store.claim(claim)).toEqual({ kind: 'claimed' });
    await store.run(claim, async () => ({ ...answer, body: new Uint8Array(6) }));
  }
  expect(await store.claim(claimOf('b', 499))).toEqual({ kind: 'claimed' });
  expect(await store.claim(claimOf('c', 499))).toEqual({ kind: 'full' });
});

test('it keeps no more bytes than it may: beyond them, new keys are refused until old ones expire', async () => {
  const store = memoryStore({ maxBytes: 1000 });
  const large = { status: 200, headers: [['a', 'b']], body: new Uint8Array(990) } as const;
  const keep = async (id: string, nowMs: number, body = large) => {
    const { kind } = await store.claim(claimOf(id, nowMs));
    if (kind === 'claimed') await store.run(claimOf(id, nowMs), async () => body);
    return kind;
  };
  expect(await keep('a', 0)).toBe('claimed');
  expect(await keep('a', 1)).toBe('answered');
  // 990 of the body, 4 each of id and fingerprint and of the header: 998.
  expect(await keep('b', 1, { ...large, body: new Uint8Array(0) })).toBe('claimed');
  expect(await keep('c', 1)).toBe('full');
  expect(await keep('a', 99)).toBe('answered');
  expect(await keep('c', 100)).toBe('claimed');
  expect(await keep('d', 100)).toBe('full');
  expect(await keep('c', 200)).toBe('claimed');
});

test('what failed takes no room', async () => {
  const store = memoryStore({ maxBytes: 10 });
  for (let index = 0; index < 9; index++) {
    const claim = claimOf(`${index}`, 0);
    expect(await store.claim(claim)).toEqual({ kind: 'claimed' });
    await store.run(claim, async () => undefined);
  }
});

test('a claim that runs is never given away: who holds it is alive', async () => {
  const store = memoryStore();
  const claim = claimOf('a', 0);
  await store.claim(claim);
  let finish = (): void => {};
  const run = store.run(claim, async () => {
    await new Promise<void>((resolve) => (finish = resolve));
    return answer;
  });
  // After its lease, and after its lifetime.
  for (let index = 0; index < 20; index++) await store.claim(claimOf(`b${index}`, 1000));
  expect(await store.claim(claimOf('a', 1000))).toEqual({ kind: 'running', fingerprint: 'f' });
  finish();
  expect(await run).toBe(true);
});

test('the effects of a transaction are done when its answer is kept, in their order', async () => {
  const store = memoryStore();
  const effects: string[] = [];
  const claim = claimOf('a', 0);
  await store.claim(claim);
  await store.run(claim, async (tx) => {
    tx.onCommit(() => effects.push('one'));
    tx.onCommit(() => effects.push('two'));
    await Promise.resolve();
    expect(effects).toEqual([]);
    return answer;
  });
  expect(effects).toEqual(['one', 'two']);
});

describe('an effect that throws', () => {
  const run = async (effects: readonly string[]) => {
    const store = memoryStore();
    const claim = claimOf('a', 0);
    await store.claim(claim);
    const done: string[] = [];
    const running = async () =>
      store.run(claim, async (tx) => {
        for (const effect of effects)
          tx.onCommit(() => {
            if (effect === 'throws') throw new Error('disk');
            done.push(effect);
          });
        return answer;
      });
    await expect(running()).rejects.toThrow('disk');
    return { done, next: await store.claim(claim) };
  };

  test('before all others lets the next attempt run', async () => {
    expect(await run(['throws', 'one'])).toEqual({ done: [], next: { kind: 'claimed' } });
  });

  test('after another one is a 500 for ever: that one must not be done twice', async () => {
    const { done, next } = await run(['one', 'throws', 'two']);
    expect(done).toEqual(['one']);
    expect(next).toMatchObject({ kind: 'answered', answer: { status: 500 } });
  });
});
