import {
  createSteadfetch,
  defineIdempotency,
  type IdempotencyDeclaration,
  profiles,
} from 'steadfetch';
import { expect, test } from 'vitest';
import { origin } from '../fetch/fake-server.ts';

const header = 'Idempotency-Key';

test.each<[object, string]>([
  [{}, 'header is undefined, and must be the name of a header.'],
  [{ header: 'a b' }, "header is 'a b'"],
  [{ header: '' }, "header is ''"],
  [{ body: '' }, "body is '', and must be the name of a field."],
  [
    { body: 'k', header },
    "header is 'Idempotency-Key', and must be left out, because the key is in the body.",
  ],
  [{ header, format: 'quoted' }, "format is 'quoted', and must be structured or raw."],
  [{ header, maxLength: 0 }, 'maxLength is 0, and must be a number from 1 to Infinity.'],
  [{ header, maxLength: '36' }, "maxLength is '36'"],
  [
    { header, lifetimeMs: Number.NaN },
    'lifetimeMs is NaN, and must be a number from 1 to Infinity.',
  ],
  [{ header, lifetimeMs: -1 }, 'lifetimeMs is -1'],
  [{ header, inProgress: 409 }, 'inProgress is 409, and must be a function.'],
  [{ header, alreadyDone: true }, 'alreadyDone is true'],
  [{ header, shouldRetry: false }, 'shouldRetry is false'],
  [{ header, key: 'x' }, "key is 'x', and must be left out: the options are header, body, format,"],
  [{ key: 'x' }, 'did you mean header?'],
  [{ header, ttlMs: 1 }, 'did you mean lifetimeMs?'],
  [{ header, timeoutMs: 1 }, 'did you mean lifetimeMs?'],
])('%j is refused when it is declared: %s', (declaration, message) => {
  const declare = () => defineIdempotency(declaration as IdempotencyDeclaration);
  expect(declare).toThrow(TypeError);
  expect(declare).toThrow(/^defineIdempotency: /);
  expect(declare).toThrow(message);
});

test('the least length and the least lifetime are 1', () => {
  expect(defineIdempotency({ header, maxLength: 1, lifetimeMs: 1 })).toMatchObject({
    maxLength: 1,
    lifetimeMs: 1,
  });
});

test('the ready ones are right, and cannot be changed for everybody', () => {
  const apis = Object.values(profiles).map((idempotency) => ({
    match: origin,
    idempotency,
  }));
  expect(() => createSteadfetch({ apis })).not.toThrow();
  expect(Object.isFrozen(profiles)).toBe(true);
  expect(apis.every(({ idempotency }) => Object.isFrozen(idempotency))).toBe(true);
  expect(profiles).toMatchObject({
    draft: { header, format: 'structured' },
    stripe: { header, format: 'raw', maxLength: 255, lifetimeMs: 86_400_000 },
    payPal: { header: 'PayPal-Request-Id', format: 'raw', lifetimeMs: 21_600_000 },
    adyen: { header, format: 'raw', maxLength: 64, lifetimeMs: 604_800_000 },
    square: {
      body: 'idempotency_key',
      maxLength: 45,
      lifetimeMs: 86_400_000,
      refusalIsStored: true,
    },
    monday: { header, format: 'raw', lifetimeMs: 1_800_000 },
    shopify: { body: 'variables.idempotencyKey', lifetimeMs: 86_400_000 },
  });
});
