import { notifyManager, QueryClientProvider, useMutation } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import { StrictMode, type ReactNode, useEffect } from 'react';
import { createSteadfetch } from 'steadfetch';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import {
  type OutboxControls,
  useOutbox,
  useOutboxEntries,
  useOutboxEntry,
  useOutboxMutation,
  useSafeSubmit,
  useMutationStatus,
} from 'steadfetch/react';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createBrowser, settle, shop, type TestBrowser, type TestTab } from '../rig.ts';

let browser: TestBrowser;
let tab: TestTab<typeof shop>;

// By default it tells in a timer, which nothing here would wait for.
beforeAll(() => notifyManager.setScheduler(setImmediate));
beforeEach(() => {
  browser = createBrowser();
  tab = browser.openTab({ handlers: shop });
});
afterEach(() => tab.crash());

const show = (screenful: ReactNode): void => {
  render(
    <StrictMode>
      <QueryClientProvider client={tab.client}>{screenful}</QueryClientProvider>
    </StrictMode>,
  );
};
const pass = (ms: number): Promise<void> => act(() => browser.pass(ms));
const text = (): string | null => screen.getByRole('status').textContent;
const press = (name: string): Promise<void> =>
  act(async () => {
    screen.getByRole('button', { name }).click();
    await settle();
  });

function Counts() {
  const { storage, due, waiting, sending, paused, dead } = useOutbox();
  return <p role="status">{[storage, due, waiting, sending, paused, dead].join(' ')}</p>;
}

test('the counts follow an entry from its first attempt over its wait to its end, and one that is paused', async () => {
  show(<Counts />);
  await pass(200);
  expect(text()).toBe('durable 0 0 0 0 0');
  tab.outbox.submit('order', 1);
  await pass(200);
  expect(text()).toBe('durable 0 0 1 0 0');
  browser.server.arrivals[0]?.answer(503, {}, { 'retry-after': '5' });
  await pass(200);
  expect(text()).toBe('durable 0 1 0 0 0');
  // The server has asked for a pause: nothing of this one is sent in it.
  tab.outbox.submit('order', 2);
  await pass(200);
  expect(text()).toBe('durable 0 1 0 1 0');
  expect(browser.server.arrivals).toHaveLength(1);
  browser.server.rule = (arrival) => arrival.answer(422);
  await pass(60_000);
  expect(text()).toBe('durable 0 0 0 0 2');
});

test('entries are listed with what is known of them, and an unchanged one is the same object', async () => {
  const seen: unknown[] = [];
  function List() {
    const entries = useOutboxEntries({ handler: 'order' });
    seen.push(entries?.[0]);
    return (
      <p role="status">{entries?.map(({ state, variables }) => `${state} ${String(variables)}`)}</p>
    );
  }
  show(<List />);
  await pass(200);
  expect(text()).toBe('');
  tab.outbox.submit('order', 'lamp');
  await pass(200);
  expect(text()).toBe('sending lamp');
  const first = seen.at(-1);
  tab.outbox.submit('order', 'rug');
  await pass(200);
  expect(text()).toBe('sending lampsending rug');
  expect(seen.at(-1)).toBe(first);
});

test('the entries of another outbox than that of the QueryClient are shown where it is given', async () => {
  const other = createOutbox({
    steady: createSteadfetch({ clock: browser.clock }),
    name: `${browser.name} of another`,
    handlers: { note: { mutationFn: () => new Promise<string>(() => {}) } },
  });
  function List() {
    const notes = useOutboxEntries({ handler: 'note' }, other);
    return <p role="status">{notes?.map(({ variables }) => String(variables))}</p>;
  }
  show(<List />);
  other.submit('note', 'theirs');
  tab.outbox.submit('order', 'ours');
  await pass(200);
  expect(text()).toBe('theirs');
  other.dispose();
});

test('an entry is found by its key after a reload, with its reason, and sent again at a press', async () => {
  browser.server.rule = (arrival, count) => arrival.answer(count === 1 ? 404 : 201);
  const { idempotencyKey } = tab.outbox.submit('order', 'lamp');
  await pass(200);
  tab.crash();
  tab = browser.openTab({ handlers: shop });
  function Entry() {
    const { entry, isLoading, retry } = useOutboxEntry(idempotencyKey);
    return (
      <>
        <p role="status">{isLoading ? 'loading' : `${entry?.state} ${entry?.reason}`}</p>
        <button onClick={() => void retry()}>Again</button>
      </>
    );
  }
  show(<Entry />);
  expect(text()).toBe('loading');
  await pass(200);
  expect(text()).toBe('dead refused');
  await press('Again');
  await pass(200);
  expect(text()).toBe('done undefined');
  expect(browser.server.arrivals).toHaveLength(2);
});

