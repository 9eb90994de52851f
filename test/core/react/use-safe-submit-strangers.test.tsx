import { MutationObserver } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import * as React from 'react';
import { classifyOutcomes, defineIdempotency, mutationOptions } from 'steadfetch';
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
          async mutationFn() {
            await Promise.resolve();
            throw new Error('of another client');
          },
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

/** What a mutationFn throws before it has sent anything. */
const early: Readonly<Record<string, (payload: unknown) => void>> = {
  'a schema that refuses its variables': () => {
    throw Object.assign(new Error('sku: Required'), { name: 'ZodError' });
  },
  'variables that are not JSON': () => JSON.stringify({ price: 5n }),
  'a field that is missing': (payload) => Object(payload).items.map(String),
  'a user who is not logged in': () => {
    throw new Error('Not logged in');
  },
};

describe.each(Object.keys(early))('a mutationFn that ends at once, by %s', (name) => {
  const open = (attempts: readonly ('early' | 'late' | 'sent')[]) => {
    const rig = createFormRig();
    let attempt = 0;
    const form = rig.createForm(
      {},
      mutationOptions(rig.steady, {
        async mutationFn(payload: unknown, { json }) {
          const now = attempts[attempt++];
          if (now === 'late') await Promise.resolve();
          if (now !== 'sent') early[name]?.(payload);
          return json('/orders', { method: 'POST', json: payload });
        },
        policy: { maxRetries: 0 },
      }),
    );
    rig.show(<form.Form />);
    const press = async (): Promise<unknown> => {
      const result = form.press();
      await rig.time.settle();
      return result;
    };
    return { rig, press };
  };

  test('has sent nothing: the form says failed, and the next press sends it', async () => {
    const { rig, press } = open(['early', 'sent']);
    expect(await press()).toMatchObject({ status: 'failed' });
    expect(await press()).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect(rig.book.orders).toHaveLength(1);
  });

  test('after something was awaited, may have sent something with another client: unknown', async () => {
    const { press } = open(['late']);
    expect(await press()).toMatchObject({ status: 'unknown' });
  });

  test('after an order whose answer was lost, does not say that it was not placed', async () => {
    const { rig, press } = open(['sent', 'early']);
    rig.book.plan('lost answer');
    expect(await press()).toMatchObject({ status: 'unknown' });
    expect(await press()).not.toMatchObject({ status: 'failed' });
    expect(rig.book.orders).toHaveLength(1);
  });
});

test('a token that could not be had, by the word of classifyError, has sent nothing: failed, and the next press sends it', async () => {
  const classifyError = (error: unknown) =>
    Object(error).name === 'TokenError' ? { status: 503, processed: 'no' as const } : undefined;
  const rig = createFormRig({
    config: {
      apis: [
        {
          match: 'http://localhost:3000/orders',
          idempotency: defineIdempotency({ header: 'Idempotency-Key', lifetimeMs: Infinity }),
          outcomes: classifyOutcomes({ classifyError }),
        },
      ],
    },
  });
  let isThere = false;
  const form = rig.createForm(
    {},
    mutationOptions(rig.steady, {
      async mutationFn(payload: unknown, { json }) {
        await Promise.resolve();
        if (!isThere) throw Object.assign(new Error('No token'), { name: 'TokenError' });
        return json('/orders', { method: 'POST', json: payload });
      },
    }),
  );
  rig.show(<form.Form />);
  const first = form.press();
  await rig.time.advance(10_000);
  expect(await first).toMatchObject({ status: 'failed' });
  isThere = true;
  const second = form.press();
  await rig.time.advance(10_000);
  expect(await second).toMatchObject({ status: 'succeeded' });
  expect(rig.book.orders).toHaveLength(1);
});
