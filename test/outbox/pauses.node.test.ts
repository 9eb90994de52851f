import { expect, test } from 'vitest';
import { createSteadyClock } from '../../src/core/lib/clock.ts';
import { createVirtualClock } from '../core/origin/virtual-clock.ts';
import { Pauses, type Message } from '../../src/outbox/messages.ts';
import type { Row } from '../../src/outbox/store/row.ts';
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

/** The second order waits, because the answer to the first asks for a pause. */
async function waitFor({ outbox }: Shop, browser: TestBrowser): Promise<void> {
  outbox.submit('order', 1);
  await browser.pass(100);
  outbox.submit('order', 2);
  await browser.pass(200);
}

/** What a tab shows: each entry, and the counts. */
async function shownBy({ outbox }: Shop): Promise<string> {
  const entries = await outbox.list();
  const { due, waiting, sending, paused } = outbox.getState();
  const shown = entries.map(({ variables, state, pause }) =>
    [String(variables), state, pause?.reason].filter(Boolean).join(' '),
  );
  return `${shown.join(', ')}; due ${due}, waiting ${waiting}, sending ${sending}, paused ${paused}`;
}
const whilePaused = '1 pending, 2 paused rate-limited; due 0, waiting 1, sending 0, paused 1';

test('an entry that waits at the gate is paused and not sent, until it goes', async () => {
  const browser = createBrowser();
  const tab = await openHeld(browser);
  const { outbox } = tab;
  expect(await shownBy(tab)).toBe(whilePaused);
  expect(await outbox.list({ state: 'sending' })).toEqual([]);
  expect(await outbox.list({ state: 'paused' })).toMatchObject([
    { variables: 2, pause: { reason: 'rate-limited' } },
  ]);
  expect(browser.server.arrivals).toHaveLength(1);

  const [paused] = await outbox.list({ state: 'paused' });
  await outbox.retry(paused?.idempotencyKey ?? '');
  await browser.pass(200);
  expect(await shownBy(tab)).toBe('1 pending, 2 sending; due 0, waiting 1, sending 1, paused 0');
  expect(await outbox.list({ state: 'paused' })).toEqual([]);
  expect((await outbox.list({ state: 'sending' })).map(({ variables }) => variables)).toEqual([2]);
});

test('times are shown by the clock on the wall, here and in other tabs, also where that was set back', async () => {
  const browser = createBrowser();
  const { clock } = browser;
  const other = browser.openTab({ handlers: shop });
  const before = browser.openTab({ handlers: shop });
  await browser.pass(100);
  clock.jump(-3_600_000);
  // This page was here before.
  browser.server.rule = (arrival) => arrival.answer(429, {}, { 'retry-after': '30' });
  await waitFor(before, browser);
  const later = browser.openTab({ handlers: shop });
  await browser.pass(200);
  for (const { outbox } of [before, other, later]) {
    const [first, second] = await outbox.list();
    expect([first?.state, second?.state]).toEqual(['pending', 'paused']);
    for (const at of [first?.nextRetryAt, second?.pause?.retryAt])
      expect(Math.round(((at ?? NaN) - clock.now()) / 10_000)).toBe(3);
  }
  clock.jump(-3_600_000);
  await browser.pass(100);
  const [paused] = await before.outbox.list({ state: 'paused' });
  expect(Math.round(((paused?.pause?.retryAt ?? NaN) - clock.now()) / 10_000)).toBe(3);
});

test('every tab shows what one of them has paused, also one that is opened later', async () => {
  const browser = createBrowser();
  const early = browser.openTab({ handlers: shop });
  const tab = await openHeld(browser);
  const late = browser.openTab({ handlers: shop });
  await browser.pass(200);
  for (const other of [early, late]) {
    expect(await shownBy(other)).toBe(whilePaused);
    const entries = await other.outbox.list();
    expect(entries.map(({ sentBy }) => sentBy)).toEqual([undefined, 'another-tab']);
    expect(entries.map((entry) => ({ ...entry, sentBy: entry.sentBy && 'this-tab' }))).toEqual(
      await tab.outbox.list(),
    );
  }
  const [paused] = await tab.outbox.list({ state: 'paused' });
  await tab.outbox.retry(paused?.idempotencyKey ?? '');
  await browser.pass(200);
  for (const other of [early, late])
    expect(await shownBy(other)).toBe(
      '1 pending, 2 sending; due 0, waiting 1, sending 1, paused 0',
    );
});

test('a tab that has slept while an entry was let go, or paused, shows how it is now', async () => {
  const browser = createBrowser();
  const other = browser.openTab({ handlers: shop });
  const tab = await openHeld(browser);
  expect(await shownBy(other)).toBe(whilePaused);
  other.freeze();
  const [paused] = await tab.outbox.list({ state: 'paused' });
  await tab.outbox.retry(paused?.idempotencyKey ?? '');
  await browser.pass(200);
  tab.outbox.submit('order', 3);
  await browser.pass(200);
  other.thaw();
  await browser.pass(200);
  const now = '1 pending, 2 sending, 3 paused rate-limited; due 0, waiting 1, sending 1, paused 1';
  expect(await shownBy(tab)).toBe(now);
  expect(await shownBy(other)).toBe(now);
});

test('an entry that was paused by a tab that has died, and by its heir, is counted once', async () => {
  const browser = createBrowser();
  const heir = browser.openTab({ handlers: shop });
  heir.outbox.submit('order', 0);
  await settle();
  browser.server.arrivals[0]?.answer(429, {}, { 'retry-after': '20' });
  const tab = await openHeld(browser);
  expect(await shownBy(heir)).toBe(
    '0 pending, 1 pending, 2 paused rate-limited; due 0, waiting 2, sending 0, paused 1',
  );
  tab.mute();
  tab.crash();
  await browser.pass(200);
  expect(await heir.outbox.list({ state: 'paused' })).toMatchObject([
    { variables: 2, attempts: 0 },
  ]);
  expect(await shownBy(heir)).toBe(
    '0 pending, 1 pending, 2 paused rate-limited; due 0, waiting 2, sending 0, paused 1',
  );
});

test('what is said of an attempt says nothing of the next one, nor of a row that is not sent', () => {
  const posted: Message[] = [];
  const pauses = new Pauses(
    (message) => void posted.push(message),
    createSteadyClock(createVirtualClock()),
  );
  const paused = { reason: 'offline', retryAt: undefined } as const;
  const row = { id: 'a', state: 'sending', claims: 2 } as Row;
  pauses.receive({ kind: 'paused', id: 'a', claims: 2, pause: paused });
  expect(pauses.of(row)).toBe(paused);
  expect(pauses.of({ ...row, claims: 3 })).toBeUndefined();
  expect(pauses.of({ ...row, state: 'pending' })).toBeUndefined();
  // A tab that was taken over from has woken, and lets go what is no longer its own.
  pauses.receive({ kind: 'paused', id: 'a', claims: 1, pause: undefined });
  expect(pauses.of(row)).toBe(paused);
  pauses.receive({ kind: 'paused', id: 'a', claims: 3, pause: paused });
  expect([...pauses.ids()]).toEqual(['a']);
  // Nobody answers for another tab.
  pauses.answer();
  expect(posted).toEqual([]);
});
