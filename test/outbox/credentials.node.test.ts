import { profiles, refreshOn401 } from 'steadfetch';
import { expect, test, vi } from 'vitest';
import { createBrowser, settle, shop } from './rig.ts';

/** A tab whose credentials the server no longer takes; `refresh` says what comes of asking for others. */
function openExpired(refresh: () => Promise<unknown>) {
  const browser = createBrowser();
  const tokens = { valid: 'new', held: 'old' };
  const sentAt: number[] = [];
  const startedAt = browser.clock.now();
  browser.server.rule = ({ answer }) => {
    sentAt.push(browser.clock.now() - startedAt);
    answer(tokens.held === tokens.valid ? 200 : 401, { id: 1 });
  };
  const auth = refreshOn401({
    headers: () => ({ authorization: `Bearer ${tokens.held}` }),
    refresh,
  });
  const tab = browser.openTab({
    handlers: { order: { ...shop.order, maxAttempts: 2 } },
    apis: [{ match: /./, idempotency: profiles.draft, auth }],
  });
  return { browser, tokens, sentAt, outbox: tab.outbox };
}

test('while nobody can be asked for new credentials an entry waits, and is delivered when that is over', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  let isDown = true;
  const { browser, tokens, sentAt, outbox } = openExpired(async () => {
    if (isDown) throw new TypeError('Failed to fetch');
    tokens.held = 'new';
  });
  const { delivered } = outbox.submit('order', 1);
  await settle();
  await browser.pass(600_000, 1000);
  // As the refreshes are made: after 1 s at first, then after twice as long each time, up to a minute and a half.
  expect(sentAt.slice(0, 5)).toEqual([0, 2000, 5000, 10_000, 21_000]);
  expect(sentAt).toHaveLength(14);
  expect(await outbox.list()).toMatchObject([
    { state: 'pending', attempts: 0, processed: 'no', lastError: { status: 401 } },
  ]);
  isDown = false;
  await browser.pass(120_000, 1000);
  expect(await delivered).toEqual({ id: 1 });
  // It is refused once more, and goes again with the new ones.
  expect(sentAt.slice(14)).toEqual([617_000, 617_000]);
});

test('where there are none, an entry is a dead letter at once', async () => {
  const { browser, sentAt, outbox } = openExpired(async () => false);
  outbox.submit('order', 1).delivered.catch(() => {});
  await settle();
  await browser.pass(600_000, 1000);
  expect(sentAt).toEqual([0]);
  expect(await outbox.list()).toMatchObject([{ state: 'dead', reason: 'refused' }]);
});
