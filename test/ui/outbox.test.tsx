import { notifyManager, QueryClientProvider } from '@tanstack/react-query';
import { act, fireEvent, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { english, OutboxBadge, OutboxPanel, TextsProvider } from 'steadfetch/ui';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { OutboxContext } from 'steadfetch/outbox';
import {
  createBrowser,
  plainApi,
  settle,
  shop,
  type TestBrowser,
  type TestTab,
} from '../outbox/rig.ts';

let browser: TestBrowser;
let tab: TestTab<typeof shop>;

// By default it tells in a timer, which nothing here would wait for.
beforeAll(() => notifyManager.setScheduler(setImmediate));
beforeEach(() => {
  browser = createBrowser();
  tab = browser.openTab({ handlers: shop });
});
afterEach(() => tab.crash());

const show = (children: ReactNode): void => {
  render(<QueryClientProvider client={tab.client}>{children}</QueryClientProvider>);
};
const pass = (ms: number): Promise<void> => act(() => browser.pass(ms));
const press = (name: string): Promise<void> =>
  act(async () => {
    fireEvent.click(screen.getByRole('button', { name }));
    await settle();
  });
const seen = (selector: string): string => {
  const copy = document.querySelector(selector)?.cloneNode(true) as HTMLElement;
  for (const told of copy.querySelectorAll('.steadfetch-told')) told.remove();
  return copy.textContent;
};
const describe = ({ variables }: { readonly variables: unknown }): string => String(variables);

test('the badge counts what is to be sent, and what needs the user, which is also heard', async () => {
  show(<OutboxBadge />);
  await pass(200);
  expect(seen('.steadfetch-badge')).toBe('');
  tab.outbox.submit('order', 'lamp');
  tab.outbox.submit('order', 'rug');
  await pass(200);
  expect(seen('.steadfetch-badge')).toBe('2 to send');
  browser.server.arrivals[0]?.answer(422);
  await pass(200);
  expect(seen('.steadfetch-badge')).toBe('1 to send, 1 needs your attention');
  expect(screen.getByRole('status').textContent).toBe('1 needs your attention');
});

test('the panel says what is under way, and why something needs the user', async () => {
  show(<OutboxPanel describe={describe} />);
  await pass(200);
  expect(seen('.steadfetch-outbox')).toBe('Everything is sent.');
  tab.outbox.submit('order', 'lamp');
  await pass(200);
  expect(seen('.steadfetch-entry')).toBe('lampSending. Attempt 1.Discard ');
  browser.server.arrivals[0]?.answer(422);
  await pass(200);
  expect(seen('.steadfetch-entry')).toBe(
    'lampNot sent. The server refused (422).Send again Discard ',
  );
  expect(screen.getByRole('button', { name: 'Send again lamp' })).toBeTruthy();
});

test('what may have arrived is not said to be unsent', async () => {
  const handlers = {
    order: {
      mutationFn: (order: unknown, { fetch }: OutboxContext) =>
        fetch(`${plainApi}/orders`, { method: 'POST', body: String(order) }),
    },
  };
  tab.crash();
  tab = browser.openTab({ handlers }) as unknown as typeof tab;
  show(<OutboxPanel describe={describe} />);
  tab.outbox.submit('order', 'lamp');
  await pass(200);
  browser.server.arrivals[0]?.cut();
  await pass(200);
  expect(seen('.steadfetch-entry')).toBe(
    'lampIt is not known whether this was done. It may have arrived. Sent again, it could be done twice.' +
      'Send again Discard ',
  );
});

test('Send again sends it, and it is gone once it has arrived', async () => {
  browser.server.rule = (arrival, count) => arrival.answer(count === 1 ? 422 : 201, { id: 1 });
  show(<OutboxPanel describe={describe} />);
  tab.outbox.submit('order', 'lamp');
  await pass(200);
  await press('Send again lamp');
  await pass(200);
  expect(seen('.steadfetch-outbox')).toBe('Everything is sent.');
  expect(browser.server.arrivals).toHaveLength(2);
});

test('Discard asks once more, with the keyboard at Keep, which changes nothing', async () => {
  browser.server.rule = (arrival) => arrival.answer(422);
  show(<OutboxPanel describe={describe} />);
  tab.outbox.submit('order', 'lamp');
  await pass(200);
  await press('Discard lamp');
  expect(document.activeElement?.textContent).toBe('Keep lamp');
  await press('Keep lamp');
  expect(seen('.steadfetch-entry')).toContain('lamp');
  expect(document.activeElement?.textContent).toBe('Discard lamp');
  await press('Discard lamp');
  await press('Discard for good lamp');
  await pass(200);
  expect(seen('.steadfetch-outbox')).toBe('Everything is sent.');
  expect(screen.getByRole('status').textContent).toBe('Discarded.');
});

test('Edit opens the form of the app, and sends what it gives', async () => {
  browser.server.rule = (arrival, count) => arrival.answer(count === 1 ? 422 : 201, { id: 1 });
  show(
    <OutboxPanel
      describe={describe}
      edit={(entry, { send }) => (
        <button type="button" onClick={() => send(`${String(entry.variables)} in red`)}>
          In red
        </button>
      )}
    />,
  );
  tab.outbox.submit('order', 'lamp');
  await pass(200);
  await press('Edit lamp');
  await press('In red');
  await pass(200);
  expect(browser.server.arrivals.map(({ body }) => body)).toEqual(['"lamp"', '"lamp in red"']);
  expect(seen('.steadfetch-outbox')).toBe('Everything is sent.');
});

test('without a description, an entry is named by its handler and its time', async () => {
  show(<OutboxPanel />);
  tab.outbox.submit('order', 'lamp');
  await pass(200);
  expect(seen('.steadfetch-entry .steadfetch-title')).toMatch(/^order, \w{3} \d+, \d{4}, \d+:\d\d/);
});

test('a panel makes one format of dates, however many entries it shows, and however often', async () => {
  const made = vi.spyOn(Intl, 'DateTimeFormat');
  show(
    <TextsProvider texts={[{ ...english, lang: 'en-NZ' }]}>
      <OutboxPanel />
    </TextsProvider>,
  );
  for (const name of ['lamp', 'rug', 'mat']) tab.outbox.submit('order', name);
  await pass(200);
  browser.server.arrivals[0]?.answer(422);
  await pass(200);
  expect(screen.getAllByRole('listitem')).toHaveLength(3);
  expect(made.mock.calls.filter(([lang]) => lang === 'en-NZ')).toHaveLength(1);
  made.mockRestore();
});

test('a render prop draws the badge, and what is heard stays', async () => {
  browser.server.rule = (arrival) => arrival.answer(422);
  show(<OutboxBadge>{({ toSend, dead, text }) => `${toSend}/${dead}: ${text}`}</OutboxBadge>);
  tab.outbox.submit('order', 'lamp');
  await pass(200);
  expect(seen('.steadfetch-badge')).toBe('0/1: 1 needs your attention');
  expect(screen.getByRole('status').textContent).toBe('1 needs your attention');
});

test('a render prop draws the panel', async () => {
  show(
    <OutboxPanel>
      {({ entries }) => entries.map(({ entry, words }) => `${entry.handler}: ${words.title}`)}
    </OutboxPanel>,
  );
  tab.outbox.submit('order', 'lamp');
  await pass(200);
  expect(seen('.steadfetch-outbox')).toBe('order: Sending');
});
