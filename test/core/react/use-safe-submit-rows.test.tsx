import { act } from '@testing-library/react';
import { mutationOptions } from 'steadfetch';
import { type SafeSubmitResult, useSafeSubmit } from 'steadfetch/react';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createHandle } from '../react-query/handle.ts';
import { createFormRig, type Receipt } from './form-rig.tsx';

type Form = SafeSubmitResult<Receipt, Error, { readonly quantity: number }>;
type Id = 0 | 1;

const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
beforeEach(() => warn.mockClear());

/** Rows of one form name, each with a mutation of its own, as an app writes them in a component. */
function showRows(ids: readonly Id[]) {
  const rig = createFormRig();
  const ends: string[] = [];
  const forms = [createHandle<Form>(), createHandle<Form>()] as const;
  const Row = ({ id }: { readonly id: Id }): null => {
    const order = mutationOptions(rig.steady, {
      mutationFn: ({ quantity }: { readonly quantity: number }, { json }) =>
        json<Receipt>('/orders', { method: 'POST', json: { id, quantity } }),
      policy: { maxRetries: 0 },
    });
    const onSuccess = (): void => void ends.push(`row ${id}`);
    forms[id].set(useSafeSubmit({ ...order, onSuccess }, { form: 'row' }));
    return null;
  };
  const page = (shown: readonly Id[]) => shown.map((id) => <Row key={id} id={id} />);
  const { rerender } = rig.show(page(ids));
  const press = (id: Id, quantity = 1): Promise<unknown> => {
    let result!: Promise<unknown>;
    act(() => {
      result = forms[id].get().submit({ quantity });
    });
    return result;
  };
  const sent = (): number[] =>
    rig.book.bodies.map((body) => (JSON.parse(body) as { id: number }).id);
  const render = (shown: readonly Id[]): void => rerender(rig.wrap(page(shown)));
  return { ...rig, ends, forms, press, sent, render };
}

describe('two components with one form name, and a mutation of their own each', () => {
  test.each<[string, readonly Id[]]>([
    ['the first', [0]],
    ['the second', [1]],
    ['the first, and then the second', [0, 1]],
    ['the second, and then the first', [1, 0]],
    ['one, the other, and the one again', [0, 1, 0]],
  ])('send their own: %s', async (_, pressed) => {
    const rows = showRows([0, 1]);
    for (const id of pressed) {
      const result = rows.press(id);
      await rows.time.settle();
      expect(await result).toMatchObject({ status: 'succeeded' });
    }
    expect(rows.sent()).toEqual(pressed);
    expect(rows.ends).toEqual(pressed.map((id) => `row ${id}`));
  });

  test('one that is pressed while the other sends is busy, and says nothing of the other as its own', async () => {
    const rows = showRows([0, 1]);
    rows.book.plan('slow');
    const first = rows.press(0);
    await rows.time.settle();
    expect(await rows.press(1)).toEqual({ status: 'busy' });
    rows.render([0, 1]);
    rows.book.answer();
    await rows.time.settle();
    expect(await first).toMatchObject({ status: 'succeeded' });
    expect(rows.sent()).toEqual([0]);
    expect(rows.ends).toEqual(['row 0']);
  });

  test('a question that one has asked is answered for that one', async () => {
    const rows = showRows([0, 1]);
    rows.book.plan('lost answer');
    void rows.press(0);
    await rows.time.settle();
    void rows.press(0, 2);
    await rows.time.settle();
    rows.render([0, 1]);
    void rows.forms[1].get().confirmation?.confirm();
    await rows.time.settle();
    expect(rows.sent()).toEqual([0, 0]);
    expect(rows.ends).toEqual(['row 0']);
  });

  test('a press of a component that has left the page is that of the one in its place, for the second half of a double click', async () => {
    const rows = showRows([0]);
    void rows.press(0);
    await rows.time.settle();
    rows.render([1]);
    void rows.press(1);
    await rows.time.settle();
    expect(rows.sent()).toEqual([0]);
    expect(warn).not.toHaveBeenCalled();
  });

  test('are warned about, once, when one is pressed', async () => {
    const rows = showRows([0, 1]);
    expect(warn).not.toHaveBeenCalled();
    void rows.press(0);
    await rows.time.settle();
    void rows.press(1);
    await rows.time.settle();
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^\[steadfetch\] useSafeSubmit, form row: two components on the page have this form name, each with a mutationFn of its own\. .* `row-\$\{id\}`, /,
        ),
      ],
    ]);
  });

  test('are not warned about with one mutation', async () => {
    const rig = createFormRig();
    const [one, two] = [rig.createForm(), rig.createForm()];
    rig.show(
      <>
        <one.Form />
        <two.Form />
      </>,
    );
    void one.press();
    await rig.time.settle();
    expect(warn).not.toHaveBeenCalled();
  });
});
