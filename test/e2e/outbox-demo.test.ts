import type { Page } from 'playwright';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectReadable } from './expect-readable.ts';
import { type Demo, openDemo } from './open-demo.ts';
import { asReporter, type Reporter } from './reporter.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

/** What the tests before have left in the browser is forgotten. */
const enter = async (trouble: string): Promise<Reporter> => {
  const reporter = asReporter(await demo.visit(`#outbox/${trouble}`));
  await reporter.startOver();
  return reporter;
};

const photo = {
  name: 'heron.svg',
  mimeType: 'image/svg+xml',
  buffer: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'),
};

/** How many keys there are among how many requests. */
const keysOf = ({ keys }: Reporter): string => `${new Set(keys).size} in ${keys.length} requests`;

/** The text of what has the keyboard. */
const focused = (page: Page): Promise<string | null | undefined> =>
  page.evaluate(() => document.activeElement?.textContent);

/** Two reports are written offline, one of them with a photo. */
const writeTwo = async (reporter: Reporter): Promise<void> => {
  await reporter.write('Heron', 'A steady pull.', photo);
  await reporter.lists('Heron, Pier: Kept on this device');
  // The clock stands still: so that the list has an order.
  await reporter.pass(1000);
  await reporter.write('Swift');
  await reporter.lists('Swift, Pier: Kept on this device', 'Heron, Pier: Kept on this device');
};

test('offline, two reports are kept, also over a reload; back online each is delivered once, in order', async () => {
  const reporter = await enter('offline');
  const { page } = reporter;
  await writeTwo(reporter);
  await reporter.saved('Kept on this device');
  await reporter.pass(10_000);
  expect(reporter.keys).toEqual([]);
  const outbox = page.getByRole('region', { name: 'Outbox', exact: true });
  const tree = (await outbox.ariaSnapshot()).replaceAll(/\d\d:\d\d:\d\d/g, 'hh:mm:ss');
  const entry = (name: string, picture: readonly string[]): string[] => [
    '    - listitem:',
    ...picture,
    `      - heading "${name}" [level=3]`,
    '      - paragraph: A steady pull.',
    '      - paragraph: Kept on this device',
    '      - paragraph: You are offline. It is sent when you are back online.',
    '      - paragraph:',
    '        - text: Written',
    '        - time: hh:mm:ss',
    `      - button "Discard ${name}"`,
  ];
  expect(tree.split('\n')).toEqual([
    '- region "Outbox":',
    '  - heading "Outbox" [level=2]',
    '  - paragraph: On this device, until the shop has it',
    '  - paragraph: 2 to be sent',
    '  - list:',
    ...entry('Swift, Pier', []),
    ...entry('Heron, Pier', [`      - 'img "Photo: heron.svg"'`]),
    '  - status: "Swift, Pier: Kept on this device. You are offline. It is sent when you are back online."',
  ]);

  await reporter.reload();
  await reporter.lists('Swift, Pier: Kept on this device', 'Heron, Pier: Kept on this device');
  await page.getByRole('img', { name: 'Photo: heron.svg' }).waitFor();
  await reporter.received(0);
  expect(reporter.keys).toEqual([]);
  // It is there, empty, before it has anything to tell.
  expect(await page.evaluate(() => window.sightings.regionsAtFirst)).toEqual(['status: ']);

  await reporter.choose('All is well');
  await reporter.lists('Swift, Pier: Delivered', 'Heron, Pier: Delivered');
  await reporter.received(2, 'Heron, Pier', 'Swift, Pier');
  expect(await page.locator('.ledger-key').first().textContent()).toMatch(
    /^key \w{8}, photo of 1 kB$/,
  );
  expect(keysOf(reporter)).toBe('2 in 2 requests');
  expect(await reporter.told()).toEqual([
    '2 reports are kept on this device.',
    'Heron, Pier: Delivered.',
    'Swift, Pier: Delivered.',
  ]);
});

test('the page is closed: the next one delivers what it has kept, whatever it shows', async () => {
  const first = await enter('offline');
  await writeTwo(first);
  await expectReadable(first.page);
  await first.page.close();
  const next = asReporter(await demo.visit('#checkout'));
  await next.logged(2);
  await next.page.getByRole('link', { name: 'Outbox' }).click();
  await next.lists('Swift, Pier: Delivered', 'Heron, Pier: Delivered');
  await next.received(2, 'Heron, Pier', 'Swift, Pier');
});

