import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalise, fingerprintOf } from '../../../src/core/lib/fingerprint.ts';
import { toKept } from '../../../src/core/form/payload.ts';

const print = fingerprintOf;
const form = (...entries: readonly [string, string | File][]): FormData => {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
};
const file = (content: string, lastModified = 1, name = 'a.txt', type = 'text/plain'): File =>
  new File([content], name, { lastModified, type });

/** Payloads that all differ from each other. */
const different: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  'the text null': () => 'null',
  zero: () => 0,
  'the text 0': () => '0',
  'a bigint': () => 0n,
  'not a number': () => Number.NaN,
  'an empty list': () => [],
  'a list of an empty list': () => [[]],
  'a list of a text with a comma': () => ['a,b'],
  'a list of two texts': () => ['a', 'b'],
  'the two in another order': () => ['b', 'a'],
  'an empty object': () => ({}),
  'an object': () => ({ a: 1 }),
  'the same with null': () => ({ a: null }),
  'its entries': () => [['a', 1]],
  'a Map': () => new Map([['a', 1]]),
  'a Map with an object for a key': () => new Map([[{ a: 1 }, 1]]),
  'a Set': () => new Set(['a', 1]),
  'a Date': () => new Date(0),
  'its text': () => new Date(0).toJSON(),
  'no date at all': () => new Date(Number.NaN),
  'a URL': () => new URL('http://localhost/a'),
  parameters: () => new URLSearchParams('a=1&b=2'),
  'parameters in another order': () => new URLSearchParams('b=2&a=1'),
  'a form': () => form(['a', '1'], ['b', '2']),
  'a form in another order': () => form(['b', '2'], ['a', '1']),
  'a form with a file': () => form(['a', file('one')]),
  'a form with another content of the file': () => form(['a', file('two')]),
  'a form with another name of the file': () => form(['a', file('one', 1, 'b.txt')]),
  'a form with another type of the file': () => form(['a', file('one', 1, 'a.txt', 'text/html')]),
  'a file': () => file('one'),
  'a file of another time': () => file('one', 2),
  'a Blob': () => new Blob(['one'], { type: 'text/plain' }),
  'two Blobs, cut otherwise': () => [new Blob(['o']), new Blob(['ne'])],
  'two Blobs': () => [new Blob(['on']), new Blob(['e'])],
  'a Blob and an empty one': () => [new Blob(['one']), new Blob()],
  'an empty one and a Blob': () => [new Blob(), new Blob(['one'])],
  bytes: () => new Uint8Array([1, 2]),
  'other bytes': () => new Uint8Array([2, 1]),
  'wider bytes': () => new Uint16Array([513]),
  'a buffer': () => new Uint8Array([1, 2]).buffer,
};

describe('a payload is known by its content', () => {
  test('different ones have different fingerprints', async () => {
    const prints = await Promise.all(Object.values(different).map((make) => print(make())));
    const names = Object.keys(different);
    const twins = prints.flatMap((one, index) =>
      prints.indexOf(one) < index ? [`${names[prints.indexOf(one)]} = ${names[index]}`] : [],
    );
    expect(twins).toEqual([]);
    expect(prints.every((one) => /^[\da-f]{32}$/.test(one))).toBe(true);
  });

  test.each(Object.entries(different))('%s has the same one each time', async (_, make) => {
    expect(await print(make())).toBe(await print(make()));
  });

  test('the order of keys does not matter, nor does a key without a value', async () => {
    expect(await print({ a: 1, b: { c: 2, d: 3 } })).toBe(
      await print({ b: { d: 3, c: 2, e: undefined }, a: 1 }),
    );
  });

  test('in a form, the time of a file does not matter: that of an empty input is the time of the press', async () => {
    expect(await print(form(['a', file('', 1, '')]))).toBe(
      await print(form(['a', file('', 2, '')])),
    );
  });

  test('a file of several pieces is read to its end', async () => {
    const large = (end: string): Blob => new Blob([new Uint8Array(2_500_000), end]);
    expect(await print(large('a'))).not.toBe(await print(large('b')));
    expect(await print(large('a'))).toBe(await print(large('a')));
    const zeros = (count: number): Blob => new Blob([new Uint8Array(count)]);
    expect(await print([zeros(1), zeros(2)])).not.toBe(await print([zeros(2), zeros(1)]));
  });

  test('what stands in two places is no cycle', async () => {
    const shared = { a: 1 };
    expect(await print([shared, shared])).toBe(await print([{ a: 1 }, { a: 1 }]));
  });

  test('an object that says what it is, is that', async () => {
    const money = (amount: string) =>
      new (class Money {
        toJSON = () => amount;
      })();
    expect(await print(money('1'))).toBe(await print(money('1')));
    expect(await print(money('1'))).not.toBe(await print(money('2')));
  });

  test('two JSON values have one fingerprint where they are written alike, and only there', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (one, other) => {
        const copy: unknown = JSON.parse(JSON.stringify(one));
        expect(canonicalise(copy)).toEqual(canonicalise(one));
        const isSame = canonicalise(one).text === canonicalise(other).text;
        expect((await print(one)) === (await print(other))).toBe(isSame);
      }),
    );
  });
});

describe('what has no content to be known by is refused, with its place', () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  test.each([
    ['variables.self', 'a part of itself', cyclic],
    ['variables.a[1]', 'function', { a: [1, () => {}] }],
    ['variables', 'symbol', Symbol('a')],
    ['variables.event', 'Event', { event: new Event('click') }],
    ['variables', 'Promise', Promise.resolve()],
    [
      'variables',
      'Order',
      new (class Order {
        readonly sku = 'kite';
      })(),
    ],
    ['variables', 'WeakMap', new WeakMap()],
  ])('%s: %s', async (place, what, payload) => {
    await expect(print(payload)).rejects.toThrow(
      `useSafeSubmit: ${place} is '${what}', and must be something that has content of its own: JSON, FormData, ` +
        'File, Blob, Date, Map, Set, bigint, bytes, or an object with toJSON.',
    );
    await expect(print(payload)).rejects.toBeInstanceOf(TypeError);
  });
});

describe('a payload that is kept over a reload', () => {
  test('comes back as it was', () => {
    const order = { sku: 'kite', count: 2, gift: undefined, lines: [{ id: 1 }, null] };
    expect(toKept(order)).toEqual({ sku: 'kite', count: 2, lines: [{ id: 1 }, null] });
  });

  test.each([
    [new Date(0)],
    [{ at: new Date(0) }],
    [1n],
    [form(['a', '1'])],
    [undefined],
    [[undefined]],
    [Number.NaN],
  ])('is refused where it would not (%#)', (payload) => {
    expect(() => toKept(payload)).toThrow(
      'useSafeSubmit: keepPayload is true, and must be left out, because this payload is not JSON',
    );
  });
});
