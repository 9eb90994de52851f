import type { Browser, BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { auditInStill } from './audit-page.ts';
import { type DemoServer, startDemo } from './demo-server.ts';
import { expectReadable } from './expect-readable.ts';
import { launchBrowser } from './launch.ts';

let server: DemoServer;
let browser: Browser;
let context: BrowserContext;
let complaints: string[];
beforeAll(async () => {
  server = await startDemo();
  browser = await launchBrowser();
});
beforeEach(async () => {
  complaints = [];
  context = await browser.newContext({ reducedMotion: 'reduce' });
  await context.clock.install({ time: '2026-01-01T09:59:00Z' });
  await context.clock.pauseAt('2026-01-01T10:00:00Z');
  await context.addInitScript(drawByNumber);
  context.on('weberror', (error) => complaints.push(error.error().message));
});
afterEach(async () => {
  await context.close();
  if (complaints.length > 0) throw new Error(`In the console: ${complaints.join('\n')}`);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Runs in each page: no two tabs do the same at the same time, and each does the same in every run. */
function drawByNumber(): void {
  // A document without an origin of its own has no storage.
  if (location.protocol === 'about:' || self.origin === 'null') return;
  const number = Number(localStorage.getItem('opened') ?? 0) + 1;
  localStorage.setItem('opened', `${number}`);
  Math.random = () => number / 4;
}

async function visit(hash: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${server.url}${hash}`);
  return page;
}

/** Clocks of tabs that are further apart than this are not of one machine. */
const stepMs = 200;

/** Lets time pass in all tabs, in step; what they tell each other has arrived after each. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    // There is one clock for all pages of a context.
    await context.clock.runFor(stepMs);
    for (const page of context.pages()) await page.evaluate(settle);
  }
}

/** Runs in a page: an own message goes around, behind all that was posted before. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    const [to, from] = [new BroadcastChannel('steadfetch'), new BroadcastChannel('steadfetch')];
    to.addEventListener('message', () => {
      to.close();
      from.close();
      resolve();
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target origin
    from.postMessage('settle');
  });
}

/** When the requests of each tab came to the server, in milliseconds after the start of the outage. */
const requestsOf = (page: Page): Promise<readonly (readonly number[])[]> =>
  page.evaluate(() => {
    const read = (key: string) => JSON.parse(localStorage.getItem(key) ?? 'null');
    const { startedAt } = read('steadfetch.tabs.run') as { startedAt: number };
    const tabs = Object.keys(localStorage).filter((key) => key.startsWith('steadfetch.tabs.tab.'));
    return tabs.map((key) =>
      (read(key) as { requests: number[] }).requests.map((at) => at - startedAt),
    );
  });

async function openThree(): Promise<Page> {
  const page = await visit('#/tabs');
  await page.getByText('This is tab 1').waitFor();
  await page.getByRole('button', { name: 'Open two more tabs' }).click();
  await page.getByText('3 tabs', { exact: true }).waitFor();
  for (const tab of context.pages()) await tab.getByText(/^This is tab \d$/).waitFor();
  return page;
}

/** Lets time pass until all have their answers, and gives the requests of the outage. */
async function playOutage(
  page: Page,
  look: () => Promise<void> = async () => {},
): Promise<readonly (readonly number[])[]> {
  await page.getByRole('button', { name: 'Take the server down for 12 s' }).click();
  const isOver = (): Promise<boolean> => page.getByText(/^All 3 have their answer/).isVisible();
  for (let passed = 0; passed < 40_000 && !(await isOver()); passed += 1000) {
    await look();
    await pass(1000);
  }
  expect(await isOver()).toBe(true);
  const requests = await requestsOf(page);
  expect(requests).toHaveLength(3);
  return requests.map((times) => times.filter((at) => at < 12_000));
}

/** The shortest time between two requests of any tabs, once the tabs have had time to tell each other. */
function shortestGap(requests: readonly (readonly number[])[]): number {
  const late = requests
    .flat()
    .filter((at) => at > 4000)
    .toSorted((a, b) => a - b);
  return Math.min(...late.slice(1).map((at, index) => at - (late[index] ?? 0)));
}

test('three tabs send the probes of one, and all three have their answer afterwards', async () => {
  const page = await openThree();
  let told = '';
  const requests = await playOutage(page, async () => {
    for (const tab of context.pages()) told += await tab.locator('.tabs-own').textContent();
  });
  // As one tab that probes, never two at a time: an answer takes 400 ms.
  expect(shortestGap(requests)).toBeGreaterThanOrEqual(400);
  expect(told).toContain('Another tab checks whether the server is back.');
  for (const tab of context.pages()) await tab.getByText(/^Answered: Kestrel/).waitFor();
  await expectReadable(page);
  expect(await auditInStill({ page, pass: (ms) => page.clock.runFor(ms) })).toEqual([]);
});

test('tabs that do not share ask each for itself', async () => {
  const page = await openThree();
  await page.getByRole('checkbox', { name: 'Tabs share what they know' }).uncheck();
  const requests = await playOutage(page);
  expect(requests.every((times) => times.some((at) => at > 5000))).toBe(true);
  expect(shortestGap(requests)).toBeLessThan(400);
});

test('a browser that holds tabs back is told of, and a link opens them', async () => {
  const page = await visit('#/tabs');
  await page.evaluate(() => {
    window.open = () => null;
  });
  await page.getByRole('button', { name: 'Open two more tabs' }).click();
  await page
    .getByText('Your browser has held a tab back: open it with “Open another tab”.')
    .waitFor();
  // Tabs are numbered by when they were opened.
  await pass(stepMs);
  const opened = context.waitForEvent('page');
  await page.getByRole('link', { name: 'Open another tab' }).click();
  const tab = await opened;
  await page.getByText('2 tabs', { exact: true }).waitFor();
  await tab.getByText('This is tab 2').waitFor();
  expect(await tab.title()).toBe('Tab 2 of 2 · Steadfetch');
  await tab.close({ runBeforeUnload: true });
  await page.getByText('1 tab', { exact: true }).waitFor();
});

test('it is found from the home', async () => {
  const page = await visit('');
  await page.getByRole('link', { name: 'Three tabs that share a probe' }).click();
  await page.getByRole('heading', { level: 1, name: 'Three tabs, one probe' }).waitFor();
  expect(new URL(page.url()).hash).toBe('#/tabs');
});
