import { useMutation } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { createHandle } from '../react-query/handle.ts';
import { createRig, type Rig } from '../react-query/rig.tsx';
import { statusOf, watchMutation } from './watch.tsx';

const mutationKey = ['save'];

function showPlain(rig: Rig, mutationFn: () => Promise<unknown>, own: object = {}) {
  const save = createHandle<() => void>();
  function Form() {
    const { mutate } = useMutation({ mutationKey, mutationFn, ...own });
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

/** An error as axios throws it. */
const axiosPut = (status: number): Error =>
  Object.assign(new Error(`status ${status}`), {
    config: { method: 'put' },
    response: { status, headers: {} },
  });

describe('Retry now and Cancel of a plain mutation', () => {
  test('do nothing in its wait, and say so once, in development', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const rig = createRig();
    rig.server.plan('/a', 503);
    const form = showPlain(rig, () => rig.steady.fetch('/a', { method: 'PUT' }));
    form.press();
    await rig.time.advance(100);
    expect(form.last().status).toBe('waiting');
    for (const _ of [1, 2]) {
      act(() => form.last().retryNow());
      act(() => form.last().cancel());
    }
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 500]);
    expect(form.last().status).toBe('succeeded');
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/mutationOptions/)]]);
  });

  test('are told of nothing before anything was submitted', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const rig = createRig();
    const form = showPlain(rig, () => rig.steady.fetch('/a', { method: 'PUT' }));
    act(() => form.last().retryNow());
    act(() => form.last().cancel());
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('the status of a plain mutation', () => {
  test("shows the wait where the app's own `retry` goes on and the policy would not", async () => {
    const rig = createRig();
    const startedAt = rig.time.now();
    let left = 1;
    const mutationFn = () => (left-- > 0 ? Promise.reject(axiosPut(404)) : Promise.resolve('done'));
    const form = showPlain(rig, mutationFn, { retry: 3 });
    form.press();
    await rig.time.advance(100);
    expect(statusOf(form.last())).toMatchObject({
      status: 'waiting',
      attempt: 1,
      maxAttempts: 4,
      reason: undefined,
      retryAt: startedAt + 1000,
    });
    await rig.time.advance(10_000);
    expect(statusOf(form.last())).toMatchObject({ status: 'succeeded', attempt: 2 });
  });

  test('shows that its next attempt is paused while its origin is down', async () => {
    const rig = createRig({ health: {}, policy: { maxRetries: 5 } });
    rig.server.plan('/a', ...Array.from({ length: 40 }, () => 503));
    const form = showPlain(rig, () => rig.steady.fetch('/a', { method: 'PUT' }));
    form.press();
    // Others find out that the origin is down.
    for (let index = 0; index < 10; index++) {
      void rig.steady.fetch('/a').catch(() => {});
      await rig.time.advance(10);
    }
    await rig.time.advance(2000);
    expect(form.last()).toMatchObject({ status: 'paused', reason: 'server-down' });
  });
});
