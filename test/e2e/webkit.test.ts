import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { count } from './count-shown.ts';
import { type OfflineServer, startOfflineServer } from './offline-server.ts';
import { missingForWebKit, startWebKit, type WebKit, type WebKitPage } from './webkit-driver.ts';

const isThere = missingForWebKit.length === 0;
if (!isThere) {
  console.log(
    `WebKitGTK is not tested: there is no ${missingForWebKit.join(' and no ')}. ` +
      'Debian has them in webkit2gtk-driver and xvfb; WEBKIT_DRIVER_PATH and XVFB_PATH say where else.',
  );
}

type Kind = 'react-query' | 'steadfetch';

const kinds: readonly Kind[] = ['react-query', 'steadfetch'];
const slow = Array.from({ length: 5 }, (_, index) => `/api/slow/${index}`);

let browser: WebKit;
let server: OfflineServer;

/** In a browser of its own, whose time is the real one. */
async function visit(kind: Kind, act: (page: WebKitPage) => Promise<void>): Promise<void> {
  server.here.isUp = true;
  server.there.isUp = true;
  server.here.forgetSlow();
  const page = await browser.open();
  // Also where the test runs out of time: the driver has one browser at once.
  onTestFinished(page.close);
  await page.goto(server.here.url);
  await page.waitFor(() => 'lab' in window);
  await page.evaluate((which) => window.lab.start(which), kind);
  await act(page);
}

const ask = (page: WebKitPage, ...urls: readonly string[]): Promise<void> =>
  page.evaluate((all) => all.forEach((url) => window.lab.ask(url)), urls);

/** How many requests have been sent, and what the queries show, once none is under way. */
async function look(page: WebKitPage): Promise<string> {
  const { sent, shown } = await page.evaluate(async () => {
    await window.lab.settle();
    return { sent: window.lab.sent.length, shown: window.lab.show() };
  });
  return `${sent} sent, ${count(shown)}`;
}

/** Until no query shows this any more. */
const untilNone = (page: WebKitPage, state: string): Promise<void> =>
  page.waitFor((over) => !window.lab.show().some((shown) => shown.startsWith(over)), state);

/** A situation, and what is seen in it. */
interface Situation {
  readonly name: string;
  readonly run: (page: WebKitPage) => Promise<string>;
  readonly expected: Readonly<Record<Kind, string>>;
}

const situations: readonly Situation[] = [
  {
    name: 'A navigation becomes a 204 with a request under way; it is sent again, and answered',
    async run(page) {
      await ask(page, '/api/slow');
      await server.here.slow(1);
      await page.evaluate(() => void (location.href = '/nothing'));
      const left = await look(page);
      await server.here.slow(2);
      server.here.answerSlow();
      return `${left}; ${await look(page)}`;
    },
    expected: {
      'react-query': '1 sent, fetching after 1; 2 sent, success',
      steadfetch: '1 sent, fetching; 2 sent, success',
    },
  },
  {
    name: '`window.stop()` with five requests under way; they are sent again, and answered',
    async run(page) {
      await ask(page, ...slow);
      await server.here.slow(slow.length);
      await page.evaluate(() => window.stop());
      const stopped = await look(page);
      await server.here.slow(2 * slow.length);
      server.here.answerSlow();
      return `${stopped}; ${await look(page)}`;
    },
    expected: {
      'react-query': '5 sent, 5 fetching after 1; 10 sent, 5 success',
      steadfetch: '5 sent, 5 fetching after 1; 10 sent, 5 success',
    },
  },
  {
    name: 'Left with a request under way, and back from the back-forward cache; it is sent again, and answered',
    async run(page) {
      await ask(page, '/api/slow');
      await server.here.slow(1);
      await page.goto(`${server.here.url}elsewhere`);
      await page.back();
      await page.waitFor(() => window.lab.isRestored);
      await server.here.slow(2);
      const back = await page.evaluate(() => window.lab.show());
      server.here.answerSlow();
      return `${back.join()}; ${await look(page)}`;
    },
    expected: {
      'react-query': 'fetching after 1; 2 sent, success',
      steadfetch: 'fetching; 2 sent, success',
    },
  },
  {
    name: '`onLine` turns false while the network works',
    async run(page) {
      await page.evaluate(() => {
        Object.defineProperty(navigator, 'onLine', { value: false, configurable: true });
        window.dispatchEvent(new Event('offline'));
      });
      await ask(page, '/api/a');
      await untilNone(page, 'fetching');
      return look(page);
    },
    expected: { 'react-query': '0 sent, paused', steadfetch: '1 sent, success' },
  },
  {
    name: 'One origin is down, another up; once it has failed four times; it is up again',
    async run(page) {
      const show = async (): Promise<string> => {
        const shown = await page.evaluate(() => window.lab.show());
        // How often it has failed by then is a matter of time.
        return count(shown.map((state) => state.replace(/ after .*/, '')));
      };
      server.there.isUp = false;
      await ask(page, '/api/a', `${server.there.url}api/b`);
      await page.waitFor(() =>
        window.lab.show().some((shown) => /after (?:[4-9]|\d\d)/.test(shown)),
      );
      const down = await show();
      const isOnline = await page.evaluate(() => window.lab.isOnline());
      server.there.isUp = true;
      await untilNone(page, 'fetching');
      return `${down}, ${isOnline ? 'online' : 'offline'}; ${await show()}`;
    },
    expected: {
      'react-query': '1 success, 1 error, online; 1 success, 1 error',
      steadfetch: '1 success, 1 fetching, online; 2 success',
    },
  },
];

describe.runIf(isThere)('in WebKitGTK', () => {
  beforeAll(async () => {
    [server, browser] = await Promise.all([startOfflineServer(), startWebKit()]);
  });
  afterAll(async () => {
    browser?.close();
    await server?.close();
  });

  describe.each(situations)('$name', ({ run, expected }) => {
    test.each(kinds)('%s', async (kind) => {
      await visit(kind, async (page) => {
        expect(await run(page)).toBe(expected[kind]);
      });
    });
  });
});

test('the table in the docs is what was measured in WebKitGTK', () => {
  const text = readFileSync(
    resolve(import.meta.dirname, '../../docs/connectivity-measured.md'),
    'utf8',
  );
  const rows = situations.map(
    ({ name, expected }) => `| ${name} | ${expected['react-query']} | ${expected.steadfetch} |`,
  );
  expect(rows.filter((row) => !text.includes(row))).toEqual([]);
});
