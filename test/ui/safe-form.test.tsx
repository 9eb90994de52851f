import { act, fireEvent, screen } from '@testing-library/react';
import { SafeForm } from 'steadfetch/ui';
import type { FormEvent, ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { expect, test, vi } from 'vitest';
import { createFormRig, type FormRig } from '../core/react/form-rig.tsx';

function Checkout({ rig }: { readonly rig: FormRig }) {
  return (
    <SafeForm
      form="checkout"
      label="Checkout"
      mutation={rig.placeOrder}
      submitLabel="Order"
      variables={(fields) => ({ sku: fields.get('sku') as string })}
    >
      <label>
        Article <input name="sku" defaultValue="kite" />
      </label>
    </SafeForm>
  );
}

const seen = (): string => {
  const copy = document.querySelector('.steadfetch-form')?.cloneNode(true) as HTMLElement;
  for (const told of copy.querySelectorAll('.steadfetch-told')) told.remove();
  return copy.textContent;
};
const heard = (role: 'status' | 'alert'): string => screen.getByRole(role).textContent;
const write = (value: string): void => {
  fireEvent.change(screen.getByRole('textbox'), { target: { value } });
};
async function press(rig: FormRig, name: string): Promise<void> {
  const button = screen.getByRole('button', { name });
  button.focus();
  act(() => {
    fireEvent.click(button);
  });
  await rig.time.settle();
}

test('what is in its fields is sent once, and the next press makes it a new form', async () => {
  const rig = createFormRig();
  rig.show(<Checkout rig={rig} />);
  expect(seen()).toBe('Order');
  await press(rig, 'Order');
  expect(seen()).toBe('SentSend another');
  expect(heard('status')).toBe('Sent.');
  expect(rig.book.bodies).toEqual(['{"sku":"kite"}']);
  await rig.time.advance(1000);
  await press(rig, 'Send another');
  expect(seen()).toBe('Order');
  expect(rig.book.orders).toHaveLength(1);
  await press(rig, 'Order');
  expect(rig.book.orders).toHaveLength(2);
});

test('a double click whose first half is answered at once leaves the success to be seen, and is one order', async () => {
  const rig = createFormRig();
  rig.show(<Checkout rig={rig} />);
  await press(rig, 'Order');
  await rig.time.advance(200);
  await press(rig, 'Send another');
  await rig.time.advance(700);
  await press(rig, 'Send another');
  expect(seen()).toBe('SentSend another');
  expect(rig.book.orders).toHaveLength(1);
  await rig.time.advance(100);
  await press(rig, 'Send another');
  expect(seen()).toBe('Order');
});

test('what may have been done is said to, and the next press does not do it twice', async () => {
  const rig = createFormRig();
  rig.book.plan('lost answer');
  rig.show(<Checkout rig={rig} />);
  await press(rig, 'Order');
  expect(seen()).toBe(
    'It is not known whether this has arrivedPress Order again: it will not be done twice.Order',
  );
  expect(heard('alert')).toBe(
    'It is not known whether this has arrived. Press Order again: it will not be done twice.',
  );
  // A press that comes at once is an echo of the one before.
  await rig.time.advance(1000);
  await press(rig, 'Order');
  expect(seen()).toBe('SentSend another');
  expect(rig.book.orders).toHaveLength(1);
});

test('something else after an unknown outcome asks first, with the keyboard at the safe answer', async () => {
  const rig = createFormRig();
  rig.book.plan('lost answer');
  rig.show(<Checkout rig={rig} />);
  await press(rig, 'Order');
  write('dragon');
  await press(rig, 'Order');
  expect(screen.getByRole('group', { name: 'Send this, too?' })).toBeTruthy();
  expect(document.activeElement?.textContent).toBe('Do not send');
  expect(rig.book.orders).toHaveLength(1);
  await press(rig, 'Do not send');
  expect(screen.queryByRole('group', { name: 'Send this, too?' })).toBe(null);
  await press(rig, 'Order');
  await press(rig, 'Send it');
  expect(rig.book.orders.map(({ body }) => body)).toEqual(['{"sku":"kite"}', '{"sku":"dragon"}']);
});

test('what was surely not done is said to be, with why', async () => {
  const rig = createFormRig();
  rig.book.plan(422);
  rig.show(<Checkout rig={rig} />);
  await press(rig, 'Order');
  expect(seen()).toBe('This was not doneThe server refused (422). You can press Order again.Order');
});

test('while it is on its way another press sends nothing, and says so', async () => {
  const rig = createFormRig();
  rig.book.plan('slow');
  rig.show(<Checkout rig={rig} />);
  await press(rig, 'Order');
  expect(seen()).toBe('SendingOrderCancel');
  write('dragon');
  await press(rig, 'Order');
  expect(seen()).toBe(
    'SendingYour changes were not sent: what you sent before is still on its way.OrderCancel',
  );
  rig.book.answer();
  await rig.time.settle();
  expect(seen()).toBe('SentSend another');
  expect(rig.book.orders).toHaveLength(1);
});

test('its fields may be drawn by how it is doing', async () => {
  const rig = createFormRig();
  rig.show(
    <SafeForm form="checkout" mutation={rig.placeOrder} variables={() => ({ sku: 'kite' })}>
      {({ form }) => <output>{form.data?.id ?? 'none'}</output>}
    </SafeForm>,
  );
  await press(rig, 'Send');
  expect(document.querySelector('output')?.textContent).toBe('1');
});

test('where its API knows no key, nothing promises that a second press is not done twice', async () => {
  const rig = createFormRig({ config: { apis: [] } });
  rig.book.plan('lost answer');
  rig.show(<Checkout rig={rig} />);
  await press(rig, 'Order');
  expect(seen()).toBe(
    'It is not known whether this has arrivedIt may have arrived. Sent again, it could be done twice.Order',
  );
  // A press so soon is the second half of a double click.
  await rig.time.advance(1000);
  await press(rig, 'Order');
  expect(seen()).toContain('Send this, too?');
});

/** A form with something else in it. */
async function pressIn(children: ReactNode, name: string) {
  const rig = createFormRig();
  rig.show(
    <SafeForm
      form="checkout"
      mutation={rig.placeOrder}
      submitLabel="Order"
      variables={(fields) => Object.fromEntries(fields)}
    >
      {children}
    </SafeForm>,
  );
  await press(rig, name);
  return rig.book.bodies;
}

test('a dialog in it, with a form of its own, sends nothing of it', async () => {
  const added = vi.fn<(event: FormEvent) => void>((event) => event.preventDefault());
  const dialog = createPortal(
    <form onSubmit={added}>
      <button>Add an address</button>
    </form>,
    document.body,
  );
  expect(await pressIn(dialog, 'Add an address')).toEqual([]);
  expect(added).toHaveBeenCalledTimes(1);
});

test('the button that was pressed is one of its fields', async () => {
  const button = (
    <button name="then" value="pack">
      Order and pack
    </button>
  );
  expect(await pressIn(button, 'Order and pack')).toEqual(['{"then":"pack"}']);
});
