import type { Browser, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { launchBrowser } from './launch.ts';
import { openTabs, type Tabs } from './open-tabs.ts';
import { startTabsServer } from './tabs-server.ts';

describe('tabs of one browser, while an origin is down', () => {
  let browser: Browser;
  let tabs: Tabs;
  let pages: [Page, Page, Page];
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    tabs = await openTabs(browser);
    pages = [await tabs.open(), await tabs.open(), await tabs.open()];
  });
  afterEach(() => tabs.end());

  /** The first tab finds out: two endpoints fail, so it is the origin that is down. */
  const goDown = async (): Promise<number> => {
    tabs.server.isUp = false;
    // An answer speaks for all that was sent no later: what fails now is sent after it.
    await tabs.pass(1);
    await tabs.ask(pages[0], '/api/found-out');
    await tabs.ask(pages[0], '/api/as-well');
    return tabs.server.arrivals.length;
  };
  const probes = (from: number): string[] => tabs.server.arrivals.slice(from);
  /** What each tab asks for: the first one what it knows to fail, because it would find out about anything else. */
  const pathOf = (number: number): string => (number === 0 ? '/api/as-well' : `/api/tab-${number}`);

  test('one of them finds out, the others hold without a request, and one probes for all', async () => {
    const known = await goDown();
    for (const [number, page] of pages.entries()) {
      for (let times = 0; times < 6; times += 1) await tabs.ask(page, pathOf(number));
    }
    expect(await tabs.held()).toEqual([6, 6, 6]);
    expect(probes(known)).toEqual([]);
    await tabs.pass(12_000);
    expect(probes(known)).not.toEqual([]);
    expect(new Set(probes(known))).toEqual(new Set(['/api/as-well']));
    // Nothing that waits in the others has been lost, nor sent.
    expect((await tabs.held()).slice(1)).toEqual([6, 6]);
  });

  test('the probe of one is answered, and what all of them hold goes out, nothing twice', async () => {
    const known = await goDown();
    await tabs.ask(pages[0], '/api/early');
    while (probes(known).length === 0) await tabs.pass(100);
    for (const [number, page] of pages.entries()) await tabs.ask(page, `/api/tab-${number}`);
    tabs.server.isUp = true;
    await tabs.pass(5000);
    expect(probes(known).slice(0, 2)).toEqual(['/api/early', '/api/tab-0']);
    expect(probes(known).slice(2).toSorted()).toEqual(['/api/tab-1', '/api/tab-2']);
    expect(await tabs.held()).toEqual([0, 0, 0]);
  });

  test.for(['close', 'freeze', 'crash'] as const)(
    'when the one that would probe is gone (%s), another takes over',
    async (way) => {
      const known = await goDown();
      for (const [number, page] of pages.entries()) await tabs.ask(page, pathOf(number));
      await tabs[way](pages[0]);
      while (probes(known).length === 0) await tabs.pass(100);
      expect(probes(known)).toEqual(['/api/tab-1']);
    },
  );

  test('when the one that would probe is hidden, another does', async () => {
    const known = await goDown();
    await tabs.show(pages[0], false);
    for (const [number, page] of pages.entries()) await tabs.ask(page, pathOf(number));
    while (probes(known).length === 0) await tabs.pass(100);
    expect(probes(known)).toEqual(['/api/tab-1']);
  });

  test('a tab that is opened later learns it from the others', async () => {
    await goDown();
    await tabs.ask(pages[0], '/api/as-well');
    const page = await tabs.open();
    // The one that probes says so every 3 s.
    await tabs.pass(4500);
    const known = tabs.server.arrivals.length;
    await tabs.ask(page, '/api/late');
    expect(await page.evaluate(() => window.tab.held())).toBe(1);
    expect(probes(known)).toEqual([]);
  });
});

describe('the back-forward cache', () => {
  test('keeps a page that shares, also when other tabs post, and the page learns what it missed', async () => {
    const browser = await launchBrowser({ hasBackForwardCache: true });
    const server = await startTabsServer();
    try {
      const context = await browser.newContext();
      const open = async (): Promise<Page> => {
        const page = await context.newPage();
        await page.goto(server.url);
        await page.waitForFunction(() => 'tab' in window);
        await page.evaluate(() => window.tab.ask('/api/first'));
        await page.waitForFunction(() => window.tab.results.length === 1);
        return page;
      };
      const [left, other] = [await open(), await open()];
      // The test's own line would cost the page its place there.
      await left.evaluate(() => window.tab.mute());
      await left.goto(`${server.url}elsewhere`);
      server.isUp = false;
      // An answer speaks for all that was sent no later: what fails now is sent after it.
      await other.evaluate(() => window.tab.pass(1));
      await other.evaluate(() => window.tab.ask('/api/a'));
      await other.waitForFunction(() => window.tab.results.length === 2);
      await other.evaluate(() => window.tab.ask('/api/b'));
      await other.waitForFunction(() => window.tab.results.length === 3);
      await other.evaluate(() => window.tab.ask('/api/a'));
      await other.evaluate(() => window.tab.pass(1500));
      await other.waitForFunction(() => window.tab.results.length === 4);
      await other.evaluate(() => window.tab.ask('/api/b'));
      await left.goBack({ waitUntil: 'commit' });
      await left.waitForFunction(() => window.tab.isRestored);
      // The one that probes says so again.
      await left.evaluate(() => window.tab.listen());
      await other.evaluate(() => window.tab.pass(3000));
      await left.waitForFunction(() => window.tab.isTold);
      await left.evaluate(() => window.tab.ask('/api/later'));
      await left.evaluate(() => window.tab.settle());
      expect(await left.evaluate(() => window.tab.held())).toBe(1);
      // The other tab may be probing meanwhile.
      expect(server.arrivals).not.toContain('/api/later');
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
