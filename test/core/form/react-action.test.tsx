import { act, fireEvent, render, screen } from '@testing-library/react';
import { Component, type ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { KeyField, useSafeAction } from 'steadfetch/react';
import { type ActionState, createActionState } from 'steadfetch/server';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openActionForm } from '../../../src/core/form/action-form.ts';

// Not run with React 18, which has no useActionState.

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  // Each wait is three quarters of its step: 375, 750 and 1500 ms.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(async () => {
  // React ties the actions of all roots together: one that is under way would hold those of the next test.
  await pause(60_000);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type State = ActionState<{ id: number }, string>;

/** A shop with a form, whose answers are lost when `lose` says so. */
function createShop(lose: (call: number) => boolean = () => false) {
  const orders: string[] = [];
  // Such a form lasts as long as its page.
  const form = `checkout ${crypto.randomUUID()}`;
  /** What `idempotentAction` does, without digests, which take real time. */
  const answered = new Map<string, { readonly article: string; readonly id: number }>();
  const placeOrder = (fields: FormData): State => {
    const key = fields.get('idempotency-key') as string;
    const article = fields.get('article') as string;
    const next = { isReplayed: false, key: `${key}+`, submission: key };
    if (article === 'nothing') return { status: 'refused', data: 'Sold out.', ...next };
    const known = answered.get(key);
    const reason = 'edited-after-unknown';
    if (known && known.article !== article)
      return { status: 'needs-confirmation', reason, key: next.key, submission: key, fields: {} };
    const id = known?.id ?? orders.push(article);
    answered.set(key, { article: article, id });
    return { status: 'succeeded', data: { id }, ...next, isReplayed: known !== undefined };
  };
  const shop = { orders, calls: 0 };
  const overTheNet = async (_: State, fields: FormData): Promise<State> => {
    const call = ++shop.calls;
    const state = placeOrder(fields);
    if (lose(call)) throw new TypeError('Failed to fetch');
    return state;
  };
  function Checkout({ first }: { readonly first: ReturnType<typeof createActionState> }) {
    const { state, isPending, formProps } = useSafeAction(overTheNet, first, { form });
    return (
      <form {...formProps}>
        <KeyField state={state} form={form} />
        <input name="article" aria-label="Article" defaultValue="" />
        <button>Order</button>
        <p role="status">
          {isPending && 'sending'}
          {!isPending && state.status}
          {state.status === 'succeeded' && ` ${state.data.id}${state.isReplayed ? ' again' : ''}`}
          {state.status === 'refused' && ` ${state.data}`}
        </p>
      </form>
    );
  }
  return Object.assign(shop, { Checkout });
}

const input = (): HTMLInputElement => screen.getByLabelText('Article');
const button = (): HTMLElement => screen.getByRole('button');
const pause = (ms: number): Promise<void> =>
  act(async () => void (await vi.advanceTimersByTimeAsync(ms)));
async function shows(text: string): Promise<void> {
  await pause(0);
  expect(screen.getByRole('status').textContent).toBe(text);
}
const type = (value: string): void => void fireEvent.change(input(), { target: { value } });
const press = (): void => void fireEvent.click(button());

test('a double click is one order, and the next press with the same content is another', async () => {
  const { Checkout, orders } = createShop();
  render(<Checkout first={createActionState()} />);
  type('a lamp');
  press();
  press();
  await shows('succeeded 1');
  expect(input().value).toBe('');
  await pause(1000);
  type('a lamp');
  press();
  await shows('succeeded 2');
  expect(orders).toEqual(['a lamp', 'a lamp']);
});

test('a lost answer is found out by itself, and the order was placed once', async () => {
  const { Checkout, orders } = createShop((call) => call === 1);
  render(<Checkout first={createActionState()} />);
  type('a lamp');
  press();
  await pause(375);
  await shows('succeeded 1 again');
  expect(orders).toEqual(['a lamp']);
});

test('an answer that stays lost is unknown, keeps what was typed, and another page finds it out', async () => {
  const { Checkout, orders } = createShop((call) => call <= 4);
  const first = render(<Checkout first={createActionState()} />);
  type('a lamp');
  press();
  await pause(2625);
  await shows('unknown');
  expect(input().value).toBe('a lamp');
  first.unmount();
  render(<Checkout first={createActionState()} />);
  await shows('unknown');
  await pause(1000);
  type('a lamp');
  press();
  await shows('succeeded 1 again');
  expect(orders).toEqual(['a lamp']);
});

test('edited after an unknown outcome it asks, and a further press sends it', async () => {
  const { Checkout, orders } = createShop((call) => call <= 4);
  render(<Checkout first={createActionState()} />);
  type('a lamp');
  press();
  await pause(5000);
  type('a lamp, and more');
  press();
  await shows('needs-confirmation');
  expect(orders).toEqual(['a lamp']);
  await pause(1000);
  press();
  await shows('succeeded 2');
  expect(orders).toEqual(['a lamp', 'a lamp, and more']);
});

test('a refused form keeps what was typed, and goes again', async () => {
  const { Checkout, orders } = createShop();
  render(<Checkout first={createActionState()} />);
  type('nothing');
  press();
  await shows('refused Sold out.');
  expect(input().value).toBe('nothing');
  type('a lamp');
  press();
  await shows('succeeded 1');
  expect(orders).toEqual(['a lamp']);
});