function Order() {
  const { mutate, data, isSaved, target, status } = useOutboxMutation(
    tab.outbox.mutationOptions('order', { mutationKey: ['order'] }),
  );
  const { status: shown, attempt, retryNow, cancel } = useMutationStatus(target);
  return (
    <>
      <p role="status">
        {[status, isSaved ? 'saved' : 'unsaved', shown, attempt, data?.id].join(' ')}
      </p>
      <button onClick={() => mutate('lamp')}>Order</button>
      <button onClick={retryNow}>Now</button>
      <button onClick={cancel}>Cancel</button>
    </>
  );
}

test('an entry that is refused again is still shown by its first key, though it is sent under another', async () => {
  browser.server.rule = (arrival) => arrival.answer(422);
  const { idempotencyKey } = tab.outbox.submit('order', 'lamp');
  await pass(200);
  function Entry() {
    const { entry, retry, discard } = useOutboxEntry(idempotencyKey);
    return (
      <>
        <p role="status">{`${entry?.state} ${entry?.reason}`}</p>
        <button onClick={() => void retry()}>Again</button>
        <button onClick={() => void discard()}>Discard</button>
      </>
    );
  }
  show(<Entry />);
  await pass(200);
  for (const requests of [2, 3]) {
    await press('Again');
    await pass(1000);
    expect(browser.server.arrivals).toHaveLength(requests);
    expect(text()).toBe('dead refused');
  }
  expect(new Set(browser.server.arrivals.map(({ key }) => key)).size).toBe(3);
  await press('Discard');
  await pass(1000);
  expect(text()).toBe('undefined undefined');
});

test('a mutation shows that it is saved, each attempt, its wait and its success', async () => {
  show(<Order />);
  expect(text()).toBe('idle unsaved idle 0 ');
  await press('Order');
  await pass(200);
  expect(text()).toBe('pending saved sending 1 ');
  browser.server.arrivals[0]?.answer(503, {}, { 'retry-after': '5' });
  await pass(200);
  expect(text()).toBe('pending saved waiting 1 ');
  await press('Now');
  expect(browser.server.arrivals).toHaveLength(2);
  await pass(200);
  expect(text()).toBe('pending saved sending 2 ');
  browser.server.arrivals[1]?.answer(201, { id: 5 });
  await pass(200);
  expect(text()).toBe('success unsaved succeeded 2 5');
});

function Wait() {
  const { mutate, target, entry } = useOutboxMutation(tab.outbox.mutationOptions('order'));
  const { status, retryAt = NaN } = useMutationStatus(target);
  const inS = Math.round((retryAt - browser.clock.now()) / 1000);
  return (
    <>
      <p role="status">
        {status} {inS} {retryAt === entry?.nextRetryAt ? 'as its entry' : 'unlike its entry'}
      </p>
      <button onClick={() => mutate('lamp')}>Order</button>
    </>
  );
}

test('a mutation waits until the time on the wall that its entry shows, after the clock was set back, too', async () => {
  show(<Wait />);
  browser.clock.jump(-3_600_000);
  await press('Order');
  await pass(200);
  browser.server.arrivals[0]?.answer(503, {}, { 'retry-after': '60' });
  await pass(200);
  expect(text()).toMatch(/^waiting 6\d as its entry$/);
});

test('Cancel discards an entry, and says that its outcome is unknown once it was sent', async () => {
  show(<Order />);
  await press('Order');
  await press('Cancel');
  await pass(200);
  expect(text()).toBe('error unsaved unknown 1 ');
  expect(await tab.outbox.list()).toEqual([]);
});

test.each(['Now', 'Cancel'])(
  '%s on a disk that fails leaves the entry as it is, and says that the disk has failed, until it works',
  async (button) => {
    const unhandled = vi.fn<(reason: unknown) => void>();
    process.on('unhandledRejection', unhandled);
    show(<Order />);
    await press('Order');
    await pass(200);
    browser.server.arrivals[0]?.answer(503, {}, { 'retry-after': '60' });
    await pass(200);
    for (const [fault, storage] of [
      ['quota', 'quota'],
      ['write', 'lost'],
    ] as const) {
      tab.fail(fault);
      await press(button);
      await pass(200);
      expect(text()).toBe('pending saved waiting 1 ');
      expect(tab.outbox.getState().storage).toBe(storage);
    }
    expect(unhandled).not.toHaveBeenCalled();
    process.off('unhandledRejection', unhandled);
    tab.fail('none');
    await pass(1000);
    await press(button);
    await pass(200);
    expect(tab.outbox.getState().storage).toBe('durable');
    expect(text()).toBe(button === 'Now' ? 'pending saved sending 2 ' : 'error unsaved unknown 1 ');
  },
);

