import { mutationOptions, type SteadyMutationContext } from 'steadfetch';
import {
  dehydrate,
  hydrate,
  MutationObserver,
  type UseMutationResult,
} from '@tanstack/react-query';
import { act } from '@testing-library/react';
import {
  type RetryControls,
  type RetryState,
  useSteadyMutation,
  useMutationStatus,
} from 'steadfetch/react';
import { describe, expect, test, vi } from 'vitest';
import { instanceOf } from '../../../src/core/react-query/instance.ts';
import { mutationStatus } from '../../../src/core/react-query/status/mutation.ts';
import { createHandle } from '../react-query/handle.ts';
import { createOrderRig } from '../react-query/order-rig.tsx';
import type { Rig } from '../react-query/rig.tsx';
import { statusOf, watchMutation } from './watch.tsx';

const mutationKey = ['order'];
const send = (name: string, { fetch, idempotencyKey }: SteadyMutationContext): Promise<Response> =>
  fetch(`/${name}`, { method: 'POST', headers: { 'Idempotency-Key': idempotencyKey } });
const optionsOf = (rig: Rig) => mutationOptions(rig.steady, { mutationKey, mutationFn: send });

type Options = ReturnType<typeof optionsOf>;
type Result = UseMutationResult<Response, Error, string>;

/** A form with a status of its own. */
function createForm(rig: Rig, own: Partial<Options> = {}, shared: Options = optionsOf(rig)) {
  const result = createHandle<Result>();
  const status = createHandle<RetryState & RetryControls>();
  let renders = 0;
  function Form() {
    const { target, ...form } = useSteadyMutation({ ...shared, ...own });
    result.set(form);
    status.set(useMutationStatus(target));
    renders++;
    return null;
  }
  return {
    Form,
    result,
    last: status.get,
    renders: () => renders,
    press: (name: string) => act(() => result.get().mutate(name)),
  };
}

test('two components with one key and the same options each see their own mutation', async () => {
  const rig = createOrderRig();
  rig.server.plan('/a', 503, { afterMs: 10 });
  rig.server.plan('/b', 'hang');
  const shared = optionsOf(rig);
  const [one, two] = [createForm(rig, {}, shared), createForm(rig, {}, shared)];
  rig.show(
    <>
      <one.Form />
      <two.Form />
    </>,
    { strict: true },
  );
  expect(one.last().status).toBe('idle');
  one.press('a');
  await rig.time.advance(100);
  expect(statusOf(one.last())).toMatchObject({ status: 'waiting', attempt: 1 });
  expect(two.last().status).toBe('idle');
  two.press('b');
  await rig.time.advance(100);
  expect(one.last().status).toBe('waiting');
  expect(two.last().status).toBe('sending');
  act(() => one.last().retryNow());
  await rig.time.advance(10);
  expect(rig.server.times('/a')).toEqual([0, 200]);
  expect(one.last().status).toBe('succeeded');
  act(() => two.last().cancel());
  await rig.time.settle();
  expect(two.last().status).toBe('unknown');
  expect(two.result.get().status).toBe('error');
  expect(one.last().status).toBe('succeeded');
});

test('with the same variables at once, and another order of their first steps, each has its own', async () => {
  const rig = createOrderRig();
  rig.server.plan('/a', 'hang', 'hang');
  const wait = (ms: number) => ({
    onMutate: () => new Promise<void>((resolve) => void setTimeout(resolve, ms)),
  });
  const shared = optionsOf(rig);
  const [slow, quick] = [createForm(rig, wait(200), shared), createForm(rig, wait(100), shared)];
  rig.show(
    <>
      <slow.Form />
      <quick.Form />
    </>,
  );
  slow.press('a');
  quick.press('a');
  await rig.time.advance(150);
  expect(rig.server.times()).toEqual([100]);
  act(() => quick.last().cancel());
  await rig.time.advance(100);
  expect(rig.server.sent.map(({ abortedAt }) => abortedAt)).toEqual([150, undefined]);
  expect(quick.last().status).toBe('unknown');
  expect(slow.last().status).toBe('sending');
});