test('an action that throws on purpose reaches the error boundary', async () => {
  const form = `throwing ${crypto.randomUUID()}`;
  const notFound = Object.assign(new Error('none'), { digest: 'NEXT_HTTP_ERROR_FALLBACK;404' });
  const action = async (): Promise<never> => {
    throw notFound;
  };
  function Form() {
    const { formProps } = useSafeAction<never>(action, createActionState(), { form });
    return (
      <form {...formProps}>
        <KeyField state={{ key: 'k1' }} form={form} />
        <button>Order</button>
      </form>
    );
  }
  class Boundary extends Component<{ readonly children: ReactNode }> {
    override readonly state: { readonly error?: unknown } = {};
    static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
      return { error };
    }
    override render(): ReactNode {
      return this.state.error === notFound ? <p role="status">not found</p> : this.props.children;
    }
  }
  vi.spyOn(console, 'error').mockImplementation(() => {});
  render(
    <Boundary>
      <Form />
    </Boundary>,
  );
  press();
  await pause(0);
  expect(screen.getByRole('status').textContent).toBe('not found');
});

/** What a server renders, in this document, with its script run as a browser does. */
function parse(form: string, state: { readonly key: string; readonly submission?: string }) {
  onTestFinished(() => document.body.replaceChildren());
  document.body.innerHTML = renderToString(
    <form>
      <KeyField state={state} form={form} />
      <button>Order</button>
    </form>,
  );
  const [field] = document.getElementsByTagName('input');
  const [script] = document.getElementsByTagName('script');
  vi.spyOn(document, 'currentScript', 'get').mockReturnValue(script ?? null);
  // oxlint-disable-next-line no-eval -- jsdom runs no script that is parsed late
  (0, eval)(script?.textContent ?? '');
  return {
    key: () => field?.value,
    submit: () => field?.form?.dispatchEvent(new Event('submit')),
  };
}

test('before a page has its JavaScript, a form that was sent keeps its key over a reload, for a minute', () => {
  const form = `native ${crypto.randomUUID()}`;
  const first = parse(form, { key: 'k1' });
  expect(first.key()).toBe('k1');
  first.submit();
  expect(parse(form, { key: 'k2' }).key()).toBe('k1');
  vi.setSystemTime(Date.now() + 60_000);
  expect(parse(form, { key: 'k2' }).key()).toBe('k1');
  vi.setSystemTime(Date.now() + 1);
  expect(parse(form, { key: 'k2' }).key()).toBe('k2');
});

test('the state of the page that answers ends it, with and without JavaScript', () => {
  const form = `native ${crypto.randomUUID()}`;
  parse(form, { key: 'k1' }).submit();
  expect(parse(form, { key: 'k2', submission: 'k1' }).key()).toBe('k2');
  expect(parse(form, { key: 'k3' }).key()).toBe('k3');
  parse(form, { key: 'k3' }).submit();
  document.body.innerHTML = '';
  render(<KeyField state={{ key: 'k4', submission: 'k3' }} form={form} />);
  expect(parse(form, { key: 'k5' }).key()).toBe('k5');
});

test('a name cannot end the script, and is the same for the page that has its JavaScript', () => {
  const form = `</script><b> ${crypto.randomUUID()}`;
  const html = renderToString(<KeyField state={{ key: 'k1' }} form={form} />);
  expect(html).not.toContain('</script><b>');
  parse(form, { key: 'k1' }).submit();
  expect(openActionForm(form).keyFor('k2')).toBe('k1');
});

test('a page that is rendered by the browser has no script', () => {
  const { container } = render(<KeyField state={{ key: 'k1' }} form="client" />);
  expect(container.querySelectorAll('input')).toHaveLength(1);
  expect(container.querySelector('script')).toBe(null);
});

const isState = 'and must be what createActionState or the action returns.';
const isName = 'and must be a name, which no other form of the site has.';
const idle = { status: 'idle', key: 'a' };

test.each<readonly [name: string, given: readonly unknown[], message: string]>([
  ['no action', [undefined, idle, { form: 'a' }], 'action is undefined, and must be a function.'],
  ['no state', [() => {}, undefined, { form: 'a' }], `initialState is undefined, ${isState}`],
  [
    'null, as for useActionState',
    [() => {}, null, { form: 'a' }],
    `initialState is null, ${isState}`,
  ],
  [
    'a state of the app, as for useActionState',
    [() => {}, { message: '' }, { form: 'a' }],
    `initialState is {"message":""}, ${isState}`,
  ],
  ['no name', [() => {}, idle, {}], `form is undefined, ${isName}`],
  ['an empty name', [() => {}, idle, { form: '' }], `form is '', ${isName}`],
])('useSafeAction with %s is a TypeError before a press', (_name, given, message) => {
  function Form() {
    (useSafeAction as (...args: readonly unknown[]) => unknown)(...given);
    return null;
  }
  expect(() => renderToString(<Form />)).toThrow(new TypeError(`useSafeAction: ${message}`));
});

test.each<readonly [props: object, message: string]>([
  [{ form: 'a' }, `state is undefined, ${isState}`],
  [{ form: 'a', state: { message: '' } }, `state is {"message":""}, ${isState}`],
  [{ state: idle }, `form is undefined, ${isName}`],
])('KeyField with %j is a TypeError, and no field without a key', (props, message) => {
  const Field = KeyField as (props: object) => ReactNode;
  expect(() => renderToString(<Field {...props} />)).toThrow(new TypeError(`KeyField: ${message}`));
});
