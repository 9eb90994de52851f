import type { Browser, BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FormServer, startFormServer } from './form-server.ts';
import { launchBrowser } from './launch.ts';

let server: FormServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let url: string;

beforeAll(async () => {
  server = await startFormServer();
  url = `http://shop.test:${server.port}/`;
  browser = await launchBrowser({
    // A page that is not secure, as in a shop's own network: it has no crypto.subtle, and no randomUUID.
    args: ['--host-resolver-rules=MAP shop.test 127.0.0.1'],
    hasBackForwardCache: true,
  });
});
beforeEach(async () => {
  server.clear();
  context = await browser.newContext();
  page = await context.newPage();
  await page.goto(url);
});
afterEach(() => context.close());
afterAll(async () => {
  await browser.close();
  await server.close();
});

const order = async (sku: string, on = page): Promise<void> => {
  await on.getByLabel('Kite').fill(sku);
  await on.getByRole('button', { name: 'Order', exact: true }).click();
};
const reads = (text: string, on = page): Promise<void> =>
  on.getByRole('status').filter({ hasText: text }).waitFor();
const bodies = (): string[] =>
  [...server.orders.values()].map((body) => /name="sku"\s+(\w+)/.exec(body)?.[1] ?? '');

test('the answer is lost, the page is reloaded, the user presses again: one order, one key', async () => {
  expect(await page.evaluate(() => isSecureContext)).toBe(false);
  server.fate = 'lost';
  await order('dragon');
  await reads('It may have been ordered');
  await page.reload();
  await reads('It may have been ordered');
  await order('dragon');
  await reads('Ordered: 1');
  expect(server.keys).toEqual([server.keys[0], server.keys[0]]);
  expect(bodies()).toEqual(['dragon']);
  await page.reload();
  expect(await page.getByRole('status').textContent()).toBe('');
});

test.each(['lost', 'withheld'] as const)(
  'the answer is %s, the page crashes, is loaded again, and the user presses again: one order, one key',
  async (fate) => {
    server.fate = fate;
    await order('dragon');
    await expect.poll(() => server.keys).toHaveLength(1);
    const tab = await context.newCDPSession(page);
    const crashed = page.waitForEvent('crash');
    void tab.send('Page.crash').catch(() => {});
    await crashed;
    // Playwright gives up a page that has crashed; the tab goes on.
    await tab.send('Page.reload');
    const run = async (expression: string): Promise<unknown> =>
      (await tab.send('Runtime.evaluate', { expression })).result.value;
    const shown = () => run(`document.querySelector('[role=status]')?.textContent`);
    await expect.poll(shown).toBe('It may have been ordered');
    await run(`document.querySelector('input').value = 'dragon'`);
    await run(`document.querySelector('button').click()`);
    await expect.poll(shown).toBe('Ordered: 1');
    expect(server.keys).toEqual([server.keys[0], server.keys[0]]);
    expect(bodies()).toEqual(['dragon']);
  },
);

test('something else after a lost answer is asked about, and ordered only when it is confirmed', async () => {
  server.fate = 'lost';
  await order('dragon');
  await reads('It may have been ordered');
  await page.reload();
  await order('delta');
  await page.getByRole('button', { name: 'Order this, too' }).waitFor();
  expect(server.keys).toHaveLength(1);
  await page.getByRole('button', { name: 'Back' }).click();
  await reads('It may have been ordered');
  await order('delta');
  await page.getByRole('button', { name: 'Order this, too' }).click();
  await reads('Ordered: 2');
  expect(new Set(server.keys).size).toBe(2);
  expect(bodies()).toEqual(['dragon', 'delta']);
});

test('a double click is one order', async () => {
  await page.getByLabel('Kite').fill('dragon');
  server.fate = 'withheld';
  await page.getByRole('button', { name: 'Order', exact: true }).dblclick();
  await expect.poll(() => server.keys).toHaveLength(1);
  server.answer();
  await reads('Ordered: 1');
  expect(server.keys).toHaveLength(1);
});

test('Enter again and again is one order', async () => {
  server.fate = 'withheld';
  await page.getByLabel('Kite').fill('dragon');
  for (let times = 0; times < 5; times++) await page.getByLabel('Kite').press('Enter');
  await expect.poll(() => server.keys).toHaveLength(1);
  server.answer();
  await reads('Ordered: 1');
  expect(server.keys).toHaveLength(1);
});

test('the browser asks before the page is left while it is ordering, and only then', async () => {
  const dialogs: string[] = [];
  let stay = true;
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.type());
    void (stay ? dialog.dismiss() : dialog.accept());
  });
  server.fate = 'withheld';
  await order('dragon');
  await expect.poll(() => server.keys).toHaveLength(1);
  await page.goto(`${url}elsewhere`).catch(() => {});
  expect(dialogs).toEqual(['beforeunload']);
  expect(page.url()).toBe(url);
  server.answer();
  await reads('Ordered: 1');
  stay = false;
  await page.goto(`${url}elsewhere`);
  expect(dialogs).toEqual(['beforeunload']);
});

test.each(['as it was', 'anew'])(
  'the page is left, and the back button brings it back %s: one order',
  async (how) => {
    page.on('dialog', (dialog) => void dialog.accept());
    if (how === 'anew') {
      // A page that listens for this is never kept.
      await page.evaluate(() => addEventListener('unload', () => {}));
    }
    server.fate = 'withheld';
    await order('dragon');
    await expect.poll(() => server.keys).toHaveLength(1);
    await page.evaluate(() => Object.assign(window, { isKept: true }));
    await page.goto(`${url}elsewhere`);
    await page.goBack({ waitUntil: 'commit' });
    const isKept = await page.evaluate(() => 'isKept' in window);
    expect(isKept).toBe(how === 'as it was');
    if (isKept) server.answer();
    else {
      await reads('It may have been ordered');
      await order('dragon');
    }
    await reads('Ordered: 1');
    expect(new Set(server.keys).size).toBe(1);
    expect(bodies()).toEqual(['dragon']);
  },
);

const duplicate = async (): Promise<Page> => {
  const opened = context.waitForEvent('page');
  await page.evaluate(() => void window.open(location.href));
  return opened;
};

test('what was refused, and ordered in the one tab, is another order in its copy', async () => {
  server.fate = 'refused';
  await order('dragon');
  await reads('Not ordered');
  const copy = await duplicate();
  await order('dragon');
  await reads('Ordered: 1');
  await order('dragon', copy);
  await reads('Ordered: 2', copy);
  expect(new Set(server.keys).size).toBe(3);
  expect(bodies()).toEqual(['dragon', 'dragon']);
});

test('what is under way in the one tab is unknown in its copy, and one order', async () => {
  server.fate = 'withheld';
  await order('dragon');
  await expect.poll(() => server.keys).toHaveLength(1);
  const copy = await duplicate();
  await reads('It may have been ordered', copy);
  await order('dragon', copy);
  await reads('Ordered: 1', copy);
  server.answer();
  await reads('Ordered: 1');
  expect(bodies()).toEqual(['dragon']);
});

test('a duplicated tab has a copy of what is unknown: both may send it, and it is one order', async () => {
  server.fate = 'lost';
  await order('dragon');
  await reads('It may have been ordered');
  const copy = await duplicate();
  await reads('It may have been ordered', copy);
  await Promise.all([order('dragon', page), order('dragon', copy)]);
  await reads('Ordered: 1');
  await reads('Ordered: 1', copy);
  expect(server.keys).toHaveLength(3);
  expect(new Set(server.keys).size).toBe(1);
});
