import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { count } from './count-shown.ts';
import type { Lab } from './offline-page/main.ts';
import { type OfflineServer, startOfflineServer } from './offline-server.ts';
import { launchBrowser } from './launch.ts';

declare global {
  interface Window {
    lab: Lab;
  }
}

type Kind = 'react-query' | 'steadfetch';

/** One page with queries, whose time passes only when a test says so. */
interface Visit {
  readonly page: Page;
  readonly cdp: CDPSession;
  /** How many requests it has sent so far, and what its queries show. */
  readonly look: () => Promise<string>;
  readonly ask: (...urls: readonly string[]) => Promise<void>;
  readonly settle: (underWay?: number) => Promise<void>;
  readonly pass: (ms: number) => Promise<void>;
}

const file = resolve(import.meta.dirname, '../../docs/connectivity-measured.md');
const kinds: readonly Kind[] = ['react-query', 'steadfetch'];
const unlimited = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
const slow = Array.from({ length: 5 }, (_, index) => `/api/slow/${index}`);
const ten = Array.from({ length: 10 }, (_, index) => `/api/${index}`);

let browser: Browser;
let server: OfflineServer;
beforeAll(async () => {
  [server, browser] = await Promise.all([
    startOfflineServer(),
    launchBrowser({ hasBackForwardCache: true }),
  ]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

async function visit(act: (visit: Visit) => Promise<void>, isTimed = true) {
  const context = await browser.newContext();
  const page = await context.newPage();
  if (isTimed) {
    await page.clock.install({ time: new Date('2026-01-01T00:00:00Z') });
    await page.clock.pauseAt(new Date('2026-01-01T01:00:00Z'));
  }
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  const settle = (underWay = 0): Promise<void> =>
    page.evaluate((number) => window.lab.settle(number), underWay);
  server.here.isUp = true;
  server.there.isUp = true;
  server.here.forgetSlow();
  await page.goto(server.here.url);
  await page.waitForFunction(() => 'lab' in window);
  try {
    await act({
      page,
      cdp,
      settle,
      async ask(...urls) {
        await page.evaluate((all) => all.forEach((url) => window.lab.ask(url)), urls);
      },
      async pass(ms) {
        for (let passed = 0; passed < ms; passed += 500) {
          await page.clock.runFor(Math.min(500, ms - passed));
          await settle();
        }
      },
      async look() {
        const { sent, shown } = await page.evaluate(() => ({
          sent: window.lab.sent.length,
          shown: window.lab.show(),
        }));
        return `${sent} sent, ${count(shown)}`;
      },
    });
  } finally {
    await context.close();
  }
}

const start = ({ page }: Visit, kind: Kind, timeoutMs?: number): Promise<void> =>
  page.evaluate(([which, ms]) => window.lab.start(which, ms), [kind, timeoutMs] as const);

/** Cuts the page off, as the developer tools do: requests, `onLine`, and the events. */
async function setOffline({ cdp, page }: Visit, offline: boolean): Promise<void> {
  await cdp.send('Network.emulateNetworkConditions', { offline, ...unlimited });
  // The browser answers before the page has its event.
  await page.waitForFunction((isOnline) => window.lab.isTold === isOnline, !offline);
}

/** A situation, and what is seen in it. */
interface Situation {
  readonly name: string;
  readonly isTimed?: boolean;
  readonly run: (visit: Visit, kind: Kind) => Promise<string>;
  readonly expected: Readonly<Record<Kind, string>>;
}

const situations: readonly Situation[] = [
  {
    name: 'The app starts offline; after 10 s; 10 s after the network is back',
    async run(one, kind) {
      await setOffline(one, true);
      await start(one, kind);
      await one.ask('/api/a');
      await one.settle();
      await one.pass(10_000);
      const offline = await one.look();
      await setOffline(one, false);
      await one.pass(10_000);
      return `${offline}; ${await one.look()}`;
    },
    expected: {
      'react-query': '4 sent, error after 4; 4 sent, error after 4',
      steadfetch: '0 sent, paused; 1 sent, success',
    },
  },
  {
    name: 'Ten queries asked for offline; the moment the network is back; 2 s later',
    async run(one, kind) {
      await start(one, kind);
      await setOffline(one, true);
      await one.settle();
      await one.ask(...ten);
      await one.pass(5000);
      await setOffline(one, false);
      await one.settle();
      const back = await one.look();
      await one.pass(2000);
      return `${back}; ${await one.look()}`;
    },
    expected: {
      'react-query': '10 sent, 10 success; 10 sent, 10 success',
      steadfetch: '10 sent, 10 success; 10 sent, 10 success',
    },
  },
  {
    name: 'Ten queries and a slow plain mutation, asked for offline; the moment the mutation is answered; 5 s later',
    async run(one, kind) {
      await start(one, kind);
      await setOffline(one, true);
      await one.settle();
      await one.ask(...ten);
      await one.page.evaluate(() => window.lab.change('/api/slow'));
      await one.pass(5000);
      await setOffline(one, false);
      await server.here.slow(1);
      await one.page.clock.runFor(500);
      server.here.answerSlow();
      // Its body comes after its headers, and only then the queries are let go.
      await one.page.waitForFunction(() => window.lab.sent.length >= 11);
      await one.settle();
      const answered = await one.look();
      await one.pass(5000);
      return `${answered}; ${await one.look()}`;
    },
    expected: {
      'react-query': '11 sent, 10 success; 11 sent, 10 success',
      steadfetch: '11 sent, 10 success; 11 sent, 10 success',
    },
  },
  {
    name: '`onLine` turns false while the network works; after 10 s',
    async run(one, kind) {
      await start(one, kind);
      await one.cdp.send('Network.overrideNetworkState', { offline: true, ...unlimited });
      await one.settle();
      await one.ask('/api/a');
      await one.pass(10_000);
      return one.look();
    },
    expected: { 'react-query': '0 sent, paused', steadfetch: '1 sent, success' },
  },
  {
    name: 'One origin is down, another up; after 10 s; the first is up again, 10 s later',
    async run(one, kind) {
      server.there.isUp = false;
      await start(one, kind);
      await one.ask('/api/a', `${server.there.url}api/b`);
      await one.settle();
      await one.pass(10_000);
      const down = await one.look();
      const isOnline = await one.page.evaluate(() => window.lab.isOnline());
      server.there.isUp = true;
      await one.pass(10_000);
      return `${down}, ${isOnline ? 'online' : 'offline'}; ${await one.look()}`;
    },
    expected: {
      'react-query':
        '5 sent, 1 success, 1 error after 4, online; 5 sent, 1 success, 1 error after 4',
      steadfetch: '8 sent, 1 success, 1 fetching after 7, online; 9 sent, 2 success',
    },
  },
  {
    name: 'A navigation becomes a 204 with a request under way; the answer comes',
    async run(one, kind) {
      await start(one, kind);
      await one.ask('/api/slow');
      await server.here.slow(1);
      const answered = one.page.waitForResponse(`${server.here.url}nothing`);
      await one.page.evaluate(() => void (location.href = '/nothing'));
      await answered;
      const left = await one.look();
      server.here.answerSlow();
      await one.pass(2000);
      return `${left}; ${await one.look()}`;
    },
    expected: {
      'react-query': '1 sent, fetching; 1 sent, success',
      steadfetch: '1 sent, fetching; 1 sent, success',
    },
  },
  {
    name: '`window.stop()` with five requests under way; they are sent again, and answered',
    async run(one, kind) {
      await start(one, kind);
      await one.ask(...slow);
      await server.here.slow(slow.length);
      await one.page.evaluate(() => window.stop());
      await one.settle();
      const stopped = await one.look();
      await one.page.clock.runFor(1500);
      await server.here.slow(2 * slow.length);
      server.here.answerSlow();
      await one.page.waitForFunction(() => window.lab.show().every((shown) => shown === 'success'));
      return `${stopped}; ${await one.look()}`;
    },
    expected: {
      'react-query': '5 sent, 5 fetching after 1; 10 sent, 5 success',
      steadfetch: '5 sent, 5 fetching after 1; 10 sent, 5 success',
    },
  },
  {
    name: '`window.stop()` with the body of an answer under way; it is sent again, and answered',
    async run(one, kind) {
      await start(one, kind);
      await one.ask('/api/slow/body');
      await server.here.slow(1);
      await one.settle();
      await one.page.evaluate(() => window.stop());
      await one.settle();
      const stopped = await one.look();
      await one.page.clock.runFor(1500);
      await server.here.slow(2);
      server.here.answerSlow();
      await one.settle();
      await one.page.waitForFunction(() => window.lab.show()[0] === 'success');
      return `${stopped}; ${await one.look()}`;
    },
    expected: {
      'react-query': '1 sent, fetching after 1; 2 sent, success',
      steadfetch: '1 sent, fetching after 1; 2 sent, success',
    },
  },
  {
    name: 'Ten queries wait for a retry, hidden for 2 minutes; the moment they are seen; 15 s later',
    async run(one, kind) {
      await start(one, kind);
      server.here.isUp = false;
      await one.ask(...ten);
      await one.settle();
      server.here.isUp = true;
      const show = (state: string): Promise<void> =>
        one.page.evaluate((value) => {
          Object.defineProperty(document, 'visibilityState', { value, configurable: true });
          document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
        }, state);
      await show('hidden');
      await one.page.clock.runFor(120_000);
      await one.settle();
      const hidden = await one.look();
      await show('visible');
      await one.settle();
      const seen = await one.look();
      await one.pass(15_000);
      return `${hidden}; ${seen}; ${await one.look()}`;
    },
    expected: {
      'react-query': '10 sent, 10 paused after 1; 20 sent, 10 success; 20 sent, 10 success',
      steadfetch: '10 sent, 10 paused after 1; 20 sent, 10 success; 20 sent, 10 success',
    },
  },
  {
    name: 'Left with a request under way, and back from the back-forward cache',
    isTimed: false,
    async run(one, kind) {
      await start(one, kind);
      await one.ask('/api/slow');
      await server.here.slow(1);
      await one.page.goto(`${server.here.url}elsewhere`);
      server.here.answerSlow();
      await one.page.goBack({ waitUntil: 'commit' });
      await one.page.waitForFunction(() => window.lab.isRestored);
      await one.settle();
      return one.look();
    },
    expected: { 'react-query': '1 sent, success', steadfetch: '1 sent, success' },
  },
  {
    name: 'Frozen for 2.5 s while the answer comes; the time limit is 1 s',
    isTimed: false,
    async run(one, kind) {
      await start(one, kind, 1000);
      // One right after the other, so that the limit does not come in between.
      await Promise.all([
        one.cdp.send('Runtime.evaluate', { expression: `window.lab.ask('/api/slow')` }),
        one.cdp.send('Page.setWebLifecycleState', { state: 'frozen' }),
      ]);
      await server.here.slow(1);
      server.here.answerSlow();
      await server.here.slowIsOver();
      await new Promise((passed) => setTimeout(passed, 2500));
      await one.cdp.send('Page.setWebLifecycleState', { state: 'active' });
      await one.settle();
      return one.look();
    },
    expected: { 'react-query': '1 sent, success', steadfetch: '1 sent, success' },
  },
];

describe.each(situations)('$name', ({ run, expected, isTimed }) => {
  test.each(kinds)('%s', async (kind) => {
    await visit(async (one) => {
      expect(await run(one, kind)).toBe(expected[kind]);
    }, isTimed);
  });
});

test('a tab that is frozen gives up the lock of the one that sends the probes', async () => {
  await visit(async (one) => {
    server.there.isUp = false;
    await start(one, 'steadfetch');
    await one.ask(`${server.there.url}api/b`);
    const isHeld = async (): Promise<boolean> => (await navigator.locks.query()).held?.length === 1;
    const other = await one.page.context().newPage();
    await other.goto(server.here.url);
    await other.waitForFunction(isHeld);
    await one.cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
    await other.waitForFunction(async () => (await navigator.locks.query()).held?.length === 0);
    // Nothing else has it: the frozen tab has let go.
    const { held, pending } = await other.evaluate(() => navigator.locks.query());
    expect([held, pending]).toEqual([[], []]);
    await one.cdp.send('Page.setWebLifecycleState', { state: 'active' });
  }, false);
});

test('the table in the docs is what was measured', () => {
  const rows = situations.map(
    ({ name, expected }) => `| ${name} | ${expected['react-query']} | ${expected.steadfetch} |`,
  );
  const text = readFileSync(file, 'utf8');
  expect(rows.filter((row) => !text.includes(row))).toEqual([]);
});
