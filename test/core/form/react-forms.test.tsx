import { act, fireEvent, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { type FormEvent, useActionState } from 'react';
import { useForm } from 'react-hook-form';
import { useSafeSubmit } from 'steadfetch/react';
import { expect, test } from 'vitest';
import { createFormRig, type FormRig, type Payload } from '../react/form-rig.tsx';

// Not run with React 18, which has no actions.

const fields = (form: FormData): Payload => ({ sku: form.get('sku') });
const input = (): HTMLInputElement => screen.getByRole('textbox');
const button = (): HTMLElement => screen.getByRole('button', { name: 'Order' });

function Field({ sku = '' }: { readonly sku?: string }) {
  return (
    <>
      <input name="sku" defaultValue={sku} />
      <button>Order</button>
    </>
  );
}

/** A form that is submitted by each of the ways that React has. */
const forms: Readonly<Record<string, (rig: FormRig) => () => React.ReactNode>> = {
  onSubmit: (rig) => () => {
    const { submit, data } = useSafeSubmit(rig.placeOrder, { form: 'checkout' });
    const onSubmit = (event: FormEvent<HTMLFormElement>): void => {
      event.preventDefault();
      void submit(fields(new FormData(event.currentTarget)));
    };
    return (
      <form onSubmit={onSubmit}>
        <Field />
        <output>{data?.id}</output>
      </form>
    );
  },
  'a form action': (rig) => () => {
    const { submit, data } = useSafeSubmit(rig.placeOrder, { form: 'checkout' });
    return (
      <form action={async (form) => void (await submit(fields(form)))}>
        <Field />
        <output>{data?.id}</output>
      </form>
    );
  },
  useActionState: (rig) => () => {
    const { submit } = useSafeSubmit(rig.placeOrder, { form: 'checkout' });
    const [state, action] = useActionState(async (_: unknown, form: FormData) => {
      const result = await submit(fields(form));
      // React empties a form after its action: what was in it is given back.
      return result.status === 'succeeded'
        ? { sku: '', id: result.data.id }
        : { sku: form.get('sku') as string };
    }, undefined);
    return (
      <form action={action}>
        <Field sku={state?.sku ?? ''} />
        <output>{state?.id}</output>
      </form>
    );
  },
  'react-hook-form': (rig) => () => {
    const { submit, data } = useSafeSubmit(rig.placeOrder, { form: 'checkout' });
    const { register, handleSubmit } = useForm<{ sku: string }>();
    return (
      <form
        onSubmit={(event) => void handleSubmit(async (order) => void (await submit(order)))(event)}
      >
        <input {...register('sku')} />
        <button>Order</button>
        <output>{data?.id}</output>
      </form>
    );
  },
};

test.each(Object.entries(forms))(
  'with %s, a double click is one order, and a lost answer is found out by a second press',
  async (_, create) => {
    const rig = createFormRig();
    const user = userEvent.setup({ advanceTimers: rig.time.advance });
    const Form = create(rig);
    rig.show(<Form />, { strict: true });

    rig.book.plan('slow, and lost');
    await user.type(input(), 'kite');
    await user.dblClick(button());
    rig.book.answer();
    await rig.time.advance(100);
    expect(rig.book.keys).toHaveLength(1);
    // React has emptied it where nobody gave its content back.
    await user.clear(input());
    await user.type(input(), 'kite');
    await user.click(button());
    await rig.time.settle();
    expect(rig.book.keys).toEqual([rig.book.keys[0], rig.book.keys[0]]);
    expect(rig.book.orders.map(({ body }) => body)).toEqual(['{"sku":"kite"}']);
    expect(screen.getByRole('status').textContent).toBe('1');
  },
);

test.each(Object.entries(forms))(
  'with %s, Enter twice while it is under way is one order',
  async (_, create) => {
    const rig = createFormRig();
    const Form = create(rig);
    rig.show(<Form />, { strict: true });
    rig.book.plan('slow');
    fireEvent.input(input(), { target: { value: 'kite' } });
    const press = async (): Promise<void> => {
      act(() => input().form?.requestSubmit());
      await rig.time.advance(3000);
    };
    await press();
    await press();
    rig.book.answer();
    await rig.time.settle();
    expect(rig.book.keys).toHaveLength(1);
    expect(screen.getByRole('status').textContent).toBe('1');
  },
);
