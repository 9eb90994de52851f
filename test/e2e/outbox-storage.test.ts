import type { Browser, BrowserContext, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { patienceMs } from '../setup/patience.ts';
import { launchBrowser } from './launch.ts';
import { type OutboxServer, startOutboxServer } from './outbox-server.ts';

const name = 'steadfetch-outbox';

let server: OutboxServer;
let browser: Browser;
let context: BrowserContext;
/** What the browser has asked before a page is left. */
let asked: string[];
beforeAll(async () => {
  server = await startOutboxServer();
  browser = await launchBrowser();
});
beforeEach(async () => {
  server.clear();
  asked = [];
  context = await browser.newContext();
});
afterEach(() => context.close());
afterAll(async () => {
  await browser.close();
  server.close();
});

async function open(): Promise<Page> {
  const page = await context.newPage();
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.dismiss();
  });
  // However long the server holds its answers back, no attempt is given up for it.
  await page.goto(`${server.url}?timeout=${patienceMs}`);
  await page.waitForFunction(() => 'shop' in window);
  // Chromium asks only where a user has done something.
  await page.mouse.click(5, 5);
  return page;
}

const inOrder = (): number[] => server.arrivals.toSorted((one, other) => one - other);

const storageOf = (page: Page): Promise<string> => page.evaluate(() => window.shop.state().storage);
const becomes = async (page: Page, storage: string): Promise<void> => {
  await expect.poll(() => storageOf(page)).toBe(storage);
};

const submit = (page: Page, no: number, article = 'a lamp'): Promise<void> =>
  page.evaluate(([order]) => window.shop.submit('a', [order]), [{ no, article }] as const);

/** Whether each was told as kept on the disk. */
const saved = (no: number): boolean | undefined =>
  server.told.filter((one) => one.kind === 'saved').find(({ nos }) => nos.includes(no))?.isDurable;
const isDelivered = (no: number): boolean =>
  server.told.some(({ kind, nos }) => kind === 'delivered' && nos.includes(no));

const untilSaved = async (no: number, isDurable: boolean): Promise<void> => {
  await expect.poll(() => saved(no)).toBe(isDurable);
};
const untilDelivered = async (no: number): Promise<void> => {
  await expect.poll(() => isDelivered(no)).toBe(true);
};

/** Leaves the page if nobody asks. */
async function isAskedOnLeaving(page: Page): Promise<boolean> {
  asked = [];
  await page.goto(`${server.url}elsewhere`).catch(() => {});
  return asked.length > 0;
}

/** Submits, answers, and says whether anybody was asked about it before and after. */
async function sendOne(page: Page): Promise<object> {
  server.isHeld = true;
  await submit(page, 1);
  await expect.poll(() => saved(1)).toBeDefined();
  const isAskedBefore = await isAskedOnLeaving(page);
  server.answer();
  await untilDelivered(1);
  return { isDurable: saved(1), isAskedBefore, isAskedAfter: await isAskedOnLeaving(page) };
}
/** It goes out all the same, and is asked about until it has arrived. */
const outAllTheSame = { isDurable: false, isAskedBefore: true, isAskedAfter: false };

test('what is on the disk is not asked about', async () => {
  const page = await open();
  server.isHeld = true;
  await submit(page, 1);
  await untilSaved(1, true);
  expect(await storageOf(page)).toBe('durable');
  expect(await isAskedOnLeaving(page)).toBe(false);
});

test('without IndexedDB, as in some private windows', async () => {
  await context.addInitScript(() => Reflect.deleteProperty(window, 'indexedDB'));
  const page = await open();
  await becomes(page, 'unavailable');
  expect(await sendOne(page)).toEqual(outAllTheSame);
});

test('in a frame that may not store anything', async () => {
  const page = await open();
  await page.evaluate((url) => {
    const frame = document.createElement('iframe');
    frame.sandbox.add('allow-scripts');
    frame.src = `${url}?orders=${url}orders`;
    document.body.append(frame);
  }, server.url);
  await expect.poll(() => page.frames().length).toBe(2);
  const [, frame] = page.frames();
  await frame?.waitForFunction(() => 'shop' in window);
  await frame?.waitForFunction(() => window.shop.state().storage === 'unavailable');
  await frame?.evaluate(() => window.shop.submit('a', [{ no: 1, article: 'a lamp' }]));
  await expect.poll(() => server.arrivals).toEqual([1]);
});

/** Fills what the site may have, to the last thousand bytes. */
const fill = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((opened, fail) => {
      const request = indexedDB.open('filler');
      request.addEventListener('upgradeneeded', () =>
        request.result.createObjectStore('all', { autoIncrement: true }),
      );
      request.addEventListener('success', () => opened(request.result));
      request.addEventListener('error', () => fail(new Error('not opened')));
    });
    const add = (bytes: number): Promise<boolean> =>
      new Promise((done) => {
        const transaction = database.transaction('all', 'readwrite');
        transaction.objectStore('all').add(crypto.getRandomValues(new Uint8Array(bytes)));
        transaction.addEventListener('complete', () => done(true));
        transaction.addEventListener('abort', () => done(false));
      });
    for (const bytes of [60_000, 6000, 600]) while (await add(bytes));
    database.close();
  });
