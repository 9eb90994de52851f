import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import {
  type FormHTMLAttributes,
  type ReactNode,
  startTransition,
  useActionState,
  useOptimistic,
  useState,
} from 'react';
import { createPortal, useFormStatus } from 'react-dom';
import { KeyField, useSafeAction } from 'steadfetch/react';
import type { ActionState } from 'steadfetch/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

// Not run with React 18, which has no useActionState.

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(async () => {
  // React ties the actions of all roots together: one that is under way would hold those of the next test.
  await pause(60_000);
  vi.useRealTimers();
});

type Action = (previous: ActionState, fields: FormData) => Promise<ActionState>;
type UseForm = (
  action: Action,
  name: string,
) => { readonly isPending: boolean; readonly props: FormHTMLAttributes<HTMLFormElement> };

const first: ActionState<never> = { status: 'idle', key: 'k1' };
const hooks: Readonly<Record<'React' | 'Steadfetch', UseForm>> = {
  React: function useReact(action) {
    const [, formAction, isPending] = useActionState<ActionState, FormData>(action, first);
    return { isPending, props: { action: formAction } };
  },
  Steadfetch: function useSteadfetch(action, form) {
    const { isPending, formProps } = useSafeAction(action, first, { form });
    return { isPending, props: formProps };
  },
};

interface Given {
  readonly isPending: boolean;
  /** What an action of the page has set as its optimistic state. */
  readonly label: string;
  readonly record: (what: string) => void;
}

function Submit(): ReactNode {
  const { pending } = useFormStatus();
  return <button disabled={pending}>{pending ? 'Sending' : 'Order'}</button>;
}
const article = <input name="article" defaultValue="1" />;

const oneField = (): ReactNode => (
  <>
    {article}
    <button>Order</button>
  </>
);

/** The content of a form, as tutorials write it. */
const contents: Readonly<Record<string, (given: Given) => ReactNode>> = {
  'a button with an action of its own': ({ record }) => (
    <>
      {article}
      <button formAction={(fields) => record(fields.get('article') as string)}>Save</button>
    </>
  ),
  'a dialog in a portal, with a form of its own': ({ record }) => (
    <>
      {article}
      {createPortal(
        <form action={() => record('added')}>
          <button>Add</button>
        </form>,
        document.body,
      )}
    </>
  ),
  'a button with useFormStatus': () => (
    <>
      {article}
      <Submit />
    </>
  ),
  'an action with useOptimistic': ({ label }) => (
    <>
      {article}
      <button>{label}</button>
    </>
  ),
  'a button that is taken away while it is sent': ({ isPending }) => (
    <>
      {article}
      {isPending || (
        <button name="then" value="packed">
          Order
        </button>
      )}
    </>
  ),
  'a named button that is disabled while it is sent': ({ isPending }) => (
    <>
      {article}
      <button name="then" value="packed" disabled={isPending}>
        Order
      </button>
    </>
  ),
  'fields that are disabled while they are sent': ({ isPending }) => (
    <fieldset disabled={isPending}>
      {article}
      <button>Order</button>
    </fieldset>
  ),
};

const callMs = 100;
const pause = (ms: number): Promise<void> =>
  act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
const input = (): HTMLInputElement => screen.getByRole('textbox');
const press = (): void => void fireEvent.click(screen.getByRole('button'));

/** A page with a form whose action takes its time. */
function open(useForm: UseForm, content: (given: Given) => ReactNode) {
  const done: string[] = [];
  const name = `checkout ${crypto.randomUUID()}`;
  let calls = 0;
  function Page() {
    const [label, setLabel] = useOptimistic('Order');
    const [step, setStep] = useState('form');
    const { isPending, props } = useForm(async (_, fields) => {
      setLabel('Ordering');
      calls += 1;
      const fate = page.fates.shift();
      await new Promise((answer) => void setTimeout(answer, callMs));
      if (fate === 'lost') throw new TypeError('Failed to fetch');
      done.push(['article', 'then'].map((field) => fields.get(field) as string).join(' '));
      const submission = fields.get('idempotency-key') as string;
      return { status: 'succeeded', data: 1, isReplayed: false, key: `${submission}+`, submission };
    }, name);
    if (step === 'left') return <p>left</p>;
    return (
      <form {...props}>
        <KeyField state={first} form={name} />
        <a href="#next" onClick={() => startTransition(() => setStep('left'))}>
          Leave
        </a>
        {content({ isPending, label, record: (what) => void done.push(what) })}
      </form>
    );
  }
  const page = {
    done,
    fates: [] as 'lost'[],
    calls: () => calls,
    /** The buttons, what is in the field, and what was done. */
    shown: () => [
      ...screen.queryAllByRole('button').map((one) => one.textContent),
      input().value,
      ...done,
    ],
  };
  render(<Page />);
  return page;
}

describe('a form of useSafeAction does what React does with a form action:', () => {
  test.each(Object.entries(contents))('%s', async (_, content) => {
    const seen = [];
    for (const useForm of [hooks.React, hooks.Steadfetch]) {
      const page = open(useForm, content);
      fireEvent.input(input(), { target: { value: '3' } });
      press();
      await pause(callMs - 1);
      const during = page.shown();
      await pause(1);
      seen.push([during, page.shown()]);
      cleanup();
    }
    expect(seen[1]).toEqual(seen[0]);
  });
});

test('the second half of a double click that comes after the answer does not send the form as it was reset', async () => {
  const page = open(hooks.Steadfetch, oneField);
  fireEvent.input(input(), { target: { value: '3' } });
  press();
  await pause(callMs);
  expect(page.shown()).toEqual(['Order', '1', '3 ']);
  await pause(999);
  press();
  await pause(callMs);
  expect(page.done).toEqual(['3 ']);
  await pause(1);
  press();
  await pause(callMs);
  expect(page.done).toEqual(['3 ', '1 ']);
});

test('what was changed since the form was reset is another submission, however soon', async () => {
  const page = open(hooks.Steadfetch, oneField);
  press();
  await pause(callMs);
  fireEvent.input(input(), { target: { value: '2' } });
  press();
  await pause(callMs);
  expect(page.done).toEqual(['1 ', '2 ']);
});

test('a transition of the page is held back while the first call is under way, as in React, and not while it is sent again', async () => {
  const page = open(hooks.Steadfetch, () => <button>Order</button>);
  page.fates.push('lost', 'lost', 'lost', 'lost');
  press();
  press();
  await pause(callMs - 1);
  fireEvent.click(screen.getByText('Leave'));
  expect(screen.queryByText('left')).toBe(null);
  await pause(1);
  expect(screen.queryByText('left')).not.toBe(null);
  // That of the second press follows the lost one at once.
  expect(page.calls()).toBe(2);
});
