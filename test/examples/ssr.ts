// Builds the examples of docs/ssr for production, with some pages more, drives them in Chromium, and prints what is so.
import { deepStrictEqual as equal } from 'node:assert';
import type { Browser, Page } from 'playwright';
import { launchBrowser } from '../e2e/launch.ts';
import buildIfStale from '../setup/dist.ts';
import { type Api, startApi } from './api.ts';
import { checkDev } from './dev.ts';
import { buildExample, type Framework, next, packPackage, reactRouter, startApp } from './apps.ts';

/** Many times what any of these takes. */
const limitMs = 20_000;

interface Visit {
  readonly page: Page;
  /** What the page shows of a section: its list, and its status. */
  readonly shown: (section: string) => Promise<string>;
  /** Waits until it shows this. */
  readonly until: (section: string, text: string) => Promise<void>;
}

interface Stage {
  readonly api: Api;
  readonly html: (path?: string) => Promise<string>;
  readonly send: (path: string, init: RequestInit) => Promise<Response>;
  /** Opens a page in Chromium, and makes sure in the end that these are all errors that it has reported. */
  readonly visit: (
    path: string,
    look: (visit: Visit) => Promise<void>,
    errors?: readonly RegExp[],
  ) => Promise<void>;
}

const statusesIn = (html: string): string[] =>
  [...html.matchAll(/<p role="status">([^<]*)<\/p>/g)].map(([, status = '']) => status);

const sentTo = (api: Api, path: string): string[] =>
  api.arrivals.filter((one) => one.path === path).map(({ from }) => from);

type Scenario = readonly [name: string, play: (stage: Stage) => Promise<void>];

const everywhere: readonly Scenario[] = [
  [
    'what the server has fetched is in its HTML with idle statuses, and comes to life without a request',
    async ({ api, html, visit }) => {
      api.plan({});
      const text = await html();
      equal(statusesIn(text), ['idle', 'idle', 'idle']);
      equal([text.includes('kite'), text.includes('half a kite')], [true, true]);
      await visit('/', async ({ until }) => {
        await until('products', 'kite lamp succeeded');
        await until('offers', 'half a kite succeeded');
      });
      // Twice: for the text, and for the visit.
      equal(sentTo(api, '/api/products'), ['server', 'server']);
      equal(sentTo(api, '/api/offers'), ['server', 'server']);
    },
  ],
  [
    'a prefetch that fails is sent once by the server, and asked and retried by the browser',
    async ({ api, visit }) => {
      api.plan({ '/api/offers': [{ status: 503 }, { status: 503 }] });
      await visit('/', async ({ until }) => {
        await until('products', 'kite lamp succeeded');
        await until('offers', 'half a kite succeeded');
      });
      equal(sentTo(api, '/api/products'), ['server']);
      equal(sentTo(api, '/api/offers'), ['server', 'browser', 'browser']);
    },
  ],
  [
    'a failed prefetch is idle in the HTML',
    async ({ api, html }) => {
      api.plan({ '/api/offers': [{ status: 503 }] });
      const text = await html();
      equal(statusesIn(text), ['idle', 'idle', 'idle']);
      equal([text.includes('kite'), text.includes('half a kite')], [true, false]);
    },
  ],
  [
    "a 429 for one user delays nobody's page",
    async ({ api, html }) => {
      const limited = { status: 429, headers: { 'retry-after': '30' } };
      api.plan({ '/api/products': [limited, { afterMs: 300 }] });
      const startedAt = performance.now();
      const pages = await Promise.all([html(), html()]);
      // Whoever waits for the Retry-After waits longer.
      equal(performance.now() - startedAt < limitMs, true);
      equal(pages.filter((text) => text.includes('lamp')).length, 1);
      equal((await html()).includes('lamp'), true);
      equal(sentTo(api, '/api/products'), ['server', 'server', 'server']);
    },
  ],
  [
    'a form is sent again after a failure, under the same key, and ordered once',
    async ({ api, visit }) => {
      api.plan({ '/api/orders': [{ status: 503 }] });
      await visit('/', async ({ page, until }) => {
        await until('products', 'kite lamp succeeded');
        await page.getByRole('button', { name: 'Order' }).click();
        await until('order', 'ordered 1');
      });
      const keys = api.arrivals.filter(({ path }) => path === '/api/orders').map(({ key }) => key);
      equal([keys.length, new Set(keys).size, keys[0]?.length], [2, 1, 38]);
      equal(api.orders(), 1);
    },
  ],
];