describe('an onMutate that throws', () => {
  const broken = new Error('in onMutate');
  const fails = () => {
    throw broken;
  };

  test('has sent nothing: failed', async () => {
    const rig = createOrderRig();
    const form = createForm(rig, { onMutate: fails });
    rig.show(<form.Form />);
    form.press('a');
    await rig.time.settle();
    expect(form.last()).toMatchObject({ status: 'failed', lastError: broken });
    expect(rig.server.times()).toEqual([]);
  });

  const ofAnother = (facts: object) => (): never => {
    throw Object.assign(new Error('of another client'), facts);
  };
  test.each<[string, (rig: Rig) => unknown]>([
    ['fetch', ({ steady }) => steady.fetch('/a', { method: 'POST' })],
    ['axios', ofAnother({ config: { method: 'post' } })],
    ['ofetch', ofAnother({ response: new Response(null, { status: 502 }) })],
  ])('of what it has sent by itself with %s: unknown', async (_, onMutate) => {
    const rig = createOrderRig();
    rig.server.plan('/a', 'network');
    const form = createForm(rig, { onMutate: () => onMutate(rig) });
    rig.show(<form.Form />);
    form.press('b');
    await rig.time.settle();
    expect(form.last().status).toBe('unknown');
    expect(rig.server.times('/b')).toEqual([]);
  });

  test('beside another of the same variables, so that it cannot be told whose was sent: unknown', async () => {
    const rig = createOrderRig();
    const steps = [
      (): Promise<void> => new Promise((_, fail) => void setTimeout(() => fail(broken), 200)),
      (): Promise<void> => new Promise((go) => void setTimeout(go, 100)),
    ];
    const mutationFn = vi.fn<() => Promise<void>>(async () => {
      await Promise.resolve();
      throw new Error('of axios');
    });
    const shared = mutationOptions(rig.steady, { mutationKey, mutationFn });
    const options = { ...shared, onMutate: () => steps.shift()?.() };
    const observer = new MutationObserver(rig.client, options);
    for (const _ of ['first', 'second']) void observer.mutate(undefined).catch(() => {});
    await rig.time.advance(300);
    const instance = instanceOf(rig.client, 'test');
    const both = rig.client.getMutationCache().getAll();
    const cache = rig.client.getMutationCache();
    const stories = both.map((one) => mutationStatus(one, cache, instance, undefined));
    expect(stories.map(({ status }) => status)).toEqual(['unknown', 'unknown']);
    expect(mutationFn).toHaveBeenCalledTimes(1);
  });
});

test('what comes failed from a storage may have been sent by its page', async () => {
  const rig = createOrderRig();
  rig.client.setMutationDefaults(mutationKey, optionsOf(rig));
  const form = createForm(rig, { onMutate: () => Promise.reject(new Error('in onMutate')) });
  rig.show(<form.Form />);
  form.press('a');
  await rig.time.settle();
  const stored = JSON.stringify(dehydrate(rig.client, { shouldDehydrateMutation: () => true }));
  rig.end();
  const next = createOrderRig();
  next.client.setMutationDefaults(mutationKey, optionsOf(next));
  hydrate(next.client, JSON.parse(stored));
  const { last, Watcher } = watchMutation(next, mutationKey);
  next.show(<Watcher />);
  expect(last().status).toBe('unknown');
});

test('its newest mutation counts, and after reset there is none', async () => {
  const rig = createOrderRig();
  rig.server.plan('/a', 422);
  const form = createForm(rig);
  rig.show(<form.Form />);
  form.press('a');
  await rig.time.settle();
  expect(form.last().status).toBe('failed');
  form.press('b');
  await rig.time.settle();
  expect(form.last().status).toBe('succeeded');
  act(() => form.result.get().reset());
  await rig.time.settle();
  expect(form.last().status).toBe('idle');
});

test('options that are the same in every render stay so for React Query', async () => {
  const rig = createOrderRig();
  const changes = vi.fn<() => void>();
  rig.client.getMutationCache().subscribe(({ type }) => {
    if (type === 'observerOptionsUpdated') changes();
  });
  const form = createForm(rig);
  const { rerender } = rig.show(<form.Form />);
  const before = changes.mock.calls.length;
  rerender(rig.wrap(<form.Form />));
  expect(form.renders()).toBeGreaterThan(1);
  expect(changes).toHaveBeenCalledTimes(before);
});

test('options of the key from setMutationDefaults', async () => {
  const rig = createOrderRig();
  rig.server.plan('/a', 503);
  rig.client.setMutationDefaults(mutationKey, optionsOf(rig));
  const form = createForm(rig, {}, { mutationKey });
  rig.show(<form.Form />);
  form.press('a');
  await rig.time.advance(100);
  expect(form.last().status).toBe('waiting');
});

test('a mutationFn that is not of mutationOptions is a TypeError', () => {
  vi.spyOn(console, 'error').mockReturnValue();
  const rig = createOrderRig();
  const form = createForm(rig, { mutationFn: () => Promise.reject(new Error('never')) });
  expect(() => rig.show(<form.Form />)).toThrow(
    /^useSteadyMutation: mutationFn is .*, and must be that of mutationOptions\.$/s,
  );
});
