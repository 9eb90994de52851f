import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { Fragment, type ReactElement } from 'react';
import { describe, expect, test } from 'vitest';
import { createFormRig, kite } from './form-rig.tsx';

const dragon = { sku: 'dragon' };

/** A form whose key changes: React removes the one component and mounts the next in one commit. */
function showKeyed() {
  const rig = createFormRig();
  const form = rig.createForm();
  const page = (key: string): ReactElement => (
    <Fragment key={key}>
      <form.Form />
    </Fragment>
  );
  const { rerender } = rig.show(page('one'));
  const replace = async (): Promise<void> => {
    act(() => rerender(rig.wrap(page('two'))));
    await rig.time.settle();
  };
  return { ...rig, ...form, replace };
}
type Keyed = ReturnType<typeof showKeyed>;
type Before = (form: Keyed) => unknown;

const shownBy = ({ last }: Keyed): readonly unknown[] => [
  last().status,
  last().unknown !== undefined,
  last().confirmation !== undefined,
];

describe('a form in the place of one that is removed in the same commit', () => {
  test.each<[string, readonly Before[], readonly unknown[]]>([
    ['a success', [({ press }) => press()], ['idle', false, false]],
    ['a failure', [({ book, press }) => (book.plan(422), press())], ['idle', false, false]],
    [
      'a question',
      [({ book, press }) => (book.plan('lost answer'), press()), ({ press }) => press(dragon)],
      ['idle', true, false],
    ],
    [
      'an unknown outcome',
      [({ book, press }) => (book.plan('lost answer'), press())],
      ['idle', true, false],
    ],
    [
      'a submission under way',
      [({ book, press }) => (book.plan('slow'), press())],
      ['pending', false, false],
    ],
  ])('begins anew, but for what is not known yet: after %s', async (_, before, shown) => {
    const form = showKeyed();
    for (const step of before) {
      void step(form);
      await form.time.settle();
    }
    await form.replace();
    expect(shownBy(form)).toEqual(shown);
  });
});

/** The client of a form is replaced while it sends. */
async function replaceClient() {
  const rig = createFormRig();
  const form = rig.createForm();
  const { rerender } = rig.show(<form.Form />);
  rig.book.plan('slow');
  const first = form.press();
  await rig.time.settle();
  const other = new QueryClient({ defaultOptions: rig.steady.defaultOptions });
  act(() =>
    rerender(
      <QueryClientProvider client={other}>
        <form.Form />
      </QueryClientProvider>,
    ),
  );
  return { rig, form, first };
}

test('a form of a client that is replaced while it sends is unknown in the next one until it ends, and not for longer', async () => {
  const { rig, form, first } = await replaceClient();
  expect(form.last().unknown).toMatchObject({ idempotencyKey: rig.book.keys[0] });
  const second = form.press(kite);
  await rig.time.settle();
  rig.book.answer();
  await rig.time.settle();
  expect([await first, await second]).toMatchObject([{ data: { id: 1 } }, { data: { id: 1 } }]);
  expect(form.last().unknown).toBeUndefined();
  expect(rig.book.orders).toHaveLength(1);
});

test('what another client of the page has ended is no longer called unknown', async () => {
  const { rig, form, first } = await replaceClient();
  expect(form.last().unknown).toBeDefined();
  rig.book.answer();
  await rig.time.settle();
  expect(await first).toMatchObject({ status: 'succeeded' });
  expect(form.last().unknown).toBeUndefined();
});

test('a form of another name is not rendered again for it', async () => {
  const rig = createFormRig();
  const [form, newsletter] = [rig.createForm(), rig.createForm({ form: 'newsletter' })];
  rig.show(
    <>
      <form.Form />
      <newsletter.Form />
    </>,
  );
  await rig.time.settle();
  const before = newsletter.last();
  void form.press();
  await rig.time.settle();
  expect(form.last().status).toBe('success');
  expect(newsletter.last()).toBe(before);
});