async function limit(page: Page, quotaSize: number): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send('Storage.overrideQuotaForOrigin', { origin: server.url, quotaSize });
}

test('over its quota; what was kept before goes on, and later ones are kept, when there is room', async () => {
  const blank = await context.newPage();
  await blank.goto(`${server.url}elsewhere`);
  await limit(blank, 3_000_000);
  const page = await open();
  await becomes(page, 'durable');
  server.isHeld = true;
  for (const no of [1, 2, 3, 4, 5, 6]) await submit(page, no);
  await untilSaved(6, true);
  await fill(blank);
  await submit(page, 7);
  await untilSaved(7, false);
  await becomes(page, 'quota');
  expect(await isAskedOnLeaving(page)).toBe(true);
  server.answer();
  for (const no of [1, 2, 3, 4, 7]) await untilDelivered(no);
  // That a row is being sent cannot be noted, so it is not sent.
  expect(inOrder()).toEqual([1, 2, 3, 4, 7]);
  await limit(blank, 100_000_000);
  for (const no of [5, 6]) await untilDelivered(no);
  await submit(page, 8);
  await untilSaved(8, true);
  await untilDelivered(8);
  expect(await storageOf(page)).toBe('durable');
  expect(inOrder()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(await isAskedOnLeaving(page)).toBe(false);
});

const remove = (page: Page): Promise<void> =>
  page.evaluate(
    (database) =>
      new Promise<void>((done, fail) => {
        const request = indexedDB.deleteDatabase(database);
        request.addEventListener('success', () => done());
        request.addEventListener('error', () => fail(new Error('not deleted')));
      }),
    name,
  );

test.each(['by a script', 'by the user, with all data of the site'])(
  'its database is deleted under it %s: what is under way is told, and what is submitted later is kept again',
  async (how) => {
    const page = await open();
    server.isHeld = true;
    await submit(page, 1);
    await untilSaved(1, true);
    await expect.poll(() => server.arrivals).toEqual([1]);
    if (how === 'by a script') await remove(page);
    else {
      const session = await context.newCDPSession(page);
      const storageTypes = 'all';
      await session.send('Storage.clearDataForOrigin', { origin: server.url, storageTypes });
    }
    await submit(page, 2);
    await expect.poll(() => saved(2)).toBeDefined();
    await becomes(page, 'durable');
    await expect.poll(() => page.evaluate(() => window.shop.count())).toBe(1);
    server.answer();
    await untilDelivered(1);
    await untilDelivered(2);
    await submit(page, 3);
    await untilSaved(3, true);
    await untilDelivered(3);
    expect(await isAskedOnLeaving(page)).toBe(false);
  },
);

const openNewer = (page: Page): Promise<void> =>
  page.evaluate(
    (database) =>
      new Promise<void>((done, fail) => {
        const request = indexedDB.open(database, 1000);
        request.addEventListener('success', () => done());
        request.addEventListener('error', () => fail(new Error('not opened')));
      }),
    name,
  );

test('a later version of the app is opened in another tab, which waits for nothing', async () => {
  const page = await open();
  await becomes(page, 'durable');
  const other = await context.newPage();
  await other.goto(`${server.url}elsewhere`);
  await openNewer(other);
  await becomes(page, 'newer-version');
  expect(await sendOne(page)).toEqual(outAllTheSame);
});

test('a later version of the app was there before', async () => {
  const other = await context.newPage();
  await other.goto(`${server.url}elsewhere`);
  await openNewer(other);
  const page = await open();
  await becomes(page, 'newer-version');
  expect(await sendOne(page)).toEqual(outAllTheSame);
});

test('another tab does not let go: nobody waits for it longer than a moment, and it is durable when that tab is closed', async () => {
  const other = await context.newPage();
  await other.goto(`${server.url}elsewhere`);
  await openNewer(other);
  // It stays open, and whoever opens the database now waits for the end of this.
  await other.evaluate((database) => void indexedDB.deleteDatabase(database), name);
  // It is submitted as soon as there is an outbox, and not after the moment.
  await context.addInitScript(() => {
    Object.defineProperty(window, 'shop', {
      configurable: true,
      set(shop: Window['shop']) {
        Object.defineProperty(window, 'shop', { value: shop });
        Object.assign(window, { storageAtFirst: shop.state().storage });
        void shop.submit('a', [{ no: 1, article: 'a lamp' }]);
      },
    });
  });
  const page = await open();
  await untilDelivered(1);
  expect(await page.evaluate(() => Reflect.get(window, 'storageAtFirst'))).toBe('opening');
  expect(saved(1)).toBe(false);
  await becomes(page, 'blocked');
  await other.close();
  await becomes(page, 'durable');
  await submit(page, 2);
  await untilSaved(2, true);
  await untilDelivered(2);
  expect(server.arrivals).toEqual([1, 2]);
});
