import { type Browser, chromium, type Page } from 'playwright';
import type { OutboxServer } from '../e2e/outbox-server.ts';
import { putRows, rowsOfTheDead } from './seed-rows.ts';
import { watchDatabase } from './watch-database.ts';
import { chromiumLaunchOptions, findChromium } from '../setup/chromium.ts';

/** What one page with so many entries has cost. */
export interface Measured {
  readonly entries: number;
  /** To keep one more, once so many are there: from the press to what is told as kept. */
  readonly enqueueMs: number;
  /** From the navigation to the first request. */
  readonly openMs: number;
  /** For each that was delivered. */
  readonly drainMs: number;
  readonly writesPerEntry: number;
  readonly readsPerEntry: number;
  /** The longest that the main thread was held up, until a second after the first request. */
  readonly openTaskMs: number;
  /** And until all was delivered. 0 when it never was for over 50 ms. */
  readonly drainTaskMs: number;
}

/** So many more are kept, to be measured. */
const sample = 500;

const soon = (): Promise<void> => new Promise((over) => void setTimeout(over, 5));

/** Opens a page with so many entries that another has left, lets it send, and submits more. */
export async function measure(server: OutboxServer, entries: number): Promise<Measured> {
  const browser: Browser = await chromium.launch(chromiumLaunchOptions(findChromium()));
  try {
    server.clear();
    server.isHeld = true;
    const context = await browser.newContext();
    const first = await context.newPage();
    await first.goto(server.url);
    await first.waitForFunction(() => window.shop.state().storage === 'durable');
    await first.goto(`${server.url}elsewhere`);
    await first.evaluate(putRows, rowsOfTheDead(entries, Date.now()));
    await first.close();

    await context.addInitScript(watchDatabase);
    const page: Page = await context.newPage();
    const openAt = performance.now();
    await page.goto(server.url);
    while (server.arrivals.length === 0) await soon();
    const openMs = performance.now() - openAt;
    await page.waitForTimeout(1000);
    const opened = await page.evaluate(() => window.watched);

    const enqueueMs = await page.evaluate((count) => window.shop.enqueue(count), sample);

    const before = await page.evaluate(() => window.watched);
    const known = server.arrivals.length;
    const drainAt = performance.now();
    server.answer();
    const sent = entries + sample - known;
    while (new Set(server.arrivals).size < entries + sample) await soon();
    const drainMs = (performance.now() - drainAt) / sent;
    const after = await page.evaluate(() => window.watched);
    return {
      entries,
      enqueueMs,
      openMs,
      drainMs,
      writesPerEntry: (after.writes - before.writes) / sent,
      readsPerEntry: (after.reads - before.reads) / sent,
      openTaskMs: Math.max(0, ...opened.longTasksMs),
      drainTaskMs: Math.max(0, ...after.longTasksMs.slice(opened.longTasksMs.length)),
    };
  } finally {
    await browser.close();
  }
}
