import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  ageOf,
  createIdempotencyKey,
  createSubmission,
  deriveKey,
  serializeKey,
  whyForgotten,
} from '../../../src/core/idempotency/key.ts';
import { type Clock, systemClock } from '../../../src/core/lib/clock.ts';

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const key = '8e03978e-40d5-43dd-bc93-6894a57f9324';

describe('a new key', () => {
  test('is a UUID of version 4, and each is another', () => {
    const keys = Array.from({ length: 1000 }, () => createIdempotencyKey());
    expect(keys.every((one) => uuid.test(one))).toBe(true);
    expect(new Set(keys).size).toBe(1000);
  });

  test('is what crypto.randomUUID says, asked as a method of crypto', () => {
    const source = {
      own: key,
      randomUUID(this: { own: string }) {
        return this.own;
      },
    };
    expect(createIdempotencyKey(source)).toBe(key);
  });

  test('comes from getRandomValues where a page is not secure', () => {
    const from = (word: number): string =>
      createIdempotencyKey({ getRandomValues: (words) => words.fill(word) });
    expect(from(0)).toBe('00000000-0000-4000-8000-000000000000');
    expect(from(0xffffffff)).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
    expect(from(0x89abcdef)).toBe('89abcdef-89ab-4def-89ab-cdef89abcdef');
  });

  test('is refused without strong randomness', () => {
    expect(() => createIdempotencyKey({})).toThrow(
      'An idempotency key needs crypto.randomUUID or crypto.getRandomValues.',
    );
    vi.stubGlobal('crypto', undefined);
    expect(() => createIdempotencyKey()).toThrow(
      'needs crypto.randomUUID or crypto.getRandomValues',
    );
    vi.unstubAllGlobals();
  });
});

describe('a derived key', () => {
  test('has this value, in every version: a form sent again after an update must meet its first', () => {
    expect(deriveKey(key, '#pay')).toBe('f690a33a-755c-4c95-887a-4af7ef912989');
    expect(deriveKey('order-17', '#pay')).toBe('30ad33eb-cee8-482b-a6b6-08985889e743');
  });

  const anyName = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.tuple(fc.webUrl(), fc.nat({ max: 9 })).map(([url, nth]) => `POST ${url} ${nth}`),
  );
  const anyKey = fc.oneof(fc.uuid({ version: 4 }), fc.string({ minLength: 1, maxLength: 40 }));

  test('is a UUID, and always the same (seed 17)', () => {
    fc.assert(
      fc.property(anyKey, anyName, (own, name) => {
        const derived = deriveKey(own, name);
        expect(derived).toMatch(uuid);
        expect(deriveKey(own, name)).toBe(derived);
      }),
      { seed: 17, numRuns: 2000 },
    );
  });

  test('is never that of another submission, another step, or the submission itself (seed 18)', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(anyKey, { minLength: 1, maxLength: 20 }),
        fc.uniqueArray(anyName, { minLength: 1, maxLength: 20 }),
        (keys, names) => {
          const all = keys.flatMap((own) => [own, ...names.map((name) => deriveKey(own, name))]);
          expect(new Set(all).size).toBe(all.length);
        },
      ),
      { seed: 18, numRuns: 500 },
    );
  });

  test('of names that differ in one place has nothing in common: half of the bits, on average', () => {
    const bits = (one: string): string =>
      [...one.replaceAll('-', '')]
        .map((hex) => Number.parseInt(hex, 16).toString(2).padStart(4, '0'))
        .join('');
    const counts = Array.from({ length: 128 }, () => 0);
    for (let nth = 0; nth < 4000; nth++) {
      const [one = '', other = ''] = [nth, nth + 1].map((n) =>
        bits(deriveKey(key, `POST /items ${n}`)),
      );
      for (const [at, bit] of [...one].entries())
        counts[at] = (counts[at] ?? 0) + Number(bit !== other[at]);
    }
    // Version and variant stay. The rest changes in 2000 of 4000 cases, within five sigma.
    const fixed = counts.filter((_, at) => [48, 49, 50, 51, 64, 65].includes(at));
    expect(fixed).toEqual([0, 0, 0, 0, 0, 0]);
    const free = counts.filter((_, at) => ![48, 49, 50, 51, 64, 65].includes(at));
    expect(Math.min(...free)).toBeGreaterThan(2000 - 158);
    expect(Math.max(...free)).toBeLessThan(2000 + 158);
  });
});

