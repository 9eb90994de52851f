import { describe, expect, test } from 'vitest';
import { Submission } from '../../../../src/core/operation/parts/submission.ts';
import { Effects } from '../../../../src/core/operation/parts/effects.ts';

const orders = 'POST /orders';
const post = { method: 'POST' };
const keyed = (key: string) => ({
  ...post,
  step: { id: '', target: orders, key, attempt: 1 },
});

function open(wasSent = false): Effects {
  return new Effects(new Submission({ key: 'k', createdAt: 0, wasSent }));
}

describe('is the outcome unknown', () => {
  test('not by reads, which may have reached the server all the same', () => {
    const effects = open();
    expect(effects.wasSent()).toBe(false);
    const read = effects.begin({ method: 'GET' }, 'GET /orders', true);
    effects.resolve(read, 'unknown');
    expect(effects.isUnknown()).toBe(false);
    expect(effects.wasSent()).toBe(true);
  });

  test('not by reads that were answered', () => {
    const effects = open();
    effects.resolve(effects.begin({ method: 'GET' }, 'GET /orders', true), 'yes');
    expect(effects.wasSent()).toBe(false);
  });

  test('while a write is under way, and after it unless it was surely not done', () => {
    const effects = open();
    const effect = effects.begin(post, orders, false);
    expect(effects.isUnknown()).toBe(true);
    expect(effects.isUnknown(effect)).toBe(false);
    effects.resolve(effect, 'no');
    expect(effects.isUnknown()).toBe(false);
  });

  test.each(['yes', 'unknown'] as const)('after a write that was processed: %s', (processed) => {
    const effects = open();
    const effect = effects.begin(post, orders, false);
    effects.resolve(effect, processed);
    expect(effects.isUnknown()).toBe(true);
  });

  test('not by what only reads', () => {
    const effects = open();
    const effect = effects.begin({ method: 'GET' }, 'GET /orders', true);
    expect(effects.isUnknown()).toBe(false);
    effects.resolve(effect, 'yes');
    expect(effects.isUnknown()).toBe(false);
  });

  test('after an attempt of another client, and where an operation before may have sent it', () => {
    const effects = open();
    effects.beginForeign(true);
    expect(effects.isUnknown()).toBe(true);
    expect(open(true).isUnknown()).toBe(true);
    expect(open(true).hasAny()).toBe(false);
  });
});

describe('may this request have been done', () => {
  test('without a key: by an attempt that has ended, with the same method and URL', () => {
    const effects = open();
    const asked = { request: 'DELETE /orders/1', key: undefined };
    const effect = effects.begin({ method: 'DELETE' }, asked.request, true);
    expect(effects.mayBeDone(asked)).toBe(false);
    effects.resolve(effect, 'unknown');
    expect(effects.mayBeDone(asked)).toBe(true);
    expect(effects.mayBeDone(asked, effect)).toBe(false);
    expect(effects.mayBeDone({ ...asked, request: 'DELETE /orders/2' })).toBe(false);
  });

  test('with a key: by any other attempt with that key, also one under way', () => {
    const effects = open();
    const effect = effects.begin(keyed('a'), orders, true);
    expect(effects.mayBeDone({ request: orders, key: 'a' })).toBe(true);
    expect(effects.mayBeDone({ request: orders, key: 'a' }, effect)).toBe(false);
    expect(effects.mayBeDone({ request: orders, key: 'b' })).toBe(false);
  });

  test('not once its API has refused the key: of all attempts with it, only its own is left', () => {
    const effects = open();
    const first = effects.begin(keyed('a'), orders, true);
    effects.resolve(first, 'unknown');
    const own = effects.begin(keyed('a'), orders, true);
    effects.begin(keyed('b'), orders, true);
    effects.refuse(own);
    expect(effects.mayBeDone({ request: orders, key: 'a' }, own)).toBe(false);
    expect(effects.mayBeDone({ request: orders, key: 'b' })).toBe(true);
  });
});

describe('would another attempt do something twice', () => {
  test('where a request without a key may have taken effect, until it was decided to send it again', () => {
    const effects = open();
    effects.begin(keyed('a'), orders, true);
    expect(effects.isUnrepeatable()).toBe(false);
    const effect = effects.begin(post, orders, false);
    expect(effects.isUnrepeatable()).toBe(true);
    effect.allowRepeat();
    expect(effects.isUnrepeatable()).toBe(false);
  });
});
