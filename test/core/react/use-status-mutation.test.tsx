import { useMutation } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import type { SteadyInit } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { createHandle } from '../react-query/handle.ts';
import { createRig, type Rig } from '../react-query/rig.tsx';
import { failingTwice, none, statusesOfFailingTwice, statusOf, watchMutation } from './watch.tsx';

const mutationKey = ['save'];

function showForm(rig: Rig, init: SteadyInit, own: object = {}) {
  const save = createHandle<() => void>();
  function Form() {
    const { mutate } = useMutation({
      mutationKey,
      mutationFn: () => rig.steady.fetch('/a', init),
      ...own,
    });
    save.set(() => mutate());
    return null;
  }
  const watched = watchMutation(rig, mutationKey);
  rig.show(
    <>
      <watched.Watcher />
      <Form />
    </>,
  );
  return { ...watched, press: () => act(() => save.get()()) };
}

// React Query notifies in a timer of 0 ms, which fake timers fire 1 ms later when another timer sets
// it: so a wait is seen to end at 511 ms.
test('every transition of a PUT that fails twice and then succeeds, exactly', async () => {
  const rig = createRig();
  rig.server.plan('/a', ...failingTwice);
  const startedAt = rig.time.now();
  const form = showForm(rig, { method: 'PUT' });
  form.press();
  await rig.time.advance(10_000);
  expect(form.story()).toEqual([
    '0 idle 0',
    '0 sending 1',
    '10 waiting 1',
    '511 sending 2',
    '520 waiting 2',
    '1521 sending 3',
    '1530 succeeded 3',
  ]);
  expect(form.renders.map(statusOf)).toEqual(statusesOfFailingTwice(startedAt));
});

describe('the end of a mutation that failed', () => {
  test.each<[string, SteadyInit, number | 'network', string, string]>([
    ['POST', { method: 'POST' }, 503, 'unknown', 'not-idempotent'],
    ['POST', { method: 'POST' }, 'network', 'unknown', 'not-idempotent'],
    ['POST', { method: 'POST' }, 422, 'failed', 'not-retryable'],
    ['PUT', { method: 'PUT' }, 404, 'failed', 'not-retryable'],
    ['PUT', { method: 'PUT' }, 409, 'failed', 'not-retryable'],
    ['GET', {}, 501, 'failed', 'not-retryable'],
  ])('%s %j answered %s is %s (%s)', async (_method, init, answer, status, reason) => {
    const rig = createRig();
    rig.server.plan('/a', answer);
    const form = showForm(rig, init);
    form.press();
    await rig.time.advance(10_000);
    expect(statusOf(form.last())).toMatchObject({
      status,
      attempt: 1,
      reason,
      retryAt: undefined,
      lastError: expect.any(Error),
    });
  });

  test('a PUT that has used up its attempts is unknown: any of them may have been done', async () => {
    const rig = createRig({ policy: { maxRetries: 1 } });
    rig.server.plan('/a', 503, 'network');
    const form = showForm(rig, { method: 'PUT' });
    form.press();
    await rig.time.advance(10_000);
    expect(statusOf(form.last())).toMatchObject({
      status: 'unknown',
      attempt: 2,
      maxAttempts: 2,
      reason: 'max-retries',
    });
  });

  test('a PUT of which one attempt may have been done is unknown, also when the last was refused', async () => {
    const rig = createRig();
    rig.server.plan('/a', 'network', 403);
    const form = showForm(rig, { method: 'PUT' });
    form.press();
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 500]);
    expect(form.last().status).toBe('unknown');
  });

  test('an error of another client that says nothing is unknown', async () => {
    const rig = createRig();
    const form = showForm(rig, {}, { mutationFn: () => Promise.reject(new Error('no luck')) });
    form.press();
    await rig.time.settle();
    expect(statusOf(form.last())).toMatchObject({ status: 'unknown', attempt: 1 });
  });

  test('a Retry-After that is too long says when the server would have us back', async () => {
    const rig = createRig();
    rig.server.plan('/a', { status: 429, headers: { 'Retry-After': '3600' } });
    const startedAt = rig.time.now();
    const form = showForm(rig, { method: 'POST' });
    form.press();
    await rig.time.settle();
    expect(statusOf(form.last())).toMatchObject({
      status: 'failed',
      reason: 'retry-after',
      retryAt: startedAt + 3_600_000,
    });
  });
});

test('the newest mutation with the key counts, also after an older one has ended', async () => {
  const rig = createRig();
  rig.server.plan('/a', { afterMs: 100 }, { status: 503, afterMs: 10 }, { afterMs: 10 });
  const form = showForm(rig, { method: 'PUT' });
  form.press();
  await rig.time.advance(20);
  form.press();
  await rig.time.advance(10_000);
  expect(form.story()).toEqual([
    '0 idle 0',
    '0 sending 1',
    '20 sending 1',
    '30 waiting 1',
    '531 sending 2',
    '540 succeeded 2',
  ]);
});

test('a mutation that is removed leaves the one before it, and at last idle', async () => {
  const rig = createRig();
  rig.server.plan('/a', 200, 422);
  const form = showForm(rig, { method: 'PUT' });
  form.press();
  await rig.time.settle();
  form.press();
  await rig.time.settle();
  expect(form.last().status).toBe('failed');
  const cache = rig.client.getMutationCache();
  const [first, second] = cache.getAll();
  if (!first || !second) throw new Error('two mutations were expected');
  act(() => cache.remove(second));
  await rig.time.settle();
  expect(form.last().status).toBe('succeeded');
  act(() => cache.remove(first));
  await rig.time.settle();
  expect(statusOf(form.last())).toEqual({ status: 'idle', attempt: 0, maxAttempts: 0, ...none });
});

test('mutationPolicy says how many attempts there are, from the first on', async () => {
  const rig = createRig();
  rig.server.plan('/a', { status: 503, afterMs: 10 });
  const form = showForm(rig, { method: 'PUT' }, rig.steady.mutationPolicy({ maxRetries: 1 }));
  form.press();
  await rig.time.settle();
  expect(form.last()).toMatchObject({ status: 'sending', attempt: 1, maxAttempts: 2 });
  await rig.time.advance(10);
  expect(form.last()).toMatchObject({ status: 'waiting', attempt: 1, maxAttempts: 2 });
});

test('a mutation that began before anybody watched is found', async () => {
  const rig = createRig();
  rig.server.plan('/a', 503, { afterMs: 10 });
  const { mutationFn } = { mutationFn: () => rig.steady.fetch('/a', { method: 'PUT' }) };
  const mutation = rig.client
    .getMutationCache()
    .build(rig.client, rig.client.defaultMutationOptions({ mutationKey, mutationFn }));
  void mutation.execute(undefined);
  await rig.time.advance(100);
  const watched = watchMutation(rig, mutationKey);
  rig.show(<watched.Watcher />);
  await rig.time.advance(10_000);
  expect(watched.story()).toEqual(['100 waiting 1', '501 sending 2', '510 succeeded 2']);
});
