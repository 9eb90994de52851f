import { cleanup } from '@testing-library/react';
import type { ResolveContext } from 'steadfetch/react';
import { expect, test, vi } from 'vitest';
import { mutationIdOf, mutationStatusesOf } from '../../../src/core/react-query/status/mutation.ts';
import { createFormRig, type FormRig, kite, type Payload, type Receipt } from './form-rig.tsx';

type Answer = { readonly done: Receipt } | 'not-done' | 'unknown';

/** Asks the API for the order of a key. */
const lookUp = async ({ idempotencyKey, json }: ResolveContext<Payload>): Promise<Answer> => {
  const [order] = await json<Receipt[]>(`/orders/${idempotencyKey}`);
  return order ? { done: order } : 'not-done';
};

async function lose(
  fate: 'lost answer' | 'lost request',
  {
    resolve = lookUp,
    keepPayload = false,
  }: { resolve?: typeof lookUp; keepPayload?: boolean } = {},
) {
  const rig = createFormRig();
  rig.book.plan(fate);
  const callbacks = {
    onMutate: vi.fn<(variables: Payload) => unknown>(),
    onSuccess: vi.fn<(data: Receipt, variables: Payload) => void>(),
    onSettled: vi.fn<(data?: Receipt) => void>(),
  };
  const show = (page: FormRig) => {
    const form = page.createForm({ resolve, keepPayload }, callbacks);
    page.show(<form.Form />);
    return form;
  };
  const form = show(rig);
  void form.press();
  await rig.time.advance(100);
  const { onMutate, onSuccess, onSettled } = callbacks;
  for (const callback of [onMutate, onSuccess, onSettled]) callback.mockClear();
  const reload = () => {
    rig.end();
    cleanup();
    const page = createFormRig({ book: rig.book, isReload: true });
    return { page, form: show(page) };
  };
  return { rig, form, callbacks, reload };
}

test('what was done is a success of the mutation, with its callbacks, and nothing is sent', async () => {
  const { rig, form, callbacks } = await lose('lost answer');
  const answer = form.last().unknown?.resolve();
  await rig.time.settle();
  expect(await answer).toBe('done');
  expect(form.last()).toMatchObject({
    status: 'success',
    isPending: false,
    data: { id: 1 },
    variables: kite,
    unknown: undefined,
  });
  expect(callbacks.onMutate).toHaveBeenCalledTimes(1);
  expect(callbacks.onSuccess.mock.calls[0]?.slice(0, 2)).toEqual([form.last().data, kite]);
  expect(rig.book.keys).toHaveLength(1);
  expect(sessionStorage.getItem('steadfetch.form.checkout')).toBe(null);
  // It is as if it had been pressed.
  expect(await form.press()).toMatchObject({ status: 'succeeded', data: { id: 1 } });
  await rig.time.advance(1000);
  void form.press();
  await rig.time.settle();
  expect(rig.book.orders).toHaveLength(2);
});

test('what was not done is no longer unknown: something else goes without a question', async () => {
  const { rig, form } = await lose('lost request');
  const answer = form.last().unknown?.resolve();
  await rig.time.settle();
  expect(await answer).toBe('not-done');
  expect(form.last().unknown).toBe(undefined);
  const result = form.press({ sku: 'dragon' });
  await rig.time.settle();
  expect(await result).toMatchObject({ status: 'succeeded' });
  expect(new Set(rig.book.keys).size).toBe(2);
});

test('what was not done keeps its key for the same payload', async () => {
  const { rig, form } = await lose('lost request');
  void form.last().unknown?.resolve();
  await rig.time.settle();
  void form.press();
  await rig.time.settle();
  expect(new Set(rig.book.keys).size).toBe(1);
  expect(rig.book.orders).toHaveLength(1);
});

test.each(['not-done', 'done'] as const)(
  'a question about it is answered, and asked no more, where the API says: %s',
  async (said) => {
    const { rig, form } = await lose(said === 'done' ? 'lost answer' : 'lost request');
    expect(await form.press({ sku: 'dragon' })).toMatchObject({ status: 'needs-confirmation' });
    const answer = form.last().unknown?.resolve();
    await rig.time.settle();
    expect(await answer).toBe(said);
    expect(form.last().confirmation).toBe(undefined);
  },
);

test('a press right after it is no echo of the one before', async () => {
  const rig = createFormRig();
  rig.book.plan('lost request');
  const form = rig.createForm({ resolve: lookUp });
  rig.show(<form.Form />);
  void form.press();
  await rig.time.settle();
  void form.last().unknown?.resolve();
  await rig.time.settle();
  const result = form.press();
  await rig.time.settle();
  expect(await result).toMatchObject({ status: 'succeeded' });
  expect(rig.book.keys).toEqual([rig.book.keys[0], rig.book.keys[0]]);
});

