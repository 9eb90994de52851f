import type { Browser, Page } from 'playwright';
import { startTabsServer, type TabsServer } from './tabs-server.ts';

declare global {
  interface Window {
    tab: {
      readonly held: () => number;
      readonly results: readonly string[];
      readonly isRestored?: boolean;
      readonly ask: (path: string) => void;
      readonly pass: (ms: number) => void;
      readonly settle: () => Promise<void>;
      readonly listen: () => Promise<void>;
      readonly isTold?: boolean;
      readonly mute: () => void;
      readonly say: (echo: number) => void;
      readonly hear: (echo: number) => Promise<void>;
    };
  }
}

/** The tabs of one browser, whose time passes only when a test says so. */
export interface Tabs {
  readonly server: TabsServer;
  readonly open: () => Promise<Page>;
  /** Lets time pass in all of them, in step, and everything settle that needs none. */
  readonly pass: (ms: number) => Promise<void>;
  readonly ask: (page: Page, path: string) => Promise<void>;
  readonly held: () => Promise<number[]>;
  /** Turns a tab into one that nobody sees, or back: a headless browser shows all of them. */
  readonly show: (page: Page, isVisible: boolean) => Promise<void>;
  readonly close: (page: Page) => Promise<void>;
  /** As a browser does with a tab that was hidden for long: nothing runs in it any more. */
  readonly freeze: (page: Page) => Promise<void>;
  /** The tab's renderer dies, and nothing in it can say goodbye. */
  readonly crash: (page: Page) => Promise<void>;
  readonly end: () => Promise<void>;
}

/** Clocks of tabs that are further apart than this are not of one machine. */
const stepMs = 100;

export async function openTabs(browser: Browser): Promise<Tabs> {
  const server = await startTabsServer();
  const context = await browser.newContext();
  let pages: readonly Page[] = [];
  let opened = 0;
  let lastEcho = 0;
  const drop = (page: Page): void => {
    pages = pages.filter((other) => other !== page);
  };

  /** What each has posted has reached all the others, and what that set off is done. */
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 2; round += 1) {
      for (const page of pages) await page.evaluate(() => window.tab.settle());
      for (const page of pages) {
        const echo = (lastEcho += 1);
        await page.evaluate((number) => window.tab.say(number), echo);
        const others = pages.filter((other) => other !== page);
        await Promise.all(
          others.map((other) => other.evaluate((number) => window.tab.hear(number), echo)),
        );
      }
    }
  };

  return {
    server,
    async open() {
      const page = await context.newPage();
      await page.goto(`${server.url}?tab=${opened++}`);
      await page.waitForFunction(() => 'tab' in window);
      pages = [...pages, page];
      await page.evaluate(() => window.tab.ask('/api/first'));
      await settle();
      return page;
    },
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await Promise.all(
          pages.map((page) => page.evaluate((step) => window.tab.pass(step), stepMs)),
        );
        await settle();
      }
    },
    async ask(page, path) {
      await page.evaluate((asked) => window.tab.ask(asked), path);
      await settle();
    },
    held: () => Promise.all(pages.map((page) => page.evaluate(() => window.tab.held()))),
    async show(page, isVisible) {
      await page.evaluate(
        (state) => {
          Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
          document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
        },
        isVisible ? 'visible' : 'hidden',
      );
      await settle();
    },
    async close(page) {
      drop(page);
      await page.close();
    },
    async freeze(page) {
      drop(page);
      await page.evaluate(() => document.dispatchEvent(new Event('freeze', { bubbles: true })));
    },
    async crash(page) {
      drop(page);
      const crashed = page.waitForEvent('crash');
      await page.goto('chrome://crash').catch(() => {});
      await crashed;
    },
    async end() {
      await context.close();
      await server.close();
    },
  };
}
