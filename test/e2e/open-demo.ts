import type { BrowserContextOptions, Page } from 'playwright';
import { startDemo } from './demo-server.ts';
import { launchBrowser } from './launch.ts';
import { watchTimers } from './until.ts';
import { createVisitor, type Visitor } from './visitor.ts';
import { watchPage } from './watch-page.ts';

/** The demo, and a browser to visit it with. */
export interface Demo {
  /** Opens it at a URL hash. */
  readonly visit: (hash: string, look?: Look) => Promise<Visitor>;
  /**
   * Closes what is open.
   *
   * @throws Error when the console was told of anything that the scenarios do not explain.
   */
  readonly leave: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How a visitor looks at it. */
interface Look {
  /** @default desktop */
  readonly screen?: keyof typeof screens;
  /** @default 'light' */
  readonly colorScheme?: 'light' | 'dark';
  /** Motion is drawn at every frame, which takes its time in tests. @default 'reduce' */
  readonly reducedMotion?: 'reduce' | 'no-preference';
}

export const screens = {
  desktop: { width: 1280, height: 800 },
  phone: { width: 390, height: 844 },
  smallPhone: { width: 320, height: 640 },
} as const satisfies Record<string, BrowserContextOptions['viewport']>;

/** Runs in a page: deletes all that its origin has kept in databases. */
async function deleteDatabases(): Promise<void> {
  for (const { name = '' } of await indexedDB.databases())
    await new Promise<void>((resolve, reject) => {
      const request = indexedDB.deleteDatabase(name);
      request.addEventListener('success', () => resolve());
      request.addEventListener('error', () => reject(request.error ?? new Error(name)));
    });
}

export async function openDemo(): Promise<Demo> {
  const server = await startDemo();
  const browser = await launchBrowser();
  const context = await browser.newContext({ timezoneId: 'UTC' });
  await context.clock.install({ time: '2026-01-01T09:59:00Z' });
  await context.clock.pauseAt('2026-01-01T10:00:00Z');
  await context.addInitScript(watchTimers);
  await context.addInitScript(watchPage);
  // MSW's worker unregisters itself when its last page closes. That takes a while, and a page that is
  // opened meanwhile is left without answers. This page stays, so it is never the last.
  await (await context.newPage()).goto(`${server.url}mockServiceWorker.js`);
  const open: { page: Page; visitor: Visitor }[] = [];

  return {
    async visit(
      hash,
      { screen = 'desktop', colorScheme = 'light', reducedMotion = 'reduce' } = {},
    ) {
      const page = await context.newPage();
      const visitor = createVisitor(page);
      open.push({ page, visitor });
      await page.setViewportSize(screens[screen]);
      await page.emulateMedia({ colorScheme, reducedMotion });
      await page.goto(`${server.url}${hash}`);
      await page.locator('.storm .lab, .act[aria-busy=false] .timeline ~ .proof').waitFor();
      return visitor;
    },
    async leave() {
      const left = open.splice(0);
      for (const { page } of left) await page.close();
      // Else the outbox of one test sends its notes from the pages of the next.
      const blank = await context.newPage();
      await blank.goto(`${server.url}mockServiceWorker.js`);
      await blank.evaluate(deleteDatabases);
      await blank.close();
      const complaints = left.flatMap(({ visitor }) => visitor.complaints);
      if (complaints.length > 0) throw new Error(`In the console: ${complaints.join('\n')}`);
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}
