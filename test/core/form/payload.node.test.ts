import { describe, expect, test } from 'vitest';
import { fingerprintOfPayload, toKept } from '../../../src/core/form/payload.ts';
import { fingerprintOf } from '../../../src/core/lib/fingerprint.ts';

const form = (...entries: readonly (readonly [string, string])[]): FormData => {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
};

class Order {
  readonly token = 'x';
  toJSON(): object {
    return { token: this.token };
  }
}

describe('a payload is known without its fields that are used up', () => {
  test.each<[string, unknown, readonly string[], unknown]>([
    ['an object', { sku: 1, token: 'x' }, ['token'], { sku: 1 }],
    [
      'an object without a prototype',
      Object.assign(Object.create(null) as object, { sku: 1, token: 'x' }),
      ['token'],
      { sku: 1 },
    ],
    ['a form', form(['sku', '1'], ['token', 'x']), ['token'], form(['sku', '1'])],
    ['where none is used up', { token: 'x' }, [], { token: 'x' }],
    ['a list', [{ token: 'x' }], ['0', 'token'], [{ token: 'x' }]],
    ['an object of a class', new Order(), ['token'], new Order()],
    ['text', 'token', ['0', 'token'], 'token'],
    ['nothing', null, ['token'], null],
    ['undefined', undefined, ['token'], undefined],
  ])('%s', async (_, payload, fresh, known) => {
    expect(await fingerprintOfPayload(payload, fresh)).toBe(await fingerprintOf(known));
  });
});

describe('a payload is kept as JSON', () => {
  test.each<[unknown, unknown]>([
    [{ sku: 'kite', note: undefined }, { sku: 'kite' }],
    [
      [1, null, 'a'],
      [1, null, 'a'],
    ],
    ['text', 'text'],
  ])('%j comes back as %j', (payload, kept) => {
    expect(toKept(payload)).toEqual(kept);
  });

  test.each<[string, unknown]>([
    ['a Date', { at: new Date(0) }],
    ['a Map', new Map([['a', 1]])],
    ['a form', form(['a', '1'])],
    ['a big number', { n: 1n }],
    ['nothing', undefined],
  ])('%s would come back as another, and is refused', (_, payload) => {
    expect(() => toKept(payload)).toThrow(
      new TypeError(
        'useSafeSubmit: keepPayload is true, and must be left out, because this payload is not JSON: after a reload it would be another.',
      ),
    );
  });
});
