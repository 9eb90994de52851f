import type { Page } from 'playwright';
import { describe, expect, onTestFinished, test } from 'vitest';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import type { CartOrder, DeadOrder } from '../proof/account.ts';
import { findFirefox } from '../setup/firefox.ts';
import { patienceMs } from '../setup/patience.ts';
import { launchBrowser, launchFirefox } from './launch.ts';
import { openShop, type OutboxShop } from './outbox-shop.ts';
import { missingForWebKit, startWebKit } from './webkit-driver.ts';

// What is missing here is said by firefox.test.ts and webkit.test.ts.

/** A tab of whatever browser. */
interface Tab {
  readonly submit: (visit: string, orders: readonly CartOrder[]) => Promise<void>;
  readonly allSaved: () => Promise<void>;
  readonly reload: () => Promise<void>;
  readonly left: (limit: number) => Promise<readonly number[]>;
  readonly dead: () => Promise<readonly DeadOrder[]>;
}

const pause = (ms: number): Promise<void> => new Promise((over) => void setTimeout(over, ms));

/** Orders from these tabs, which are reloaded at any moment, and a server that dies. @returns the account. */
async function prove(shop: OutboxShop, tabs: readonly Tab[], orders: number): Promise<object> {
  const random = seededRandom(1);
  let visit = 0;
  const submit = async (tab: Tab, count: number): Promise<void> => {
    await tab.submit(`${(visit += 1)}`, shop.draw(count));
  };
  for (let times = 0; times < 4; times += 1) {
    for (const tab of tabs) {
      await submit(tab, 8);
      await pause(random() * 60);
      await tab.reload();
    }
    if (times === 1) await shop.restart();
  }
  const [first] = tabs;
  if (!first) return {};
  for (let missing = orders; missing > 0; missing = orders - shop.countSaved()) {
    await submit(first, missing);
    await first.allSaved();
  }
  const patience = AbortSignal.timeout(patienceMs);
  while ((await first.left(1)).length > 0 && !patience.aborted) await pause(100);
  const left = await first.left(1000);
  return { ...(await shop.settle(await first.dead(), left)), left };
}

const inOrder = { lost: [], twice: [], early: [], wronglyDead: [], left: [] };

function tabOf(page: Page): Tab {
  return {
    submit: (visit, orders) =>
      page.evaluate(([name, all]) => window.shop.submit(name, all), [visit, orders] as const),
    allSaved: () => page.evaluate(() => window.shop.allSaved()),
    async reload() {
      await page.reload();
      await page.waitForFunction(() => 'shop' in window);
    },
    left: (limit) => page.evaluate((most) => window.shop.left(most), limit),
    dead: () => page.evaluate(() => window.shop.dead()),
  };
}

/** `npm run browsers` has more, and in Chromium too, which `outbox.test.ts` has here. */
const { SUBMISSIONS } = process.env;
const submissions = (usual: number): number => Number(SUBMISSIONS ?? usual);
const launchers = { chromium: () => launchBrowser(), firefox: launchFirefox };
const isThere = { chromium: SUBMISSIONS !== undefined, firefox: findFirefox() !== undefined };

describe.for(['chromium', 'firefox'] as const)('in %s', (engine) => {
  test.runIf(isThere[engine])(
    `of ${submissions(150)} submissions from three tabs none is lost, none is done twice, and each cart keeps its order`,
    async () => {
      const shop = await openShop({ seed: 1, speed: 40 });
      onTestFinished(shop.close);
      const browser = await launchers[engine]();
      onTestFinished(() => browser.close());
      const context = await browser.newContext();
      const open = async (): Promise<Tab> => {
        const page = await context.newPage();
        page.on('dialog', (dialog) => void dialog.accept().catch(() => {}));
        await page.goto(shop.url);
        await page.waitForFunction(() => 'shop' in window);
        return tabOf(page);
      };
      const tabs = [await open(), await open(), await open()];
      expect(await prove(shop, tabs, submissions(150))).toEqual(inOrder);
    },
  );
});

describe.runIf(missingForWebKit.length === 0)('in webkit', () => {
  test(`of ${submissions(80)} submissions none is lost, none is done twice, and each cart keeps its order`, async () => {
    const shop = await openShop({ seed: 1, speed: 40 });
    onTestFinished(shop.close);
    const browser = await startWebKit();
    onTestFinished(browser.close);
    const page = await browser.open();
    onTestFinished(page.close);
    const load = async (): Promise<void> => {
      await page.goto(shop.url);
      await page.waitFor(() => 'shop' in window);
    };
    await load();
    const tab: Tab = {
      submit: (visit, orders) =>
        page.evaluate(([name, all]) => window.shop.submit(name, all), [visit, orders] as const),
      allSaved: () => page.evaluate(() => window.shop.allSaved()),
      reload: load,
      left: (limit) => page.evaluate((most) => window.shop.left(most), limit),
      dead: () => page.evaluate(() => window.shop.dead()),
    };
    expect(await prove(shop, [tab], submissions(80))).toEqual(inOrder);
  });
});
