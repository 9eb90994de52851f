import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from './launch.ts';
import {
  type OneUserServer,
  type OutageKind,
  startOneUserServer,
  type VisitorApi,
} from './one-user-server.ts';

// Rows of docs/storms/one-user.md in a real browser against a real server. The page's clock
// moves only when told to, so a row takes seconds and comes out the same every time.

let browser: Browser;
let server: OneUserServer;
beforeAll(async () => {
  server = await startOneUserServer();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

const stepMs = 250;
/** `maxPauseMs`, and more than anybody would wait. */
const endMs = 70_000;
const seeds = [1, 2, 3, 4, 5];

interface Row {
  readonly queries: number;
  readonly kind: OutageKind;
  readonly outageMs: number;
}

/** Times after the API was back, in milliseconds; `Infinity` for never. */
interface Visit {
  readonly firstMs: number;
  readonly wholeMs: number;
}

/** Waits for all that the browser and the server do without time passing. */
async function settle(page: Page, api: VisitorApi): Promise<void> {
  const look = (): Promise<{ readonly sent: number; readonly open: number }> =>
    page.evaluate(async () => {
      await new Promise<void>((done) => {
        const { port1, port2 } = new MessageChannel();
        port1.addEventListener('message', () => done());
        port1.start();
        port2.postMessage(0);
      });
      return { ...(window as unknown as { page: { sent: number; open: number } }).page };
    });
  // One that hangs and is given up may be counted for one that has not arrived yet.
  const isOver = async (): Promise<boolean> => {
    const { sent, open } = await look();
    return api.arrivals() >= sent && open === api.hanging();
  };
  while (!(await isOver()));
  await look();
}

let visitors = 0;

/** Opens the page when the API goes down, and lets time pass until all of it is there or nothing more comes. */
async function visit({ queries, kind, outageMs }: Row, seed?: number): Promise<Visit> {
  const context = await browser.newContext();
  const startTime = new Date('2026-01-01T00:00:00Z');
  await context.clock.install({ time: startTime });
  await context.clock.pauseAt(new Date(startTime.getTime() + 1000));
  const visitor = `${(visitors += 1)}`;
  await context.addCookies([{ name: 'visitor', value: visitor, url: server.url }]);
  const api = server.apiOf(visitor);
  api.outage = kind;
  const page = await context.newPage();
  await page.goto(`${server.url}?queries=${queries}${seed === undefined ? '' : `&seed=${seed}`}`);
  await page.locator('li').first().waitFor();

  let firstMs = Infinity;
  let wholeMs = Infinity;
  for (let passedMs = 0; passedMs < endMs && wholeMs === Infinity; passedMs += stepMs) {
    if (passedMs === outageMs) api.outage = undefined;
    api.hold();
    await context.clock.runFor(stepMs);
    api.release();
    await settle(page, api);
    const items = await page.locator('li').allTextContents();
    const answered = items.filter((text) => text === 'answered').length;
    const afterMs = passedMs + stepMs - outageMs;
    if (answered > 0) firstMs = Math.min(firstMs, afterMs);
    if (answered === queries) wholeMs = afterMs;
    if (items.every((text) => text === 'error')) break;
  }
  await context.close();
  return { firstMs, wholeMs };
}

const rows: readonly (Row & { readonly plain: 'waits' | 'gives up' })[] = [
  { queries: 1, kind: '503', outageMs: 2000, plain: 'waits' },
  { queries: 6, kind: '503', outageMs: 10_000, plain: 'gives up' },
  { queries: 1, kind: 'reset', outageMs: 30_000, plain: 'gives up' },
  { queries: 6, kind: '503', outageMs: 30_000, plain: 'gives up' },
  { queries: 1, kind: 'hang', outageMs: 30_000, plain: 'gives up' },
];

test.each(rows)(
  'after $outageMs ms of $kind, a page of $queries is whole soon after; React Query alone $plain',
  async (row) => {
    const plain = visit(row);
    const visits = await Promise.all(seeds.map((seed) => visit(row, seed)));
    const outageSeconds = row.outageMs / 1000;
    const median = visits.map(({ firstMs }) => firstMs).toSorted((a, b) => a - b)[2];
    expect(median).toBeLessThanOrEqual(Math.max(1500, 350 * outageSeconds));
    for (const { firstMs, wholeMs } of visits) {
      expect(firstMs).toBeLessThanOrEqual(Math.min(16_000, Math.max(3000, 750 * outageSeconds)));
      expect(wholeMs - firstMs).toBeLessThanOrEqual(
        Math.min(15_000, Math.max(4000, 600 * outageSeconds)),
      );
    }
    const { wholeMs } = await plain;
    expect(wholeMs === Infinity ? 'gives up' : 'waits').toBe(row.plain);
  },
);
