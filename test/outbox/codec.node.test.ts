import { describe, expect, test } from 'vitest';
import { createCodec, type OutboxCipher } from '../../src/outbox/codec.ts';
import { createVirtualClock } from '../core/origin/virtual-clock.ts';

/** As the disk does. */
const store = (value: unknown): unknown => structuredClone(value);
const plain = createCodec(undefined, createVirtualClock());
const there = async (value: unknown, codec = plain): Promise<unknown> =>
  codec.decode(store(await codec.encode('outbox', value)));

describe('values come back as they were', () => {
  test.each([
    ['text', 'lamp'],
    ['nothing', undefined],
    ['null', null],
    ['a number', Number.NaN],
    ['a Date', new Date(5)],
    ['a Map', new Map([['a', new Set([1])]])],
    ['bytes', new Uint8Array([1, 2])],
    ['an object', { a: [1, { b: 2n }] }],
  ])('%s', async (_, value) => {
    expect(await there(value)).toEqual(value);
  });

  test('a FormData with its files, in order, also within an object', async () => {
    const form = new FormData();
    form.append('note', 'first');
    form.append('file', new File(['bytes'], 'a.txt', { type: 'text/plain' }));
    form.append('note', 'second');
    const { order, forms } = (await there({ order: 7, forms: [form] })) as {
      order: number;
      forms: FormData[];
    };
    expect(order).toBe(7);
    const [back] = forms;
    expect(back).toBeInstanceOf(FormData);
    expect([...(back?.keys() ?? [])]).toEqual(['note', 'file', 'note']);
    expect(back?.getAll('note')).toEqual(['first', 'second']);
    const file = back?.get('file') as File;
    expect([file.name, file.type, await file.text()]).toEqual(['a.txt', 'text/plain', 'bytes']);
  });

  test('a FormData and a URLSearchParams by themselves', async () => {
    const form = new FormData();
    form.append('a', '1');
    expect([...((await there(form)) as FormData)]).toEqual([['a', '1']]);
    const query = new URLSearchParams('a=1&a=2');
    expect(String(await there(query))).toBe('a=1&a=2');
  });

  test('an object that refers to itself', async () => {
    const value: Record<string, unknown> = { name: 'loop' };
    value['self'] = value;
    const back = (await there(value)) as Record<string, unknown>;
    expect(back['self']).toBe(back);
  });
});

test('what is called __proto__ is nothing but data', async () => {
  const value = JSON.parse('{"__proto__": {"isAdmin": true}, "a": 1}') as object;
  const back = (await there(value)) as Record<string, unknown>;
  expect(back['isAdmin']).toBeUndefined();
  expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
  expect(Object.entries(back)).toEqual([
    ['__proto__', { isAdmin: true }],
    ['a', 1],
  ]);
});

test('variables are taken as they are when they are submitted', async () => {
  const variables = { lines: [{ count: 1 }] };
  const closing = plain.encode('outbox', variables);
  variables.lines[0] = { count: 2 };
  expect(await plain.decode(await closing)).toEqual({ lines: [{ count: 1 }] });
});

/** As a library for money or time has them. */
class Money {
  readonly cents = 99;
  toJSON(): string {
    return '0.99 EUR';
  }
}

test.each([
  [{ lines: [{ price: new Money() }] }, "variables.lines.0.price is 'Money'"],
  [{ card: '4711', lines: [{ onDone: () => {} }] }, "variables.lines.0.onDone is 'Function'"],
  [new Request('https://api.example'), "variables is 'Request'"],
  [{ body: new ReadableStream() }, "variables.body is 'ReadableStream'"],
  [Symbol('s'), "variables is 'Symbol'"],
])(
  'what cannot be stored is refused at once, by its place and without its content',
  (value, what) => {
    const close = (): unknown => plain.encode(`outbox 'order'`, value);
    expect(close).toThrow(TypeError);
    expect(close).toThrow(`outbox 'order': ${what}, and must be something that can be stored: `);
  },
);

describe('with a cipher', () => {
  const cipher: OutboxCipher = {
    encrypt: async (value) => ({ hidden: btoa(JSON.stringify(value)) }),
    decrypt: async (sealed) => JSON.parse(atob((sealed as { hidden: string }).hidden)) as unknown,
  };

  test('nothing readable lies on the disk', async () => {
    const codec = createCodec(cipher, createVirtualClock());
    const sealed = await codec.encode('outbox', { card: '4711' });
    expect(JSON.stringify(sealed)).not.toContain('4711');
    expect(await there({ card: '4711' }, codec)).toEqual({ card: '4711' });
  });

  test('one that throws, at once or later, rejects', async () => {
    const thrower: OutboxCipher = {
      encrypt: () => {
        throw new Error('no key');
      },
      decrypt: () => {
        throw new Error('no key');
      },
    };
    const codec = createCodec(thrower, createVirtualClock());
    await expect(codec.encode('outbox', 1)).rejects.toThrow('no key');
    await expect(codec.decode({ 'steadfetch.sealed': 1 })).rejects.toThrow('no key');
  });

  test('one that never settles rejects after 30 s, and one that does leaves no timer', async () => {
    const clock = createVirtualClock();
    const never = (): Promise<never> => new Promise(() => {});
    const codec = createCodec({ encrypt: never, decrypt: never }, clock);
    const ends = [codec.encode('outbox', 1), codec.decode({ 'steadfetch.sealed': 1 })];
    clock.advance(30_000);
    await expect(ends[0]).rejects.toThrow('cipher.encrypt of the outbox has not settled for 30 s.');
    await expect(ends[1]).rejects.toThrow('cipher.decrypt of the outbox has not settled for 30 s.');
    await there(1, createCodec(cipher, clock));
    expect(clock.pending()).toBe(0);
  });
  test('leaves what was kept before there was one, and without one nothing sealed is taken for a value', async () => {
    const sealing = createCodec(cipher, createVirtualClock());
    const order = { card: '4711' };
    expect(await sealing.decode(await plain.encode('outbox', order))).toEqual(order);
    await expect(plain.decode(await sealing.encode('outbox', order))).rejects.toThrow(
      'It is encrypted, and this outbox has no cipher.',
    );
  });
});