test('the answer is lost, and the page reloaded: two requests under one key are one report', async () => {
  const reporter = await enter('lost');
  await reporter.write('Heron', 'A steady pull.', photo);
  await reporter.received(1, 'Heron, Pier');
  await reporter.reload();
  await reporter.lists('Heron, Pier: Delivered');
  await reporter.received(2, 'Heron, Pier');
  expect(keysOf(reporter)).toBe('1 in 2 requests');
});

test('the shop is down: it waits with a countdown that is not read out, and Send now asks at once', async () => {
  const reporter = await enter('down');
  await reporter.write('Heron', 'Long'.repeat(40), photo);
  await reporter.details('The shop is overloaded (503). It is sent again by itself.');
  await reporter.waits();
  const live = '[aria-live], [role=status], [role=alert], [role=log]';
  const timer = reporter.page.getByRole('timer', { name: 'Next attempt in' });
  expect(await timer.evaluate((node, regions) => node.closest(regions), live)).toBeNull();
  await expectReadable(reporter.page);
  await reporter.choose('All is well');
  await reporter.sendNow('Heron');
  await reporter.lists('Heron, Pier: Delivered');
  await reporter.received(reporter.keys.length, 'Heron, Pier');
  expect(new Set(reporter.keys).size).toBe(1);
});

test('what is refused waits for a user with the reason, and others pass; edited, it is delivered', async () => {
  const reporter = await enter('refused');
  const { page } = reporter;
  await reporter.write('Heron');
  await reporter.lists('Heron, Pier: Needs your attention');
  const reason = 'The shop refused it (422): Say how strong the wind was, such as “4 Bft”.';
  await reporter.details(reason);
  await reporter.pass(10_000);
  await reporter.write('Swift', 'A steady pull at 4 Bft.');
  await reporter.lists('Swift, Pier: Delivered', 'Heron, Pier: Needs your attention');
  expect(keysOf(reporter)).toBe('2 in 2 requests');
  await expectReadable(page);

  await reporter.reload();
  await reporter.lists('Swift, Pier: Delivered', 'Heron, Pier: Needs your attention');
  await reporter.press('Edit', 'Heron');
  const dialog = page.getByRole('dialog', { name: 'Heron, Pier' });
  expect((await dialog.ariaSnapshot()).split('\n')).toEqual([
    '- dialog "Heron, Pier":',
    '  - heading "Heron, Pier" [level=3]',
    `  - paragraph: "${reason}"`,
    '  - text: How did it fly?',
    '  - textbox "How did it fly?": A steady pull.',
    '  - button "Not now"',
    '  - button "Send it again"',
  ]);
  await page.keyboard.press('Escape');
  // Gone, and not only closed: a press before it is told of that would leave it closed.
  await page.locator('dialog').waitFor({ state: 'detached' });
  expect(await focused(page)).toBe('Edit Heron, Pier');
  await page.keyboard.press('Enter');
  // Where the keyboard is at first.
  await page.locator('dialog :focus').fill('A steady pull at 4 Bft.');
  await dialog.getByRole('button', { name: 'Send it again' }).press('Enter');
  await reporter.lists('Swift, Pier: Delivered', 'Heron, Pier: Delivered');
  expect(await focused(page)).toBe('Outbox');
  await reporter.received(3, 'Swift, Pier', 'Heron, Pier');
  expect(keysOf(reporter)).toBe('3 in 3 requests');
  expect(await reporter.told()).toEqual(['1 needs your attention.', 'Heron, Pier: Delivered.']);
});

test('Retry sends what was refused as it is, and Discard forgets it and hands the keyboard over', async () => {
  const reporter = await enter('refused');
  const { page } = reporter;
  await reporter.write('Heron');
  await reporter.lists('Heron, Pier: Needs your attention');
  await reporter.choose('All is well');
  await reporter.press('Retry', 'Heron');
  await reporter.lists('Heron, Pier: Delivered');

  await reporter.choose('Refused');
  await reporter.pass(1000);
  await reporter.write('Swift');
  await reporter.lists('Swift, Pier: Needs your attention', 'Heron, Pier: Delivered');
  await page.getByRole('button', { name: 'Discard Swift, Pier' }).press('Enter');
  await reporter.lists('Heron, Pier: Delivered');
  expect(await focused(page)).toBe('Outbox');
  await reporter.received(3, 'Heron, Pier');

  await reporter.startOver();
  await reporter.lists();
  await reporter.received(0);
});
