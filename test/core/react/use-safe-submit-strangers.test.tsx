import { MutationObserver } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import * as React from 'react';
import { mutationOptions } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { instanceOf } from '../../../src/core/react-query/instance.ts';
import { mutationStatus } from '../../../src/core/react-query/status/mutation.ts';
import { createFormRig, kite } from './form-rig.tsx';

/** Absent from React 18. */
const { Activity } = React as Partial<typeof React>;

describe('reports of other libraries, tried on a form', () => {
  test.skipIf(!Activity)(
    'an Activity that is hidden and shown while the form is under way shows the end (TanStack/query 11171)',
    async () => {
      const rig = createFormRig();
      const form = rig.createForm();
      const Shown = Activity as NonNullable<typeof Activity>;
      const page = (mode: 'visible' | 'hidden') => (
        <Shown mode={mode}>
          <form.Form />
        </Shown>
      );
      const { rerender } = rig.show(page('visible'));
      rig.book.plan('slow');
      const result = form.press();
      await rig.time.settle();
      act(() => rerender(rig.wrap(page('hidden'))));
      await rig.time.settle();
      act(() => rerender(rig.wrap(page('visible'))));
      rig.book.answer();
      await rig.time.settle();
      expect(await result).toMatchObject({ status: 'succeeded' });
      expect(form.last()).toMatchObject({ status: 'success', isPending: false });
      expect(rig.book.orders).toHaveLength(1);
    },
  );

  test('a submission in an effect of a StrictMode page is one order, and its end is shown (TanStack/query 8512)', async () => {
    const rig = createFormRig();
    const form = rig.createForm();
    const OnMount = (): null => {
      React.useEffect(() => void form.last().submit(kite), []);
      return null;
    };
    rig.show(
      <React.StrictMode>
        <form.Form />
        <OnMount />
      </React.StrictMode>,
    );
    await rig.time.advance(100);
    expect(form.last()).toMatchObject({ status: 'success', isPending: false });
    expect(rig.book.orders).toHaveLength(1);
  });

  test('an impatient click between the end and the closing of the dialog is the same order (apollo-client 8137)', async () => {
    const rig = createFormRig();
    const form = rig.createForm();
    rig.show(<form.Form />);
    void form.press();
    await rig.time.settle();
    expect(form.last().status).toBe('success');
    const again = form.press();
    await rig.time.settle();
    expect(await again).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect(rig.book.orders).toHaveLength(1);
  });

  test('a dialog that resets its form from onSuccess, and one that resets it while it is sent, end as they are (next-safe-action 470)', async () => {
    const rig = createFormRig();
    const form = rig.createForm({}, { onSuccess: () => form.last().reset() });
    rig.show(<form.Form />);
    rig.book.plan('slow');
    const result = form.press();
    await rig.time.settle();
    act(() => form.last().reset());
    expect(form.last().isPending).toBe(true);
    rig.book.answer();
    await rig.time.settle();
    expect(await result).toMatchObject({ status: 'succeeded' });
    expect(form.last().isPending).toBe(false);
  });
});

test('after a log-out, a press with the payload of the one before is an order of its own', async () => {
  const rig = createFormRig();
  const form = rig.createForm();
  rig.show(<form.Form />);
  const first = form.press();
  await rig.time.settle();
  expect(await first).toMatchObject({ data: { id: 1 } });
  await act(() => rig.steady.endSession());
  const second = form.press();
  await rig.time.settle();
  expect(await second).toMatchObject({ data: { id: 2 } });
});

describe('two mutations of one observer, with the same variables', () => {
  const rejected = new Error('in onMutate');

  test.each([
    ['', false],
    [', and with a render between', true],
  ])(
    'each have their own status, in whatever order their onMutate ends%s',
    async (_, isRendered) => {
      const rig = createFormRig();
      // The client is known before the mutations are made.
      instanceOf(rig.client, 'test');
      const ends: ((error?: Error) => void)[] = [];
      const options = {
        ...mutationOptions(rig.steady, {
          mutationFn: () => Promise.reject(new Error('of another client')),
          policy: { maxRetries: 0 },
        }),
        onMutate: () =>
          new Promise<void>((go, fail) => {
            ends.push((error) => (error ? fail(error) : go()));
          }),
      };
      const observer = new MutationObserver(rig.client, options);
      const begin = (): unknown => observer.mutate().catch(() => {});
      begin();
      begin();
      if (isRendered) observer.setOptions({ ...options });
      await rig.time.settle();
      ends[1]?.();
      await rig.time.settle();
      ends[0]?.(rejected);
      await rig.time.settle();
      const cache = rig.client.getMutationCache();
      const statuses = cache
        .getAll()
        .map((one) => mutationStatus(one, cache, instanceOf(rig.client, 'test'), undefined).status);
      expect(statuses).toEqual(['failed', 'unknown']);
    },
  );
});
