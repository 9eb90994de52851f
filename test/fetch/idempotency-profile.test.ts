import { createSteadfetch, type IdempotencyProfile, idempotencyProfiles } from 'steadfetch';
import { expect, test } from 'vitest';
import { origin } from './fake-server.ts';

const header = 'Idempotency-Key';

test.each<[object, string]>([
  [{}, 'idempotency.header is undefined, and must be the name of a header.'],
  [{ header: 'a b' }, "idempotency.header is 'a b'"],
  [{ header: '' }, "idempotency.header is ''"],
  [{ body: '' }, "idempotency.body is '', and must be the name of a field."],
  [
    { body: 'k', header },
    "idempotency.header is 'Idempotency-Key', and must be left out, because the key is in the body.",
  ],
  [{ header, format: 'quoted' }, "idempotency.format is 'quoted', and must be structured or raw."],
  [
    { header, maxLength: 0 },
    'idempotency.maxLength is 0, and must be a number from 1 to Infinity.',
  ],
  [{ header, maxLength: '36' }, "idempotency.maxLength is '36'"],
  [
    { header, lifetimeMs: Number.NaN },
    'idempotency.lifetimeMs is NaN, and must be a number from 1 to Infinity.',
  ],
  [{ header, lifetimeMs: -1 }, 'idempotency.lifetimeMs is -1'],
  [{ header, inProgress: 409 }, 'idempotency.inProgress is 409, and must be a function.'],
  [{ header, alreadyDone: true }, 'idempotency.alreadyDone is true'],
  [{ header, shouldRetry: false }, 'idempotency.shouldRetry is false'],
])('%j is refused when the instance is made: %s', (idempotency, message) => {
  const apis = [
    { match: origin },
    { match: origin, idempotency: idempotency as IdempotencyProfile },
  ];
  expect(() => createSteadfetch({ apis })).toThrow(TypeError);
  expect(() => createSteadfetch({ apis })).toThrow(`createSteadfetch: apis[1]: ${message}`);
});

test('the ready ones are right, and cannot be changed for everybody', () => {
  const apis = Object.values(idempotencyProfiles).map((idempotency) => ({
    match: origin,
    idempotency,
  }));
  expect(() => createSteadfetch({ apis })).not.toThrow();
  expect(Object.isFrozen(idempotencyProfiles)).toBe(true);
  expect(apis.every(({ idempotency }) => Object.isFrozen(idempotency))).toBe(true);
  expect(idempotencyProfiles).toMatchObject({
    draft: { header, format: 'structured' },
    stripe: { header, format: 'raw', maxLength: 255, lifetimeMs: 86_400_000 },
    payPal: { header: 'PayPal-Request-Id', format: 'raw', lifetimeMs: 21_600_000 },
    adyen: { header, format: 'raw', maxLength: 64, lifetimeMs: 604_800_000 },
    square: { body: 'idempotency_key', maxLength: 45, lifetimeMs: 86_400_000 },
  });
});
