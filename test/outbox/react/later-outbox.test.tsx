import { notifyManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import { type ReactElement, useState } from 'react';
import { createSteadfetch } from 'steadfetch';
import { type AnyOutboxHandlers, createOutbox, type Outbox } from 'steadfetch/outbox';
import { useOutbox, useOutboxEntries, useOutboxEntry } from 'steadfetch/react';
import { OutboxBadge, OutboxPanel } from 'steadfetch/ui';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBrowser, type TestBrowser } from '../rig.ts';

// By default it tells in a timer, which nothing here would wait for.
beforeAll(() => notifyManager.setScheduler(setImmediate));

let browser: TestBrowser;
let client: QueryClient;
let open: Outbox[];

beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  browser = createBrowser();
  client = new QueryClient();
  open = [];
});
afterEach(() => {
  for (const outbox of open) outbox.dispose();
});

const handlers = {
  order: { mutationFn: () => new Promise<string>(() => {}) },
} satisfies AnyOutboxHandlers;

/** The outbox of a user, with so many entries that do not end. */
async function openFor(user: string, entries: number): Promise<Outbox> {
  const outbox = createOutbox({
    steady: createSteadfetch({ clock: browser.clock }),
    queryClient: client,
    name: browser.name,
    user,
    handlers,
  }) as unknown as Outbox;
  open.push(outbox);
  for (let entry = 0; entry < entries; entry++)
    outbox.submit('order', user as never).delivered.catch(() => {});
  await pass(1000);
  return outbox;
}

const pass = (ms: number): Promise<void> => act(() => browser.pass(ms));

function Counts(): ReactElement {
  const { due = 0, sending = 0, waiting = 0, paused = 0 } = useOutbox();
  return <p>{due + sending + waiting + paused}</p>;
}
function Entries(): ReactElement {
  return <p>{useOutboxEntries()?.length ?? 0}</p>;
}
function Badge(): ReactElement {
  return <OutboxBadge>{({ toSend = 0 }) => toSend}</OutboxBadge>;
}
function Panel(): ReactElement {
  return <OutboxPanel>{({ entries }) => entries.length}</OutboxPanel>;
}

const show = (View: () => ReactElement): (() => string) => {
  const { container } = render(
    <QueryClientProvider client={client}>
      <View />
    </QueryClientProvider>,
  );
  return () => container.textContent.replaceAll(/\D/g, '');
};

const views = {
  useOutbox: Counts,
  useOutboxEntries: Entries,
  OutboxBadge: Badge,
  OutboxPanel: Panel,
};

describe.each(Object.entries(views))('%s, once it is on the screen, shows', (_, View) => {
  test('the outbox that is made later, as at a log-in', async () => {
    const shown = show(View);
    await openFor('ann', 2);
    expect(shown()).toBe('2');
  });

  test('that of the next user, made after the one before it is disposed of', async () => {
    const first = await openFor('ann', 2);
    const shown = show(View);
    await pass(1000);
    expect(shown()).toBe('2');
    act(() => first.dispose());
    await openFor('bob', 1);
    expect(shown()).toBe('1');
  });

  test('that of the next user, made before the one before it is disposed of', async () => {
    const first = await openFor('ann', 2);
    const shown = show(View);
    await openFor('bob', 1);
    act(() => first.dispose());
    await pass(1000);
    expect(shown()).toBe('1');
  });
});

test('useOutboxEntry finds its entry in an outbox that is made later', async () => {
  const before = await openFor('ann', 0);
  const { idempotencyKey } = before.submit('order', 'lamp' as never);
  await pass(1000);
  before.dispose();
  function Entry(): ReactElement {
    const { entry } = useOutboxEntry(idempotencyKey);
    return <p>{entry ? 1 : 0}</p>;
  }
  const shown = show(Entry);
  await openFor('ann', 0);
  expect(shown()).toBe('1');
});

test('an outbox that a component makes as it mounts is shown by those that were there before, without a warning of React', async () => {
  const warned = vi.spyOn(console, 'error').mockReturnValue();
  const make = (): Outbox =>
    createOutbox({
      steady: createSteadfetch({ clock: browser.clock }),
      queryClient: client,
      name: browser.name,
      handlers,
    }) as unknown as Outbox;
  function Session(): ReactElement {
    const [outbox] = useState(make);
    open.push(outbox);
    return <button onClick={() => outbox.submit('order', 'lamp' as never)}>Order</button>;
  }
  const App = ({ isIn }: { readonly isIn: boolean }): ReactElement => (
    <QueryClientProvider client={client}>
      <Counts />
      {isIn && <Session />}
    </QueryClientProvider>
  );
  const { container, getByRole, rerender } = render(<App isIn={false} />);
  rerender(<App isIn />);
  act(() => getByRole('button').click());
  await pass(1000);
  expect(container.textContent).toBe('1Order');
  expect(warned).not.toHaveBeenCalled();
});

test('an outbox that a component makes in each render does not render it for ever', async () => {
  let renders = 0;
  function Maker(): ReactElement {
    renders++;
    const { dead = 0 } = useOutbox();
    const steady = createSteadfetch({ clock: browser.clock });
    const name = `${browser.name} in a component`;
    open.push(createOutbox({ steady, queryClient: client, name, handlers }) as unknown as Outbox);
    return <p>{dead}</p>;
  }
  show(Maker);
  await pass(1000);
  const before = renders;
  await pass(5000);
  expect(renders).toBe(before);
});
