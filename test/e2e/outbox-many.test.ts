import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { putRows, rowsOfTheDead } from '../proof/seed-rows.ts';
import { watchDatabase, type Watched } from '../proof/watch-database.ts';
import { patienceMs } from '../setup/patience.ts';
import { launchBrowser } from './launch.ts';
import { type OutboxServer, startOutboxServer } from './outbox-server.ts';

let browser: Browser;
let server: OutboxServer;
beforeAll(async () => {
  server = await startOutboxServer();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  server.close();
});

test.each([1000, 10_000])(
  'with %d entries, a page reads a hundred at a time, and writes three times for each that it delivers',
  async (count) => {
    server.clear();
    server.isHeld = true;
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const first = await context.newPage();
    // However long the server holds its answers back, no attempt is given up for it.
    const url = `${server.url}?timeout=${patienceMs}`;
    await first.goto(url);
    await first.waitForFunction(() => window.shop.state().storage === 'durable');
    await first.goto(`${server.url}elsewhere`);
    await first.evaluate(putRows, rowsOfTheDead(count, Date.now()));

    await context.addInitScript(watchDatabase);
    const page = await context.newPage();
    const look = (): Promise<Watched> => page.evaluate(() => window.watched);
    await page.goto(url);
    await expect.poll(() => server.arrivals).toEqual([1, 2, 3, 4]);
    const opened = await look();
    expect(opened.largest).toBeLessThanOrEqual(104);
    // A page of keys, four rows that are sent, and who owns them; not one for each that is there.
    expect(opened.reads).toBeLessThan(200);
    expect(opened.writes).toBeLessThan(20);

    server.answer();
    await expect.poll(() => server.arrivals.length).toBeGreaterThanOrEqual(500);
    // It is quiet again, with four that are on their way as in the beginning.
    server.isHeld = true;
    await expect.poll(() => server.held()).toBe(4);
    const { writes, reads, largest } = await look();
    const sent = server.arrivals.length;
    expect(new Set(server.arrivals).size).toBe(sent);
    expect(largest).toBeLessThanOrEqual(104);
    expect(writes - opened.writes).toBeLessThanOrEqual(3 * sent);
    // Its row and its owner in each of them, its place among the due, and what is shown of all.
    expect(reads - opened.reads).toBeLessThanOrEqual(10 * sent);
  },
);
