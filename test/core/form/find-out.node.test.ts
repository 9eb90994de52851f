import { describe, expect, test, vi } from 'vitest';
import { findOut, watchSubmission } from '../../../src/core/form/find-out.ts';
import type { FormObserver } from '../../../src/core/form/observer.ts';
import type { UnknownSubmission } from '../../../src/core/form/safe-submit.ts';
import { createSteadfetch } from 'steadfetch';
import { instanceOfSteady } from '../../../src/core/react-query/instance.ts';
import { noOrigin } from '../../setup/no-origin.ts';
import { answer, fakeServer, origin } from '../fetch/fake-server.ts';
import { createVirtualClock, epochMs } from '../origin/virtual-clock.ts';

type Resolve = Parameters<typeof findOut>[1];

describe('the API is asked whether a submission was done', () => {
  const unknown = { idempotencyKey: 'k', variables: { sku: 1 } } as UnknownSubmission;
  const clock = createVirtualClock();
  const server = fakeServer(answer(200, '{"id":1}', { 'content-type': 'application/json' }));
  const steady = createSteadfetch({ ...noOrigin, fetch: server.fetch, clock });
  const instance = instanceOfSteady(steady, 'test');

  test.each<[string, unknown, object]>([
    ['done, with its data', { done: { id: 1 } }, { status: 'done', data: { id: 1 } }],
    ['done, without any', { done: undefined }, { status: 'done', data: undefined }],
    ['not done', 'not-done', { status: 'not-done' }],
    ['unknown', 'unknown', { status: 'unknown' }],
    ['of another kind', 'done', { status: 'unknown' }],
    ['an object of another kind', { id: 1 }, { status: 'unknown' }],
    ['nothing', undefined, { status: 'unknown' }],
    ['null', null, { status: 'unknown' }],
  ])('an answer that is %s', async (_, said, found) => {
    const resolve = vi.fn<Resolve>(async () => said as never);
    expect(await findOut(instance, resolve, unknown)).toEqual(found);
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(resolve.mock.lastCall?.[0]).toMatchObject({
      idempotencyKey: 'k',
      variables: { sku: 1 },
      fetch: instance.fetch,
    });
  });

  test('the json that it is given is that of the instance', async () => {
    const resolve: Resolve = async ({ json }) => ({ done: await json(origin) });
    expect(await findOut(instance, resolve, unknown)).toEqual({ status: 'done', data: { id: 1 } });
  });

  test.each<[string, Resolve]>([
    [
      'throws',
      () => {
        throw new Error('a mistake of the app');
      },
    ],
    ['rejects', () => Promise.reject(new Error('a mistake of the app'))],
  ])('where it %s, it is unknown', async (_, resolve) => {
    expect(await findOut(instance, resolve, unknown)).toEqual({ status: 'unknown' });
  });
});

describe('a submission is watched', () => {
  const known = { key: 'k1', createdAt: epochMs, fingerprint: 'a' };

  function watch(more: object, hasOutbox = true) {
    const clock = createVirtualClock();
    const expired = vi.fn<() => void>();
    const done = vi.fn<(data: unknown) => void>();
    const unfollow = vi.fn<() => void>();
    const follow = vi.fn<FormObserver['follow']>(() => (hasOutbox ? unfollow : undefined));
    const observer = { follow } as unknown as FormObserver;
    clock.advance(1000);
    const stop = watchSubmission({ ...known, ...more }, observer, clock, expired, done);
    return { clock, expired, done, follow, unfollow, stop };
  }

  test('until its key has expired, of which is told once', () => {
    const { clock, expired } = watch({ expiresAt: epochMs + 5000 });
    clock.advance(4000);
    expect(expired).not.toHaveBeenCalled();
    clock.advance(1);
    expect(expired).toHaveBeenCalledTimes(1);
    clock.advance(1e9);
    expect(expired).toHaveBeenCalledTimes(1);
  });

  test('for ever where its API keeps its key', () => {
    const { clock, expired } = watch({});
    clock.advance(1e9);
    expect(expired).not.toHaveBeenCalled();
  });

  test('until that is stopped', () => {
    const { clock, expired, unfollow, stop } = watch({ expiresAt: epochMs + 5000 });
    stop();
    clock.advance(1e9);
    expect(expired).not.toHaveBeenCalled();
    expect(unfollow).toHaveBeenCalledTimes(1);
    expect(clock.pending()).toBe(0);
  });

  test('at its outbox, if it has one', () => {
    const { done, follow } = watch({});
    expect(follow.mock.calls).toEqual([['k1', done]]);
    expect(() => watch({}, false).stop()).not.toThrow();
  });
});
