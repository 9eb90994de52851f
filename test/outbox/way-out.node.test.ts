import { defineIdempotency, profiles } from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createVirtualClock } from '../core/origin/virtual-clock.ts';
import { type Arrival, createBrowser, shop, type TestBrowser } from './rig.ts';

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

const replayed = { 'idempotent-replayed': 'true' };
/** What becomes of each request. */
const replies: Readonly<Record<string, (arrival: Arrival) => void>> = {
  done: (arrival) => arrival.answer(201),
  refused: (arrival) => arrival.answer(402),
  'refused, stored': (arrival) => arrival.answer(402, {}, replayed),
  '422': (arrival) => arrival.answer(422),
  '500': (arrival) => arrival.answer(500),
  '500, stored': (arrival) => arrival.answer(500, {}, replayed),
  'in progress': (arrival) => arrival.answer(409),
  lost: (arrival) => arrival.cut(),
  'login page': (arrival) => arrival.answerPage('<p>'),
};
const handlers = { order: { ...shop.order, maxAttempts: 2 } };
const keysOf = ({ server }: TestBrowser): readonly (string | null)[] => [
  ...new Set(server.arrivals.map(({ key }) => key)),
];

describe.each(Object.keys(replies))('an entry whose answer was lost, and then %s', (first) => {
  test.each(Object.keys(replies))(
    'and %s at "Send again": two presses are a way out',
    async (later) => {
      const browser = createBrowser();
      const { outbox } = browser.openTab({ handlers, lifetimeMs: 86_400_000 });
      browser.server.rule = (arrival, count) =>
        count === 1 ? arrival.cut() : replies[first]?.(arrival);
      outbox.submit('order', 'lamp');
      await browser.pass(600_000, 5000);
      browser.server.rule = (arrival) => replies[later]?.(arrival);
      const isDone = async (): Promise<boolean> => {
        const [entry] = await outbox.list();
        return (
          !entry || entry.state === 'done' || (entry.state === 'dead' && entry.processed === 'no')
        );
      };
      for (let press = 0; press < 2 && keysOf(browser).length < 2 && !(await isDone()); press++) {
        const [entry] = await outbox.list();
        const isAsked = entry?.reason === 'cannot-find-out';
        await outbox.retry(entry?.idempotencyKey ?? '');
        await browser.pass(600_000, 5000);
        // Only one that says so gets a new key.
        expect(keysOf(browser)).toHaveLength(isAsked ? 2 : 1);
      }
      expect((await isDone()) || keysOf(browser).length > 1).toBe(true);
    },
  );
});

test('an API that says 409 fifteen times in a row does not hold its scope up for ever', async () => {
  const browser = createBrowser();
  const { outbox } = browser.openTab({ handlers: { order: { ...shop.order, scope: 'cart' } } });
  browser.server.rule = (arrival) => arrival.answer(arrival.body === '1' ? 409 : 201);
  for (const n of [1, 2]) outbox.submit('order', n);
  await browser.pass(420_000, 4000);
  expect(await outbox.list()).toMatchObject([
    { variables: 1, state: 'pending', processed: 'unknown' },
    { variables: 2, state: 'pending' },
  ]);
  await browser.pass(3_600_000, 4000);
  const [first, second] = await outbox.list();
  expect(first).toMatchObject({ variables: 1, state: 'dead', reason: 'cannot-find-out' });
  expect(first?.attempts).toBe(15);
  expect(second).toMatchObject({ variables: 2, state: 'pending' });
  // Sent again, it is asked with a new key.
  expect(await outbox.retry(first?.idempotencyKey ?? '')).not.toBe(first?.idempotencyKey);
  await outbox.discard(first?.idempotencyKey ?? '');
  await browser.pass(5000);
  expect(browser.server.arrivals.at(-1)?.body).toBe('2');
});

test('a 409 after many attempts without an answer is waited for', async () => {
  const browser = createBrowser();
  const { outbox } = browser.openTab({ handlers: shop });
  browser.server.rule = (arrival) => arrival.answer(503);
  outbox.submit('order', 'lamp');
  await browser.pass(3_600_000, 4000);
  expect((await outbox.list())[0]?.attempts).toBeGreaterThan(15);
  browser.server.rule = (arrival, count) => arrival.answer(count % 2 === 0 ? 409 : 503);
  await browser.pass(3_600_000, 4000);
  expect((await outbox.list()).map(({ state }) => state)).toEqual(['pending']);
});

test.each([
  ['expired', 700_000],
  ['age-unknown', -600_000],
] as const)(
  'one whose key is %s is sent again under a new key, when a user wants that',
  async (reason, byMs) => {
    const clock = createVirtualClock();
    const browser = createBrowser({ clock });
    browser.server.rule = (arrival) => arrival.cut();
    const first = browser.openTab({ handlers: shop, lifetimeMs: 600_000 });
    const { idempotencyKey } = first.outbox.submit('order', 'lamp');
    await browser.pass(1000);
    first.crash();
    clock.jump(byMs);
    const { outbox } = browser.openTab({ handlers: shop, lifetimeMs: 600_000 });
    await browser.pass(60_000, 1000);
    expect(await outbox.list()).toMatchObject([{ state: 'dead', reason, processed: 'unknown' }]);
    // "Send all again" decides nothing for one that could be done twice.
    await outbox.retryAll();
    await browser.pass(1000);
    expect(await outbox.list()).toMatchObject([{ state: 'dead', reason }]);
    expect(keysOf(browser)).toEqual([idempotencyKey]);
    browser.server.rule = (arrival) => arrival.answer(201);
    expect(await outbox.retry(idempotencyKey)).not.toBe(idempotencyKey);
    await browser.pass(1000);
    expect(keysOf(browser)).toHaveLength(2);
  },
);

test('the age of a key that this page has made is known, also after the clock was set back', async () => {
  const clock = createVirtualClock();
  const browser = createBrowser({ clock });
  browser.server.rule = (arrival) => arrival.cut();
  const { outbox } = browser.openTab({ handlers: shop, lifetimeMs: 1_800_000 });
  outbox.submit('order', 'lamp');
  await browser.pass(120_000, 1000);
  clock.jump(-600_000);
  await browser.pass(60_000, 1000);
  expect((await outbox.list()).map(({ reason }) => reason)).toEqual([undefined]);
  browser.server.rule = (arrival) => arrival.answer(201);
  await browser.pass(600_000, 5000);
  expect(keysOf(browser)).toHaveLength(1);
  expect((await outbox.list()).filter(({ state }) => state !== 'done')).toEqual([]);
});

test('in development it is said once where an API is not declared to forget keys', async () => {
  const browser = createBrowser();
  browser.server.rule = (arrival) => arrival.answer(201);
  const apis = [
    { match: 'https://api.example', idempotency: defineIdempotency({ ...profiles.draft }) },
  ];
  const { outbox } = browser.openTab({ handlers: shop, apis });
  outbox.submit('order', 'lamp');
  outbox.submit('order', 'kite');
  await browser.pass(1000);
  const told = vi
    .mocked(console.warn)
    .mock.calls.filter(([text]) => /forget keys/.test(text as string));
  expect(told).toHaveLength(1);
  expect(told[0]?.[0]).toContain('An entry of the outbox is sent to https://api.example, and');
});
