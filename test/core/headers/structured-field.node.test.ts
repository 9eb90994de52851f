import { describe, expect, test } from 'vitest';
import { readListItems, readStringItem } from '../../../src/core/headers/structured-field.ts';

const last = ['"z"', { r: 1 }];

/** The list with a good item after what is tested: it is read if and only if all is well-formed. */
const read = (member: string) => readListItems(`${member}, "z";r=1`);

/** Values of every type of RFC 9651. */
const values = [
  '""',
  '"a, b;r=0 (c) :"',
  '"\\"\\\\"',
  'token',
  '*',
  "aZ0!#$%&'*+-.^_`|~:/",
  '0',
  '-42',
  '007',
  '-999999999999999',
  '1.5',
  '-0.125',
  '999999999999.999',
  '?0',
  '?1',
  '::',
  ':aGVsbG8=:',
  ':/+A=:',
  '@0',
  '@-62135596800',
  '%""',
  '%"!"',
  '%"f%c3%bc, \\;r=0"',
];

describe.each(values)('the valid value %s', (value) => {
  test('is an item', () => {
    expect(read(value)).toEqual([[value, {}], last]);
  });

  test('is a value of a parameter, and leaves the others alone', () => {
    const [item] = read(`a;r=3;x-1=${value};t=4`);
    expect(item?.[1]).toMatchObject({ r: 3, t: 4 });
  });

  test('passes within an Inner List', () => {
    expect(read(`(${value});r=0`)).toEqual([last]);
    expect(read(`( a  ${value};k;  *k=${value}   ${value} ) ;r=0`.replace(' ;', ';'))).toEqual([
      last,
    ]);
  });
});

describe.each([
  '"',
  '"a',
  '"\\a"',
  '"\t"',
  '"\u00FC"',
  "'a'",
  '-',
  '--1',
  '1.',
  '.1',
  '1.2.3',
  '1.1234',
  '1234567890123456',
  '1234567890123.1',
  '?',
  '?2',
  '?true',
  ':',
  ':a',
  ':a b:',
  ':a.:',
  '@',
  '@1.5',
  '@a',
  '%a',
  '%"a',
  '%"\u00FC"',
  'a"',
  'a=1',
  '-token',
])('the invalid value %s', (value) => {
  test('fails the list wherever it stands', () => {
    expect(read(value)).toEqual([]);
    expect(readListItems(`"z";r=1, ${value}`)).toEqual([]);
    expect(read(`a;b=${value}`)).toEqual([]);
    expect(read(`(${value})`)).toEqual([]);
    expect(read(`(a;b=${value})`)).toEqual([]);
  });
});

describe('lists', () => {
  test.each([
    ['a,b', ['a', 'b']],
    ['a \t,\t b', ['a', 'b']],
    ['  a  ', ['a']],
    ['a\t', ['a']],
    ['(), a', ['a']],
    ['( ), (b  c), a', ['a']],
    ['', []],
    ['   ', []],
  ])('%j', (field, members) => {
    expect(readListItems(field).map(([value]) => value)).toEqual(members);
  });

  test.each([
    ',',
    'a,',
    'a, ',
    ',a',
    'a,,b',
    'a;',
    ';a',
    'a;b;',
    'a ;b',
    'a;b =1',
    'a;b= 1',
    'a b',
  ])('%j is malformed', (field) => {
    expect(readListItems(field)).toEqual([]);
  });

  test.each([
    'a;\tb',
    'a;B',
    'a;-b',
    'a;1',
    'a;=1',
    '(a',
    'a)',
    '((a))',
    '(a,b)',
    '(a"b")',
    '(a\tb)',
  ])('%j is malformed', (field) => {
    expect(readListItems(field)).toEqual([]);
    expect(read(field)).toEqual([]);
  });

  test('only blanks may follow the last member', () => {
    expect(readListItems('a\u00A0')).toEqual([]);
    expect(readListItems('a\n')).toEqual([]);
  });

  test('an absent field has no items', () => {
    expect(readListItems(null)).toEqual([]);
    expect(readListItems(undefined)).toEqual([]);
  });
});

describe('parameters', () => {
  test('Integers from 0 up are read, all else is NaN', () => {
    expect(readListItems('a; r=007;  t=999999999999999;u;v=1.0;w="1";x=-1;y=@1;z=:MQ==:')).toEqual([
      ['a', { r: 7, t: 999_999_999_999_999, u: NaN, v: NaN, w: NaN, x: NaN, y: NaN, z: NaN }],
    ]);
  });

  test('the last of two with the same key counts', () => {
    expect(readListItems('a;r=1;r=2')).toEqual([['a', { r: 2 }]]);
    expect(readListItems('a;r=1;r')).toEqual([['a', { r: NaN }]]);
  });

  test('keys may have digits, and _ . - * within', () => {
    expect(readListItems('a;*0_.-*=1')).toEqual([['a', { '*0_.-*': 1 }]]);
  });

  test('those of an Inner List belong to no item', () => {
    expect(readListItems('a;r=1, (b;r=2);r=3, c')).toEqual([
      ['a', { r: 1 }],
      ['c', {}],
    ]);
  });
});

test('a field is read up to 16,384 characters, and no longer', () => {
  const [most, more] = [16_384, 16_385].map((length) => `"${'a'.repeat(length - 6)}";r=1`);
  expect(most).toHaveLength(16_384);
  expect(readListItems(most)).toHaveLength(1);
  expect(readListItems(more)).toEqual([]);
});

describe('one String', () => {
  test.each([
    ['"abc"', 'abc'],
    ['""', ''],
    ['  "a b"  ', 'a b'],
    ['"\\"\\\\"', '"\\'],
    ['"a, b"', 'a, b'],
    ['"a";v=1; w;x="y";z=:YQ==:', 'a'],
  ])('is read from %s', (field, text) => {
    expect(readStringItem(field)).toBe(text);
  });

  test.each([
    null,
    undefined,
    '',
    'abc',
    '"abc',
    'abc"',
    '"a"b',
    '"a\\b"',
    '"a", "b"',
    '"a",',
    '("a")',
    '"a";',
    '"a"; =1',
    '"a"; V=1',
    '"a" ;v=1',
    '"\u007f"',
    '"é"',
    '"a\tb"',
    '\t"a"',
    ':YQ==:',
    '%"a"',
    '1',
  ])('is not read from %s', (field) => {
    expect(readStringItem(field)).toBe(undefined);
  });

  test('is not read from what is longer than all headers may be, and soon given up', () => {
    expect(readStringItem(`"${'x'.repeat(16_382)}"`)?.length).toBe(16_382);
    expect(readStringItem(`"${'x'.repeat(16_383)}"`)).toBe(undefined);
    expect(readStringItem(`"${'\\"'.repeat(8000)}`)).toBe(undefined);
    expect(readStringItem(`""${';a=""'.repeat(3000)}!`)).toBe(undefined);
  });
});