test.each([
  ['does not know', async () => 'unknown' as const],
  ['gives null', async () => null as never],
  ['gives what is no answer', async () => ({}) as never],
  ['cannot be asked', () => Promise.reject(new Error('down'))],
])('it stays unknown where the API %s', async (_, resolve) => {
  const { rig, form } = await lose('lost answer', { resolve });
  const answer = form.last().unknown?.resolve();
  await rig.time.settle();
  expect(await answer).toBe('unknown');
  expect(form.last()).toMatchObject({ status: 'error', unknown: { isResolving: false } });
});

test('without a way to ask, it stays unknown', async () => {
  const rig = createFormRig();
  rig.book.plan('lost answer');
  const form = rig.createForm();
  rig.show(<form.Form />);
  void form.press();
  await rig.time.settle();
  expect(await form.last().unknown?.resolve()).toBe('unknown');
  expect(form.last().unknown).toBeDefined();
});

test('it says while it asks, and asks once', async () => {
  let tell!: (answer: Answer) => void;
  const resolve = vi.fn<() => Promise<Answer>>(() => new Promise<Answer>((told) => (tell = told)));
  const { rig, form } = await lose('lost answer', { resolve });
  void form.last().unknown?.resolve();
  await rig.time.settle();
  expect(form.last().unknown?.isResolving).toBe(true);
  expect(await form.last().unknown?.resolve()).toBe('unknown');
  tell('not-done');
  await rig.time.settle();
  expect(resolve).toHaveBeenCalledTimes(1);
  expect(form.last().unknown).toBe(undefined);
});

test('an answer that comes after the form was sent again changes nothing', async () => {
  let tell!: (answer: Answer) => void;
  const resolve = () => new Promise<Answer>((told) => (tell = told));
  const { rig, form, callbacks } = await lose('lost answer', { resolve });
  const answer = form.last().unknown?.resolve();
  await rig.time.settle();
  const result = form.press();
  await rig.time.settle();
  expect(await result).toMatchObject({ data: { id: 1 } });
  tell({ done: { id: 99 } });
  await rig.time.settle();
  expect(await answer).toBe('done');
  expect(form.last().data?.id).toBe(1);
  expect(callbacks.onSuccess).toHaveBeenCalledTimes(1);
});

test('a press while a success is being shown is not taken for it', async () => {
  let go!: () => void;
  const { rig, form, callbacks } = await lose('lost answer');
  callbacks.onMutate.mockReturnValue(new Promise<void>((told) => (go = told)));
  const answer = form.last().unknown?.resolve();
  await rig.time.settle();
  expect(await form.press({ sku: 'dragon' })).toEqual({ status: 'busy' });
  const same = form.press();
  go();
  await rig.time.settle();
  expect(await answer).toBe('done');
  expect(await same).toMatchObject({ status: 'succeeded', data: { id: 1 } });
  expect(rig.book.keys).toHaveLength(1);
});

test('a callback that throws does not make it undone', async () => {
  const { rig, form, callbacks } = await lose('lost answer');
  callbacks.onSuccess.mockImplementation(() => {
    throw new Error('in the callback');
  });
  const answer = form.last().unknown?.resolve();
  await rig.time.settle();
  expect(await answer).toBe('done');
  expect(form.last()).toMatchObject({ status: 'error', unknown: undefined });
  const statuses = mutationStatusesOf(rig.client, 'test');
  expect(statuses.getState(mutationIdOf(form.last().target)).status).toBe('unknown');
});

test('after a reload no callback is called with variables that nobody knows', async () => {
  const { reload, callbacks } = await lose('lost answer');
  const { page, form } = reload();
  const answer = form.last().unknown?.resolve();
  await page.time.settle();
  expect(await answer).toBe('done');
  expect(form.last()).toMatchObject({ status: 'success', data: { id: 1 } });
  for (const callback of Object.values(callbacks)) expect(callback).not.toHaveBeenCalled();
  // They are there again for the next.
  await page.time.advance(1000);
  void form.press();
  await page.time.settle();
  expect(callbacks.onSuccess).toHaveBeenCalledTimes(1);
});

test('after a reload they are called where the form has kept its payload', async () => {
  const { reload, callbacks } = await lose('lost answer', { keepPayload: true });
  const { page, form } = reload();
  const answer = form.last().unknown?.resolve();
  await page.time.settle();
  expect(await answer).toBe('done');
  expect(callbacks.onSuccess.mock.calls[0]?.[1]).toEqual(kite);
});

test('one that never answers leaves it unknown after 30 s, and can be asked again', async () => {
  const resolve = vi.fn<typeof lookUp>(() => new Promise(() => {}));
  const { rig, form } = await lose('lost answer', { resolve });
  const answer = form.last().unknown?.resolve();
  await rig.time.advance(29_999);
  expect(form.last().unknown?.isResolving).toBe(true);
  await rig.time.advance(1);
  expect(await answer).toBe('unknown');
  expect(form.last().unknown?.isResolving).toBe(false);
  resolve.mockImplementation(lookUp);
  const next = form.last().unknown?.resolve();
  await rig.time.settle();
  expect(await next).toBe('done');
});