/** A clock that was set back by so much; `undefined`: one that cannot be set back. */
const clockAt = (nowMs: number, setBackMs?: number): Clock => ({
  ...systemClock,
  now: () => nowMs,
  ...(setBackMs !== undefined && { setBackMs: () => setBackMs }),
});

describe('a new submission', () => {
  test.each([
    ['is as old as it is', undefined, 1000, undefined],
    ['is as old as it is on a clock that was not set back', 0, 1000, undefined],
    ['knows the time on the wall, and how far its page is ahead of that', 300, 700, 300],
  ])('%s', (_, setBackMs, createdAt, aheadMs) => {
    const submission = createSubmission(clockAt(1000, setBackMs));
    expect(submission.key).toMatch(uuid);
    expect(submission).toMatchObject({ createdAt, aheadMs, wasSent: false, past: [] });
  });
});

describe('the age of a key', () => {
  test.each<[string, number | undefined, number | undefined, number]>([
    ['of a clock that cannot be set back', undefined, undefined, 400],
    ['of this page, which was set back before', 300, 300, 100],
    ['of this page, which was set back before and after', 300, 500, 100],
    ['of an earlier page, which was further ahead', 300, 299, 400],
  ])('%s', (_, aheadMs, setBackMs, ageMs) => {
    expect(ageOf({ createdAt: 600, aheadMs }, clockAt(1000, setBackMs))).toBe(ageMs);
  });

  test.each<[number, number, 'expired' | 'age-unknown' | undefined]>([
    [1000, 1000, undefined],
    [1001, 1000, 'expired'],
    [-60_000, 1000, undefined],
    [-60_001, 1000, 'age-unknown'],
    [1e15, Infinity, undefined],
    [-60_001, Infinity, undefined],
  ])('a key of %i ms whose API keeps it for %s ms: %s', (ageMs, lifetimeMs, why) => {
    expect(whyForgotten({ createdAt: -ageMs }, lifetimeMs, clockAt(0))).toBe(why);
  });
});

describe('on the wire', () => {
  test.each([
    [key, {}, `"${key}"`],
    [key, { format: 'structured' as const }, `"${key}"`],
    [key, { format: 'raw' as const }, key],
    ['a "b" \\c', {}, '"a \\"b\\" \\\\c"'],
    ['a "b" \\c', { format: 'raw' as const }, 'a "b" \\c'],
    [' ~', {}, '" ~"'],
    ['k', { format: 'raw' as const }, 'k'],
    // Without its dashes it has 32 characters, and is as unique.
    [key, { maxLength: 36 }, `"${key}"`],
    [key, { maxLength: 35 }, '"8e03978e40d543ddbc936894a57f9324"'],
    [key, { maxLength: 32 }, '"8e03978e40d543ddbc936894a57f9324"'],
    ['order-17', { maxLength: 8 }, '"order-17"'],
  ])('%s, %o: %s', (own, form, written) => {
    expect(serializeKey(own, form)).toBe(written);
  });

  test.each([
    ['', {}, "idempotencyKey is '', and must be ASCII characters from space to ~."],
    ['Ærø', {}, "is 'Ærø', and must be ASCII"],
    ['a\nb', {}, 'must be ASCII'],
    ['a\u007f', {}, 'must be ASCII'],
    [' a', { format: 'raw' as const }, 'with no space at its ends'],
    ['a ', { format: 'raw' as const }, 'with no space at its ends'],
    [key, { maxLength: 31 }, 'must be at most 31 of the ASCII characters'],
    ['order-17', { maxLength: 7 }, 'must be at most 7 of the'],
    // Only a UUID is as unique without its dashes.
    [`x${key}`, { maxLength: 36 }, 'must be at most 36 of the'],
    [`${key}x`, { maxLength: 36 }, 'must be at most 36 of the'],
  ])('%j, %o is refused: %s', (own, form, message) => {
    expect(() => serializeKey(own, form)).toThrow(TypeError);
    expect(() => serializeKey(own, form)).toThrow(message);
    expect(() => serializeKey(own, form)).toThrow(/^steady\.fetch: idempotencyKey is /);
  });
});
