import { idempotent, memoryStore, sqliteStore } from 'steadfetch/server';
import { postgresStore } from 'steadfetch/server/postgres';
import { redisStore } from 'steadfetch/server/redis';
import { describe, expect, test } from 'vitest';
import { openOrders } from './rig.ts';

type Any = (...given: readonly unknown[]) => unknown;
const any = (given: unknown): Any => given as Any;

const store = memoryStore();
const whole = (least: number) => `a whole number from ${least} to 1000000000000`;

describe('idempotent', () => {
  test.each([
    [{ store: undefined }, 'store is undefined, and must be an IdempotencyStore'],
    [{ store: { claim: () => {} } }, 'store is {}, and must be an IdempotencyStore'],
    [{ store, lifetimeMs: 0 }, `lifetimeMs is 0, and must be ${whole(1)}.`],
    [{ store, lifetimeMs: Number.NaN }, `lifetimeMs is NaN, and must be ${whole(1)}.`],
    [{ store, lifetimeMs: Infinity }, `lifetimeMs is Infinity, and must be ${whole(1)}.`],
    [{ store, leaseMs: 1.5 }, `leaseMs is 1.5, and must be ${whole(1)}.`],
    [{ store, lifetimeMs: 10, leaseMs: 11 }, 'leaseMs is 11, and must be at most lifetimeMs, 10.'],
    [{ store, retryAfterSeconds: -1 }, `retryAfterSeconds is -1, and must be ${whole(0)}.`],
    [{ store, maxKeyLength: 0 }, `maxKeyLength is 0, and must be ${whole(1)}.`],
    [{ store, maxBodyBytes: '1' }, `maxBodyBytes is '1', and must be ${whole(0)}.`],
    [{ store, header: 'a b' }, "header is 'a b', and must be the name of a header."],
    [{ store, acceptRaw: 1 }, 'acceptRaw is 1, and must be true or false.'],
    [{ store, scope: 'user' }, "scope is 'user', and must be a function."],
    [{ store, fingerprint: 1 }, 'fingerprint is 1, and must be a function.'],
    [{ store, isFinal: true }, 'isFinal is true, and must be a function.'],
    [{ store, now: 5 }, 'now is 5, and must be a function.'],
    [{ store, documentationUrl: 'a>b' }, "documentationUrl is 'a>b', and must be a URL."],
    [{ store, ttl: 5 }, 'ttl is 5, and must be left out: the options are lifetimeMs, isFinal'],
  ])('refuses %j', (options, message) => {
    const create = () => idempotent(() => new Response(), options as never);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`idempotent: ${message}`);
  });

  test.each<[string, unknown, unknown, string]>([
    [
      'no handler',
      undefined,
      { store },
      'its first argument is undefined, and must be a function.',
    ],
    [
      'the options first',
      { store },
      () => new Response(),
      'its first argument is {"store":{}}, and must be a function.',
    ],
    [
      'no options',
      () => new Response(),
      undefined,
      'its second argument is undefined, and must be an object of options, with a store.',
    ],
  ])('refuses %s where it is called', (_name, handler, options, message) => {
    const create = () => idempotent(handler as never, options as never);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(`idempotent: ${message}`);
  });

  test('takes undefined for the default', async () => {
    const options = { store, lifetimeMs: undefined, header: undefined, now: undefined };
    const send = idempotent(() => new Response('fine'), options);
    const request = new Request('http://a.example/', { headers: { 'idempotency-key': '"a"' } });
    expect(await (await send(request)).text()).toBe('fine');
  });
});

test.each(['maxKeys', 'maxBytes'])('memoryStore refuses no room at all: %s', (option) => {
  expect(() => memoryStore({ [option]: 0 })).toThrow(
    `memoryStore: ${option} is 0, and must be ${whole(1)}.`,
  );
});

test('sqliteStore refuses the name of a table that would be more than a name', () => {
  expect(() => sqliteStore(openOrders(), { table: 'a; DROP TABLE orders' })).toThrow(
    "sqliteStore: table is 'a; DROP TABLE orders', and must be letters, digits and underscores.",
  );
});

test.each<readonly [message: string, create: () => unknown]>([
  ["sqliteStore: its first argument is 'shop.db', and", () => any(sqliteStore)('shop.db')],
  ['sqliteStore: its first argument is undefined, and', () => any(sqliteStore)()],
  ['sqliteStore: tableName is 1, and', () => any(sqliteStore)(openOrders(), { tableName: 1 })],
  ['memoryStore: ttl is 5, and must be left out', () => any(memoryStore)({ ttl: 5 })],
  ['memoryStore: its argument is 5, and', () => any(memoryStore)(5)],
  [
    "postgresStore: its first argument is 'postgres://', and",
    () => any(postgresStore)('postgres://'),
  ],
  ['postgresStore: its first argument is undefined, and', () => any(postgresStore)()],
  ["redisStore: client is 'redis://', and", () => any(redisStore)('redis://')],
])('a store of what is no database is refused where it is made: %s', (message, create) => {
  expect(create).toThrow(TypeError);
  expect(create).toThrow(message);
});
