import type { Browser } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFirefox } from '../setup/firefox.ts';
import { launchFirefox } from './launch.ts';
import { type OfflineServer, startOfflineServer } from './offline-server.ts';

const isThere = findFirefox() !== undefined;
if (!isThere) console.log('Firefox is not tested: there is none. FIREFOX_PATH says where.');

// Firefox rejects what is under way when a navigation begins, and before `pagehide`.
describe.runIf(isThere)(
  'Firefox, at a navigation that becomes a 204 with a request under way',
  () => {
    let browser: Browser;
    let server: OfflineServer;
    beforeAll(async () => {
      server = await startOfflineServer();
      browser = await launchFirefox();
    });
    afterAll(async () => {
      await browser?.close();
      await server.close();
    });

    test.each([
      ['react-query', 'fetching after 1'],
      ['steadfetch', 'fetching'],
    ] as const)('%s: %s', async (kind, shown) => {
      const page = await browser.newPage();
      server.here.forgetSlow();
      await page.goto(server.here.url);
      await page.waitForFunction(() => 'lab' in window);
      await page.evaluate((which) => {
        window.lab.start(which);
        window.lab.ask('/api/slow');
      }, kind);
      await server.here.slow(1);
      await page.evaluate(() => void (location.href = '/nothing'));
      await page.waitForFunction(() => window.lab.sent.length === 1);
      await page.evaluate(() => window.lab.settle());
      expect(await page.evaluate(() => window.lab.show())).toEqual([shown]);
      // Both send it again: one as a retry after a failure, one because the page has stayed.
      await server.here.slow(2);
      server.here.answerSlow();
      await page.evaluate(() => window.lab.settle());
      expect(await page.evaluate(() => window.lab.show())).toEqual(['success']);
      await page.close();
    });
  },
);