const inNext: readonly Scenario[] = [
  [
    'a page that is streamed shows what comes, and asks for nothing again',
    async ({ api, html, visit }) => {
      api.plan({ '/api/products': [{ afterMs: 300 }, { afterMs: 300 }] });
      const text = await html('/stream');
      equal([text.includes('Please wait'), text.includes('lamp')], [true, true]);
      equal(statusesIn(text), ['idle']);
      await visit('/stream', ({ until }) => until('products', 'kite lamp succeeded'));
      equal(sentTo(api, '/api/products'), ['server', 'server']);
    },
  ],
  [
    'what fails while it is streamed is retried by the browser',
    async ({ api, visit }) => {
      api.plan({ '/api/products': [{ status: 503, afterMs: 300 }, { status: 503 }] });
      // React reports each boundary that the server could not finish, and renders it in the browser.
      const errors = [/React error #419/];
      await visit('/stream', ({ until }) => until('products', 'kite lamp succeeded'), errors);
      equal(sentTo(api, '/api/products'), ['server', 'browser', 'browser']);
    },
  ],
  [
    'the components are rendered by the server, and come to life in the language of the page',
    async ({ api, html, visit }) => {
      api.plan({ '/api/products': [{ status: 503 }] });
      equal((await html('/components')).includes('>Senden</button>'), true);
      await visit('/components', async ({ page, until }) => {
        await until('components', 'kite lamp');
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        await page.getByRole('button', { name: 'Send another' }).waitFor();
      });
      equal(api.orders(), 1);
    },
  ],
  [
    'a server component uses the components, as a layout would',
    async ({ api, html, visit }) => {
      api.plan({});
      equal((await html('/by-server')).includes('Used by a server component'), true);
      await visit('/by-server', ({ page }) => page.locator('#by-server').waitFor());
    },
  ],
  [
    'a route that is idempotent runs once for two requests of one key',
    async ({ send }) => {
      const order = (): Promise<Response> =>
        send('/receipts', {
          method: 'POST',
          headers: { 'idempotency-key': '"b1a7c3f0-receipt"', 'content-type': 'application/json' },
          body: '{"article":"kite"}',
        });
      const first = await order();
      const second = await order();
      equal([first.status, second.status], [201, 201]);
      equal(await second.json(), await first.json());
    },
  ],
];

const inReactRouter: readonly Scenario[] = [
  [
    'a loader that retries waits for its data',
    async ({ api, html }) => {
      api.plan({ '/api/products': [{ status: 503 }] });
      equal((await html()).includes('lamp'), true);
      equal(sentTo(api, '/api/products'), ['server', 'server']);
    },
  ],
  [
    'a loader does not wait for an API that stays down',
    async ({ api, html }) => {
      const down = Array.from({ length: 100 }, () => ({ status: 503 }));
      api.plan({ '/api/products': down, '/api/offers': down });
      const startedAt = performance.now();
      equal((await html()).includes('lamp'), false);
      // The pause of a minute, which is the default, takes longer.
      equal(performance.now() - startedAt < limitMs, true);
    },
  ],
];

async function visitPage(
  browser: Browser,
  url: string,
  look: (visit: Visit) => Promise<void>,
  expected: readonly RegExp[] = [],
): Promise<void> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      // What the browser says of an answer that is an error is no mistake of the page.
      const isOwn = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isOwn) errors.push(message.text());
    });
    await page.goto(url);
    const shown = async (section: string): Promise<string> => {
      const texts = page.locator(`#${section} li, #${section} p`);
      return (await texts.allTextContents()).join(' ');
    };
    const until = async (section: string, text: string): Promise<void> => {
      const startedAt = performance.now();
      while ((await shown(section)) !== text) {
        if (performance.now() - startedAt > limitMs) equal(await shown(section), text);
        await page.waitForTimeout(50);
      }
    };
    await look({ page, shown, until });
    const isAsExpected = expected.every((one, index) => one.test(errors[index] ?? ''));
    equal([isAsExpected, errors.slice(expected.length)], [true, []]);
  } finally {
    await context.close();
  }
}

async function check(
  framework: Framework,
  own: readonly Scenario[],
  tarball: string,
): Promise<number> {
  const folder = buildExample(framework, tarball, true);
  const api = await startApi();
  const front = `http://127.0.0.1:${api.port}`;
  const app = await startApp(framework, 'start', folder, front);
  api.setApp(app.port);
  const browser = await launchBrowser();
  const stage: Stage = {
    api,
    html: async (path = '/') => (await fetch(front + path)).text(),
    send: (path, init) => fetch(front + path, init),
    visit: (path, look, errors) => visitPage(browser, front + path, look, errors),
  };
  console.log(`\n${framework.name}`);
  let failures = 0;
  try {
    for (const [name, play] of [...everywhere, ...own]) {
      try {
        await play(stage);
        console.log(`  ✓ ${name}`);
      } catch (error) {
        failures++;
        console.log(`  ✗ ${name}\n${String(error)}\n${JSON.stringify(api.arrivals)}`);
      }
    }
  } finally {
    await browser.close();
    app.stop();
    api.close();
  }
  if (failures > 0) console.log(app.output());
  return failures + (await checkInDev(framework, folder));
}

async function checkInDev(framework: Framework, folder: string): Promise<number> {
  const running = await startApp(framework, 'dev', folder);
  const browser = await launchBrowser();
  const name =
    'in development an instance at module level is warned of once, by the server, edits leave the channels that docs/ssr/hot-updates.md says, and a server component shows the devtools';
  try {
    await checkDev(framework, folder, running, browser);
    console.log(`  ✓ ${name}`);
    return 0;
  } catch (error) {
    console.log(`  ✗ ${name}\n${String(error)}\n${running.output()}`);
    return 1;
  } finally {
    await browser.close();
    running.stop();
  }
}

/** `npm run ssr -- next` checks that one only. */
const [only = ''] = process.argv.slice(2);
buildIfStale();
const tarball = packPackage();
let failures = 0;
for (const [framework, own] of [
  [next, inNext],
  [reactRouter, inReactRouter],
] as const)
  if (framework.folder.startsWith(only)) failures += await check(framework, own, tarball);
process.exitCode = failures > 0 ? 1 : 0;
