import { act, fireEvent, render, screen } from '@testing-library/react';
import { type ReactNode, StrictMode } from 'react';
import { KeyField, useSafeAction } from 'steadfetch/react';
import { type ActionState, createActionState } from 'steadfetch/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

// Not run with React 18, which has no useActionState.

const warn = vi.spyOn(console, 'warn');
beforeEach(() => void warn.mockReset());
afterEach(() => vi.useRealTimers());

const like = async (_: ActionState<number>, fields: FormData): Promise<ActionState<number>> => {
  const key = fields.get('idempotency-key') as string;
  return { status: 'succeeded', data: 1, isReplayed: false, key: `${key}+`, submission: key };
};
const first = createActionState();

function Row({ form }: { readonly form: string }): ReactNode {
  const { state, formProps } = useSafeAction(like, first, { form });
  return (
    <form {...formProps}>
      <KeyField state={state} form={form} />
      <button>Like</button>
    </form>
  );
}

async function press(): Promise<void> {
  fireEvent.click(screen.getAllByRole('button').at(-1) as HTMLElement);
  await act(async () => void (await vi.advanceTimersByTimeAsync(60_000)));
}

const warning =
  '[steadfetch] KeyField, form like-two: the page has two forms of this name. The same content of the other one is not ' +
  'sent: it gets the answer of the first. Name them `row-${id}`. ' +
  'See node_modules/steadfetch/docs/idempotency.md#anti-patterns.';

test.each<[string, readonly string[], boolean, readonly string[]]>([
  ['two forms of one name', ['like-two', 'like-two'], false, [warning]],
  ['two forms of their own names', ['like-1', 'like-2'], false, []],
  ['one form', ['like-one'], false, []],
  ['one form in StrictMode', ['like-strict'], true, []],
])('%s: a press warns of the second one of a name, once', async (_, names, isStrict, said) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const [one = '', two] = names;
  const rows = (
    <>
      <Row form={one} />
      {two && <Row form={two} />}
    </>
  );
  render(isStrict ? <StrictMode>{rows}</StrictMode> : rows);
  await press();
  await press();
  expect(warn.mock.calls.map(([text]) => text as string)).toEqual(said);
});

test('a form in the place of another one of its name is not warned about', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const { rerender } = render(<Row key="before" form="like-next" />);
  await press();
  rerender(<Row key="after" form="like-next" />);
  await press();
  expect(warn).not.toHaveBeenCalled();
});
