import { describe, expect, test } from 'vitest';
import { createShop, post, stores, told } from './rig.ts';

const [, createMemory] = stores[0] as (typeof stores)[number];
const key = '"8e03978e"';
const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.c2ln';

describe('a scope that is a credential is an error at the request, and nothing is done', () => {
  test.each([
    ['the Authorization header', { authorization: 'Custom 77' }, 'Custom 77'],
    ['the token in it', { authorization: 'Bearer 8f3a' }, '8f3a'],
    ['the Cookie header', { cookie: 'session=8f3a' }, 'session=8f3a'],
    ['a bearer token from elsewhere', {}, 'bearer 8f3a'],
    ['a JSON Web Token from elsewhere', {}, jwt],
  ])('%s', async (_, headers, owner) => {
    const shop = createShop(createMemory(), { scope: () => owner });
    await expect(shop.send(post({ key, headers }))).rejects.toThrow(
      new TypeError(
        'idempotent: scope is a credential (a token, or the Authorization or Cookie header), and must be ' +
          'the id of the user. A token that is renewed between two attempts makes two orders of one.',
      ),
    );
    expect(shop.runs).toBe(0);
  });
});

test.each([[''], [undefined], [null], [17]])('a scope of %j is an error, too', async (owner) => {
  const shop = createShop(createMemory(), { scope: () => owner as string });
  await expect(shop.send(post({ key }))).rejects.toThrow(
    'idempotent: scope is no text, or an empty one',
  );
  expect(shop.runs).toBe(0);
});

test.each(['ann', 'ann@shop.example', '8e03978e-40d5-43dd-bc93-6894a57f9324', 'a.b.c', 'user 17'])(
  'the id of a user is none: %s',
  async (owner) => {
    const shop = createShop(createMemory(), { scope: async () => owner });
    const headers = { authorization: `Bearer ${jwt}`, cookie: 'theme=dark' };
    expect(await told(shop.send(post({ key, headers })))).toBe('201 a lamp: order 1');
  },
);

test('a token that is renewed between two attempts makes no second order', async () => {
  const userOf = new Map([
    ['Bearer 1', 'ann'],
    ['Bearer 2', 'ann'],
  ]);
  const scope = ({ headers }: Request) => userOf.get(headers.get('authorization') ?? '') ?? '';
  const shop = createShop(createMemory(), { scope });
  const send = (authorization: string) => shop.send(post({ key, headers: { authorization } }));
  expect(await told(send('Bearer 1'))).toBe('201 a lamp: order 1');
  expect(await told(send('Bearer 2'))).toBe('201 a lamp: order 1');
});
