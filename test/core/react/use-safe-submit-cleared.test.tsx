import { act } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { setVisible } from '../react-query/rig.tsx';
import { createFormRig, kite } from './form-rig.tsx';

/** A form whose mutation waits behind another of its scope. */
async function queue(isSentBefore = false) {
  const rig = createFormRig();
  const scope = { id: 'orders' };
  const onError = vi.fn<() => void>();
  const form = rig.createForm({}, { scope, onError });
  rig.show(<form.Form />);
  if (isSentBefore) {
    rig.book.plan('lost answer');
    void form.press();
    await rig.time.advance(100);
    onError.mockClear();
  }
  rig.book.plan('slow');
  const other = rig.client.getMutationCache().build(rig.client, { ...rig.placeOrder, scope });
  void other.execute({ sku: 'first' }).catch(() => {});
  await rig.time.settle();
  const sent = rig.book.keys.length;
  const result = form.press();
  await rig.time.settle();
  expect(form.last()).toMatchObject({ isPending: true, isPaused: true });
  return { rig, form, onError, result, sent };
}

test('queryClient.clear() ends a press that is queued: surely not done, and the form goes on', async () => {
  const { rig, form, onError, result, sent } = await queue();
  act(() => rig.client.clear());
  await rig.time.settle();
  expect(await result).toMatchObject({ status: 'failed', error: { code: 'not-sent' } });
  expect(form.last()).toMatchObject({ status: 'error', isPending: false, unknown: undefined });
  expect(onError).toHaveBeenCalledTimes(1);
  rig.book.answer();
  await rig.time.advance(1000);
  expect(rig.book.keys).toHaveLength(sent);
  act(() => form.last().reset());
  await rig.time.settle();
  expect(form.last().status).toBe('idle');
  const again = form.press();
  await rig.time.settle();
  expect(await again).toMatchObject({ status: 'succeeded' });
});

test('what may have been done before stays unknown', async () => {
  const { rig, form, result } = await queue(true);
  act(() => rig.client.clear());
  await rig.time.settle();
  expect(await result).toMatchObject({ status: 'unknown' });
  expect(form.last().unknown).toMatchObject({ variables: kite });
});

test('in a hidden tab it ends once the tab is seen', async () => {
  const { rig, form, result } = await queue();
  setVisible(false);
  act(() => rig.client.clear());
  await rig.time.settle();
  setVisible(true);
  await rig.time.settle();
  expect(await result).toMatchObject({ status: 'failed' });
  expect(form.last()).toMatchObject({ status: 'error', isPending: false });
});

test('queryClient.clear() leaves what is under way, and its end is told as it is', async () => {
  const rig = createFormRig();
  const form = rig.createForm();
  rig.show(<form.Form />);
  rig.book.plan(422);
  let go = (): void => {};
  const refused = rig.createForm(
    { form: 'refused' },
    { onMutate: () => new Promise<void>((mutated) => (go = mutated)) },
  );
  rig.show(<refused.Form />);
  const result = refused.press();
  await rig.time.settle();
  act(() => rig.client.clear());
  go();
  await rig.time.advance(200);
  expect(await result).toMatchObject({ status: 'failed', error: { status: 422 } });
  expect(refused.last()).toMatchObject({ status: 'error', unknown: undefined });
});
