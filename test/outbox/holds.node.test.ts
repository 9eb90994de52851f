import { expect, test } from 'vitest';
import { createHolds } from '../../src/outbox/holds.ts';
import type { Message } from '../../src/outbox/messages.ts';
import type { Row } from '../../src/outbox/row.ts';
import { createBrowser, settle, shop, type TestBrowser, type TestTab } from './rig.ts';

type Shop = TestTab<typeof shop>;

/** A tab whose second order waits, because the answer to the first asks for a pause. */
async function openHeld(browser: TestBrowser): Promise<Shop> {
  const tab = browser.openTab({ handlers: shop });
  tab.outbox.submit('order', 1);
  await settle();
  browser.server.arrivals.at(-1)?.answer(429, {}, { 'retry-after': '30' });
  await settle();
  tab.outbox.submit('order', 2);
  await browser.pass(200);
  return tab;
}

/** What a tab shows: each entry, and the counts. */
async function shownBy({ outbox }: Shop): Promise<string> {
  const entries = await outbox.list();
  const { due, waiting, sending, held } = outbox.getState();
  const shown = entries.map(({ variables, state, hold }) =>
    [String(variables), state, hold?.reason].filter(Boolean).join(' '),
  );
  return `${shown.join(', ')}; due ${due}, waiting ${waiting}, sending ${sending}, held ${held}`;
}
const whileHeld = '1 pending, 2 held rate-limited; due 0, waiting 1, sending 0, held 1';

test('an entry that waits at the gate is held and not sent, until it goes', async () => {
  const browser = createBrowser();
  const tab = await openHeld(browser);
  const { outbox } = tab;
  expect(await shownBy(tab)).toBe(whileHeld);
  expect(await outbox.list({ state: 'sending' })).toEqual([]);
  expect(await outbox.list({ state: 'held' })).toMatchObject([
    { variables: 2, hold: { reason: 'rate-limited' } },
  ]);
  expect(browser.server.arrivals).toHaveLength(1);

  const [held] = await outbox.list({ state: 'held' });
  await outbox.retry(held?.idempotencyKey ?? '');
  await browser.pass(200);
  expect(await shownBy(tab)).toBe('1 pending, 2 sending; due 0, waiting 1, sending 1, held 0');
  expect(await outbox.list({ state: 'held' })).toEqual([]);
  expect((await outbox.list({ state: 'sending' })).map(({ variables }) => variables)).toEqual([2]);
});

test('every tab shows what one of them holds, also one that is opened later', async () => {
  const browser = createBrowser();
  const early = browser.openTab({ handlers: shop });
  const tab = await openHeld(browser);
  const late = browser.openTab({ handlers: shop });
  await browser.pass(200);
  for (const other of [early, late]) {
    expect(await shownBy(other)).toBe(whileHeld);
    expect(await other.outbox.list()).toEqual(await tab.outbox.list());
  }
  const [held] = await tab.outbox.list({ state: 'held' });
  await tab.outbox.retry(held?.idempotencyKey ?? '');
  await browser.pass(200);
  for (const other of [early, late])
    expect(await shownBy(other)).toBe('1 pending, 2 sending; due 0, waiting 1, sending 1, held 0');
});

test('a tab that has slept while an entry was let go, or held, shows how it is now', async () => {
  const browser = createBrowser();
  const other = browser.openTab({ handlers: shop });
  const tab = await openHeld(browser);
  expect(await shownBy(other)).toBe(whileHeld);
  other.freeze();
  const [held] = await tab.outbox.list({ state: 'held' });
  await tab.outbox.retry(held?.idempotencyKey ?? '');
  await browser.pass(200);
  tab.outbox.submit('order', 3);
  await browser.pass(200);
  other.thaw();
  await browser.pass(200);
  const now = '1 pending, 2 sending, 3 held rate-limited; due 0, waiting 1, sending 1, held 1';
  expect(await shownBy(tab)).toBe(now);
  expect(await shownBy(other)).toBe(now);
});

test('an entry that was held by a tab that has died, and by its heir, is counted once', async () => {
  const browser = createBrowser();
  const heir = browser.openTab({ handlers: shop });
  heir.outbox.submit('order', 0);
  await settle();
  browser.server.arrivals[0]?.answer(429, {}, { 'retry-after': '20' });
  const tab = await openHeld(browser);
  expect(await shownBy(heir)).toBe(
    '0 pending, 1 pending, 2 held rate-limited; due 0, waiting 2, sending 0, held 1',
  );
  tab.mute();
  tab.crash();
  await browser.pass(200);
  expect(await heir.outbox.list({ state: 'held' })).toMatchObject([{ variables: 2, attempts: 2 }]);
  expect(await shownBy(heir)).toBe(
    '0 pending, 1 pending, 2 held rate-limited; due 0, waiting 2, sending 0, held 1',
  );
});

test('what is said of an attempt says nothing of the next one, nor of a row that is not sent', () => {
  const posted: Message[] = [];
  const holds = createHolds((message) => void posted.push(message));
  const held = { reason: 'offline', retryAt: undefined } as const;
  const row = { id: 'a', state: 'sending', attempts: 2 } as Row;
  holds.hear({ kind: 'held', id: 'a', attempts: 2, held });
  expect(holds.of(row)).toBe(held);
  expect(holds.of({ ...row, attempts: 3 })).toBeUndefined();
  expect(holds.of({ ...row, state: 'pending' })).toBeUndefined();
  // A tab that was taken over from has woken, and lets go what is no longer its own.
  holds.hear({ kind: 'held', id: 'a', attempts: 1, held: undefined });
  expect(holds.of(row)).toBe(held);
  holds.hear({ kind: 'held', id: 'a', attempts: 3, held });
  expect([...holds.ids()]).toEqual(['a']);
  // Nobody answers for another tab.
  holds.answer();
  expect(posted).toEqual([]);
});
