import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from './launch.ts';
import { type OutageServer, startOutageServer } from './outage-server.ts';

let browser: Browser;
let server: OutageServer;
beforeAll(async () => {
  server = await startOutageServer();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

/** What is sent in a step is answered at its end: over 300 ms would be slow, and slow down the release. */
const stepMs = 250;

interface Tab {
  readonly settle: () => Promise<void>;
  readonly say: (echo: number) => void;
  readonly hear: (echo: number) => Promise<void>;
}

let lastEcho = 0;

/** Lets time pass in all tabs, with all that they ask and say to each other. */
async function pass(pages: readonly Page[], ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    // What is asked at one time is asked before anybody knows what came of any of it.
    server.hold();
    await pages[0]?.context().clock.runFor(stepMs);
    server.drop();
    for (const page of pages) {
      const echo = (lastEcho += 1);
      await page.evaluate(async (number) => {
        const { tab } = window as unknown as { readonly tab: Tab };
        await tab.settle();
        await navigator.locks.query();
        tab.say(number);
      }, echo);
      for (const other of pages) {
        if (other === page) continue;
        await other.evaluate(
          (number) => (window as unknown as { readonly tab: Tab }).tab.hear(number),
          echo,
        );
      }
    }
  }
}

/** What each tab shows, a line for all items that read the same. */
function show(pages: readonly Page[]): Promise<string[]> {
  return Promise.all(
    pages.map(async (page) => {
      const items = await page.locator('li').allTextContents();
      const banner = await page.getByRole('status').textContent();
      return [`${items.length} items`, ...new Set(items), banner].join(', ');
    }),
  );
}

const inEach = (text: string): string[] => [text, text, text];

test('twenty queries in each of three tabs come through an outage without a click', async () => {
  const context = await browser.newContext();
  await context.clock.install({ time: new Date('2026-01-01T00:00:00Z') });
  await context.clock.pauseAt(new Date('2026-01-01T01:00:00Z'));
  const pages: Page[] = [];
  for (const chance of [0.2, 0.5, 0.8]) {
    const page = await context.newPage();
    await page.goto(`${server.url}#${chance}`);
    pages.push(page);
  }
  // All have their first answers before time begins to pass: so they ask again in step.
  for (const page of pages) {
    await page.locator('li').first().waitFor();
    await page.evaluate(() => (window as unknown as { readonly tab: Tab }).tab.settle());
  }
  await pass(pages, 5000);
  expect(await show(pages)).toEqual(inEach('20 items, version 1: succeeded , up'));

  server.isUp = false;
  server.version = 2;
  server.arrivals = 0;
  // The next round of questions: sixty find out, four of them by a fast retry, and no other follows them.
  await pass(pages, 8000);
  expect(await show(pages)).toEqual(inEach('20 items, version 1: paused server-down, down'));
  expect(server.arrivals).toBe(64);
  await pass(pages, 6000);
  // The probes of one tab for all three.
  expect(server.arrivals).toBe(68);

  server.isUp = true;
  server.arrivals = 0;
  const isBack = async (): Promise<boolean> =>
    (await show(pages)).every((text) => text === '20 items, version 2: succeeded , up');
  for (let waited = 0; waited < 60_000 && !(await isBack()); waited += 5000) {
    await pass(pages, 5000);
  }
  expect(await show(pages)).toEqual(inEach('20 items, version 2: succeeded , up'));
  await context.close();
});
