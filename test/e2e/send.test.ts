import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { english } from '../../src/ui/texts/english.ts';
import { type Actor, asActor } from './actor.ts';
import { auditInStill } from './audit-page.ts';
import { expectReadable } from './expect-readable.ts';
import { type Demo, openDemo } from './open-demo.ts';
import { typeOver } from './type-over.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

const note = '“A steady pull at the pier.”';

/** What the tests before have left in the browser is forgotten. */
const enter = async (trouble: string): Promise<Actor> => {
  const actor = asActor(await demo.visit(`#/send/${trouble}`));
  await actor.press('Start over');
  await actor.cleared();
  await actor.comesTo('Nothing sent yet', 'Nothing sent yet', '');
  return actor;
};

/** How many keys there are among how many requests. */
const keysOf = (actor: Actor, side: 'alone' | 'steady'): string => {
  const keys = actor.keys()[side];
  return `${new Set(keys).size} in ${keys.length}`;
};

const ledger = ({ page }: Actor): Promise<string[]> =>
  page.locator('.pane[data-side=steady] .ledger li').allTextContents();

test('offline, and the page reloaded: React Query alone forgets the note, and the outbox sends it', async () => {
  const actor = await enter('offline');
  await actor.press('Send on both sides');
  await actor.lists(`${note} Waiting to be sent. It goes on by itself.`);
  await actor.page.getByText('Waiting for the network …', { exact: true }).waitFor();
  await actor.page.locator('.steadfetch-badge', { hasText: '1 to send' }).waitFor();
  await actor.says('You are offline');
  await actor.pass(10_000);
  expect(actor.sent()).toEqual({ alone: 0, steady: 0 });
  await actor.reload();
  await actor.lists(`${note} Waiting to be sent. It goes on by itself.`);
  await actor.comesTo('0 of 1 arrived', '0 of 1 arrived', '');
  expect(actor.sent()).toEqual({ alone: 0, steady: 0 });
  await actor.press('Go online');
  await actor.comesTo(
    '0 of 1 arrived',
    '1 of 1 arrived',
    'With its page, one was lost. The other was on the disk.',
  );
  await actor.lists();
  expect(keysOf(actor, 'steady')).toBe('1 in 1');
  // The pauses before and after the reload, and the request.
  const picture = actor.page.locator('.track[data-side=steady] [role=img]');
  expect(await picture.getAttribute('aria-label')).toMatch(
    /^Steadfetch: paused .+ \(offline\), paused .+ \(offline\), 201\.$/,
  );
});

test('the page is closed: the next one sends what it has kept', async () => {
  const first = await enter('offline');
  await first.press('Send on both sides');
  await first.lists(`${note} Waiting to be sent. It goes on by itself.`);
  await first.page.close();
  const next = asActor(await demo.visit('#/send/fine'));
  await next.lists();
  expect((await ledger(next)).length).toBe(1);
  expect(keysOf(next, 'steady')).toBe('1 in 1');
});

test('the answer is lost: it arrives twice, and with Steadfetch once', async () => {
  const actor = await enter('lost');
  await actor.press('Send on both sides');
  await actor.comesTo(
    '1 sent, 2 arrived',
    '1 of 1 arrived',
    'A new key is a new note. The same key is the same note.',
  );
  expect(keysOf(actor, 'steady')).toBe('1 in 2');
  expect((await ledger(actor)).length).toBe(1);
});

test('the shop is down: Steadfetch keeps it, and sends it when the shop is back', async () => {
  const actor = await enter('down');
  const { page } = actor;
  await actor.press('Send on both sides');
  await actor.lists(`${note} This is not available right now. It goes on by itself.`);
  await expectReadable(page);
  await actor.choose('Healthy');
  await page.getByRole('button', { name: `Send now ${note}` }).click();
  await actor.lists();
  expect((await ledger(actor)).length).toBe(1);
  expect(new Set(actor.keys().steady).size).toBe(1);
});

test('refused: it is kept with its reason; edited, it arrives under another key', async () => {
  const actor = await enter('refused');
  const { page } = actor;
  await actor.press('Send on both sides');
  await actor.lists(`${note} Not sent. The server refused (422).`);
  await page.locator('.steadfetch-badge', { hasText: '1 needs your attention' }).waitFor();
  await expectReadable(page);
  await actor.reload();
  await actor.lists(`${note} Not sent. The server refused (422).`);
  await page.getByRole('button', { name: `Edit ${note}` }).click();
  // Where the keyboard is.
  await typeOver(page.locator('form[aria-label="Edit the note"] :focus'), 'A pull of 4 Bft.');
  await page.keyboard.press('Enter');
  await actor.lists();
  expect(await ledger(actor)).toEqual([expect.stringMatching(/^“A pull of 4 Bft.”/)]);
  expect(keysOf(actor, 'steady')).toBe('2 in 2');
});

test('what is discarded is asked for once more, and forgotten', async () => {
  const actor = await enter('refused');
  const { page } = actor;
  await actor.press('Send on both sides');
  await actor.lists(`${note} Not sent. The server refused (422).`);
  await page.getByRole('button', { name: `Discard ${note}` }).click();
  await page.getByRole('button', { name: `Discard for good ${note}` }).click();
  await actor.lists();
  expect(await ledger(actor)).toEqual([]);
});

test('axe finds nothing', async () => {
  const actor = await enter('offline');
  await actor.press('Send on both sides');
  await actor.lists(`${note} Waiting to be sent. It goes on by itself.`);
  expect(await auditInStill(actor)).toEqual([]);
});

test('where the browser has no IndexedDB, as some private windows, the note is sent, and the page says that it is not kept', async () => {
  const actor = await enter('offline');
  const { page } = actor;
  await page.addInitScript(() => {
    Object.defineProperty(window, 'indexedDB', { value: undefined });
  });
  await actor.reload();
  await actor.press('Send on both sides');
  await actor.lists(`${note} Waiting to be sent. It goes on by itself.`);
  await page.getByText(english.outbox.notKept).waitFor();
  await actor.press('Go online');
  await actor.comesTo('1 of 1 arrived', '1 of 1 arrived', 'Both arrived.');
  expect(actor.sent()).toEqual({ alone: 1, steady: 1 });
});