test('a dead letter ends the mutation as failed, with its reason', async () => {
  browser.server.rule = (arrival) => arrival.answer(422);
  show(<Order />);
  await press('Order');
  await pass(200);
  expect(text()).toBe('error saved failed 1 ');
});

test('delivery makes queries stale in every open tab, and tells the handler there', async () => {
  const onDelivered = vi.fn<(delivered: object) => void>();
  const handlers = {
    order: outboxHandler({ ...shop.order, invalidates: [['orders']], onDelivered }),
  };
  const other = browser.openTab({ handlers });
  tab.crash();
  const own = browser.openTab({ handlers });
  for (const { client } of [own, other]) client.setQueryData(['orders'], []);
  browser.server.rule = (arrival) => arrival.answer(201, { id: 3 });
  const { delivered, idempotencyKey } = own.outbox.submit('order', 'lamp');
  await delivered;
  await settle();
  for (const { client } of [own, other]) {
    expect(client.getQueryState(['orders'])?.isInvalidated).toBe(true);
    expect(onDelivered).toHaveBeenCalledWith({
      idempotencyKey,
      variables: 'lamp',
      data: { id: 3 },
      client,
    });
  }
  expect(onDelivered).toHaveBeenCalledTimes(2);
  own.crash();
  other.crash();
});

const isAskedBeforeLeaving = (): boolean =>
  !dispatchEvent(new Event('beforeunload', { cancelable: true }));

test('the browser asks before the page is left only until the submission is on the disk', async () => {
  const { saved } = tab.outbox.submit('order', 'lamp');
  expect(isAskedBeforeLeaving()).toBe(true);
  await saved;
  expect(isAskedBeforeLeaving()).toBe(false);
});

test('a form over the outbox sends once, under the key that the form knows over a reload', async () => {
  function Checkout() {
    const { submit, status, unknown } = useSafeSubmit(tab.outbox.mutationOptions('order'), {
      form: 'outbox checkout',
    });
    return (
      <>
        <p role="status">{[status, unknown ? 'unknown' : ''].join(' ')}</p>
        <button onClick={() => void submit('lamp')}>Order</button>
      </>
    );
  }
  show(<Checkout />);
  await press('Order');
  await press('Order');
  await pass(200);
  expect(text()).toBe('pending ');
  expect(await tab.outbox.list()).toHaveLength(1);
  // It is on the disk: nobody need stay.
  expect(isAskedBeforeLeaving()).toBe(false);
  while (browser.server.arrivals.length === 0) await pass(100);
  browser.server.arrivals[0]?.answer(201, { id: 1 });
  while (text() === 'pending ') await pass(100);
  expect(text()).toBe('success ');
  expect(browser.server.arrivals).toHaveLength(1);
});

test('plain useMutation takes the options as they are', async () => {
  browser.server.rule = (arrival) => arrival.answer(201, { id: 2 });
  function Plain() {
    const { mutate, data } = useMutation(tab.outbox.mutationOptions('order'));
    return (
      <>
        <p role="status">{data?.id}</p>
        <button onClick={() => mutate('lamp')}>Order</button>
      </>
    );
  }
  show(<Plain />);
  await press('Order');
  await pass(200);
  expect(text()).toBe('2');
});

test('without an outbox the hook is empty, and says once what is missing, as its controls do', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  tab.outbox.dispose();
  const seen: OutboxControls[] = [];
  const Empty = () => {
    const controls = useOutbox();
    useEffect(() => void seen.push(controls));
    return <p>{controls.dead}</p>;
  };
  show(<Empty />);
  const missing =
    'useOutbox: this QueryClient has no outbox. Make one at start-up: createOutbox({ steady, queryClient, handlers }).';
  expect(screen.getByRole('paragraph').textContent).toBe('0');
  expect(warn.mock.calls).toEqual([
    [
      `[steadfetch] ${missing} Until then it shows nothing. See node_modules/steadfetch/docs/outbox.md#usage.`,
    ],
  ]);
  await expect(seen[0]?.retryAll()).rejects.toThrow(missing);
  warn.mockRestore();
});
