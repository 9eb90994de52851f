import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright';
import { expect, onTestFinished, test } from 'vitest';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import type { Told } from '../proof/account.ts';
import { chromiumLaunchOptions } from '../setup/chromium.ts';
import { patienceMs } from '../setup/patience.ts';
import { openShop, type OutboxShop } from './outbox-shop.ts';

const seed = 1;

/** What happens beside the submissions, and how often. */
const mishaps = { reload: 12, close: 6, crash: 3, offline: 3, kill: 3, restart: 2, none: 31 };
type Mishap = keyof typeof mishaps;

/** All of them, in an order of the seed. */
function shuffle(random: () => number): Mishap[] {
  const deck = Object.entries(mishaps).flatMap(([name, times]) =>
    Array.from({ length: times }, () => name as Mishap),
  );
  return deck
    .map((name) => [random(), name] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, name]) => name);
}

const pause = (ms: number): Promise<void> => new Promise((over) => void setTimeout(over, ms));

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch {
    return false;
  }
}

/** A browser with a profile on the disk, and three tabs. */
interface ThreeTabs {
  readonly pages: () => readonly Page[];
  readonly open: (tab: number) => Promise<void>;
  readonly start: () => Promise<void>;
  /** With SIGKILL: it has no time to write anything. */
  readonly kill: () => Promise<void>;
  readonly setOffline: (isOffline: boolean) => Promise<void>;
}

async function openThreeTabs({ url, told }: OutboxShop): Promise<ThreeTabs> {
  const profile = mkdtempSync(join(tmpdir(), 'steadfetch-profile-'));
  let context: BrowserContext;
  let pages: Page[] = [];
  const open = async (tab: number): Promise<void> => {
    const page = await context.newPage();
    page.on('dialog', (dialog) => void dialog.accept().catch(() => {}));
    pages[tab] = page;
    await page.goto(url);
  };
  const start = async (): Promise<void> => {
    const timeout = patienceMs;
    context = await chromium.launchPersistentContext(profile, {
      ...chromiumLaunchOptions(),
      timeout,
    });
    context.setDefaultTimeout(timeout);
    await context.exposeFunction('tell', (one: Told) => void told.push(one));
    pages = [];
    await Promise.all([0, 1, 2].map(open));
  };
  onTestFinished(async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  });
  await start();
  return {
    pages: () => pages,
    open,
    start,
    async kill() {
      const session = await context.browser()?.newBrowserCDPSession();
      const { processInfo } = (await session?.send('SystemInfo.getProcessInfo')) ?? {};
      const { id } = processInfo?.find(({ type }) => type === 'browser') ?? {};
      if (id === undefined) throw new Error('The process of the browser is not known.');
      const gone = new Promise((closed) => void context.once('close', closed));
      process.kill(id, 'SIGKILL');
      await gone;
      // While there is one, another does not start on its profile.
      while (isRunning(id)) await pause(5);
    },
    setOffline: (isOffline) => context.setOffline(isOffline),
  };
}

const storageOf = (page: Page): Promise<string> => page.evaluate(() => window.shop.state().storage);

/** What is in the database, read beside the outbox: says, should something be lost, where. */
async function readDatabase(): Promise<unknown> {
  const found = await indexedDB.databases();
  const wait = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.addEventListener('success', () => resolve(request.result));
      request.addEventListener('error', () => reject(request.error ?? new Error('no reason')));
    });
  const database = await wait(indexedDB.open('steadfetch-outbox'));
  const rows = database.transaction('rows').objectStore('rows');
  const count = await wait(rows.count());
  const newest = await wait(rows.openKeyCursor(null, 'prev'));
  database.close();
  return { found, count, newestKey: newest?.key };
}

test('of 1,000 submissions none is lost, none is done twice, and each cart keeps its order, whatever becomes of tabs, browser, line and server', async () => {
  // A transaction of the database that takes 30 s counts as hung: at ten times the speed 3 s, which a busy machine keeps to.
  const shop = await openShop({ seed, speed: 10 });
  onTestFinished(shop.close);
  const tabs = await openThreeTabs(shop);
  const random = seededRandom(seed);
  let visits = 0;
  const visitOf = new Map<Page, number>();

  /** Does not wait until they are kept, nor mind that the page dies of it. */
  const submit = (tab: number, count: number): void => {
    const page = tabs.pages()[tab];
    if (!page) return;
    const visit = visitOf.get(page) ?? (visits += 1);
    visitOf.set(page, visit);
    const orders = shop.draw(count);
    page
      .evaluate(([name, all]) => window.shop.submit(name, all), [`${visit}`, orders] as const)
      .catch(() => {});
  };
  const happen: Readonly<Record<Mishap, (page: Page, tab: number) => Promise<unknown>>> = {
    none: () => pause(0),
    async reload(page) {
      visitOf.delete(page);
      await page.reload();
    },
    async close(page, tab) {
      await page.close();
      await tabs.open(tab);
    },
    async crash(page, tab) {
      const crashed = page.waitForEvent('crash');
      await page.goto('chrome://crash').catch(() => {});
      await crashed;
      await page.close();
      await tabs.open(tab);
    },
    async offline(_, tab) {
      await tabs.setOffline(true);
      submit(tab, 10);
      await pause(300);
      await tabs.setOffline(false);
    },
    async kill() {
      await tabs.kill();
      await tabs.start();
    },
    restart: shop.restart,
  };

  const step = async (mishap: Mishap): Promise<void> => {
    const tab = Math.floor(random() * 3);
    for (const one of [0, 1, 2]) submit(one, 3 + Math.floor(random() * 6));
    // Some of them are being written now, and some of those before are being sent.
    await pause(random() * 40);
    const page = tabs.pages()[tab];
    if (page) await happen[mishap](page, tab);
  };
  for (const mishap of shuffle(random)) await step(mishap);
  const [page] = tabs.pages();
  if (!page) throw new Error('There is no tab left.');
  // Those whose page had died before it was told are made up for.
  for (let missing = 1000; missing > 0; missing = 1000 - shop.countSaved()) {
    if (missing < 1000) submit(0, missing);
    await Promise.all(tabs.pages().map((one) => one.evaluate(() => window.shop.allSaved())));
  }
  const read = (limit: number): Promise<readonly number[]> =>
    page.evaluate((most) => window.shop.left(most), limit);
  const patience = AbortSignal.timeout(patienceMs);
  // A page that has not opened the database yet knows nothing of what is in it.
  while ((await storageOf(page)) !== 'durable' && !patience.aborted) await pause(100);
  while ((await read(1)).length > 0 && !patience.aborted) await pause(100);
  const dead = await page.evaluate(() => window.shop.dead());
  expect(dead).not.toEqual([]);
  const left = await read(10_000);
  const account = { ...(await shop.settle(dead, left)), left };
  const storages = await Promise.all(tabs.pages().map(storageOf));
  const database = await page.evaluate(readDatabase);
  expect(account, JSON.stringify({ storages, database })).toEqual({
    lost: [],
    twice: [],
    early: [],
    wronglyDead: [],
    left: [],
  });
});
