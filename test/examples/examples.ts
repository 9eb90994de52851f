// Installs the packed package in a copy of each example, builds and starts it, and drives it in Chromium against
// failures of its API and of the network. Prints a table of what was shown.
import { deepStrictEqual as equal } from 'node:assert';
import type { Browser, BrowserContext, Page } from 'playwright';
import { launchBrowser } from '../e2e/launch.ts';
import buildIfStale from '../setup/dist.ts';
import {
  buildExample,
  type Example,
  next,
  offlineForm,
  packPackage,
  reactRouter,
  startApp,
  viteAxios,
} from './apps.ts';
import { type Arrival, type Fate, type Front, startFront } from './front.ts';

/** Many times what any of these takes. */
const limitMs = 30_000;
const outageMs = 2000;

/** What has become of the requests so far, and becomes of the next. */
interface Network {
  readonly arrivals: readonly Arrival[];
  readonly fateOf: (arrival: Arrival) => Fate;
  /** Forgets all that was. From the next request on the API is down for two seconds. */
  readonly planOutage: () => void;
  /** Forgets all that was. The answers of the next two POSTs are lost: after the first, Chromium may send it again itself. */
  readonly planLostAnswers: () => void;
}

function createNetwork(): Network {
  let arrivals: Arrival[] = [];
  let isOutagePlanned = false;
  let downUntilMs = 0;
  let answersToLose = 0;
  const reset = (): void => {
    arrivals = [];
    isOutagePlanned = false;
    downUntilMs = 0;
    answersToLose = 0;
  };
  return {
    get arrivals() {
      return arrivals;
    },
    fateOf(arrival) {
      const isApi = arrival.path.startsWith('/api/');
      if (isApi || arrival.method === 'POST') arrivals.push(arrival);
      if (isApi && isOutagePlanned) {
        downUntilMs = performance.now() + outageMs;
        isOutagePlanned = false;
      }
      if (isApi && performance.now() < downUntilMs) return 'refused';
      return arrival.method === 'POST' && answersToLose-- > 0 ? 'answer lost' : 'passed';
    },
    planOutage() {
      reset();
      isOutagePlanned = true;
    },
    planLostAnswers() {
      reset();
      answersToLose = 2;
    },
  };
}

interface Stage {
  readonly network: Network;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly open: (path?: string) => Promise<void>;
  readonly html: (path?: string) => Promise<string>;
  /** How many there are of what the API lists. */
  readonly count: (path: string) => Promise<number>;
}

/** Returns what the table says of it. */
type Play = (stage: Stage) => Promise<string>;

interface Scenario {
  readonly name: string;
  readonly play: Play;
  readonly isWithoutJavaScript?: boolean;
}

const secondsSince = (ms: number): string => `${((performance.now() - ms) / 1000).toFixed(1)} s`;
const posts = (network: Network): number =>
  network.arrivals.filter(({ method }) => method === 'POST').length;

const outage = (path: string, shown: string): Scenario => ({
  name: `the API is down for the first two seconds of a visit of ${path}`,
  async play({ network, page, open }) {
    network.planOutage();
    const startedAt = performance.now();
    await open(path);
    await page.getByText(shown, { exact: true }).waitFor();
    const requests = network.arrivals.filter((one) => one.path === network.arrivals[0]?.path);
    equal(requests.length > 1, true);
    return `shown by itself after ${secondsSince(startedAt)}, with ${requests.length} requests`;
  },
});

/** A form of which the first two answers are lost, pressed until the page says how it ended. */
const lostAnswers = (
  path: string,
  list: string,
  press: (page: Page) => Promise<void>,
  options: Partial<Scenario> = {},
): Scenario => ({
  name: `the form at ${path} is sent, and its first two answers are lost`,
  async play({ network, page, open, count }) {
    await open(path);
    await page.waitForLoadState('networkidle');
    const before = await count(list);
    network.planLostAnswers();
    await press(page);
    const sent = network.arrivals.filter(({ method }) => method === 'POST');
    equal([sent.length, (await count(list)) - before], [3, 1]);
    // In a header, or in the body of a form.
    const keys = sent.map(
      ({ key, body }) =>
        key ??
        /name="(?:_\d+_)?idempotency-key"\s+([\w-]+)|idempotency-key=([\w-]+)/
          .exec(body)
          ?.slice(1)
          .join(''),
    );
    equal([new Set(keys).size, keys.includes(undefined)], [1, false]);
    return 'sent three times under one key, done once, and told as done';
  },
  ...options,
});

const order = async (page: Page): Promise<void> => {
  await page.getByLabel('Article').fill('kite');
  await page.getByRole('button', { name: 'Order' }).click();
};
const told = (page: Page, text: RegExp): Promise<void> => page.getByText(text).waitFor();
const ordered = /^(?:Already o|O)rdered\. Your number/;

/** The order of the page that has the products: a button, and a status. */
const orderKite = async (page: Page): Promise<void> => {
  await page.locator('#order button').click();
  await told(page, /^ordered \d+$/);
};

/** React Router lets an action be called once: the page says that the order may be placed, and the user presses again. */
const orderUntilTold = async (page: Page): Promise<void> => {
  await page.getByLabel('Article').fill('kite');
  for (let presses = 1; presses <= 3; presses++) {
    await page.getByRole('button', { name: 'Order' }).click();
    await page.locator('[aria-disabled=false]').waitFor();
    await told(page, /ordered\./);
    if (await page.getByText(ordered).isVisible()) return;
  }
};

/** The browser shows its own error, and a reload sends the form again. */
const reloadUntilTold = async (page: Page): Promise<void> => {
  await order(page).catch(() => {});
  for (let reloads = 0; reloads < 4; reloads++) {
    await page.waitForLoadState().catch(() => {});
    if (await page.getByText(ordered).isVisible()) return;
    await page.reload().catch(() => {});
  }
};

const withoutJavaScript: readonly Scenario[] = [
  {
    name: 'the page is opened without JavaScript',
    isWithoutJavaScript: true,
    async play({ page, open }) {
      await open();
      await told(page, /^lamp$/);
      return 'what the server has fetched';
    },
  },
  lostAnswers('/checkout', '/api/orders', reloadUntilTold, {
    name: 'the form at /checkout is sent without JavaScript, and its first two answers are lost',
    isWithoutJavaScript: true,
  }),
];

const offline: Scenario = {
  name: 'a form is sent without a network, and the page is reloaded',
  async play({ network, context, page, open, count }) {
    await open();
    await page.evaluate('navigator.serviceWorker.ready');
    await page.reload();
    await page.waitForLoadState('networkidle');
    await context.setOffline(true);
    await page.getByLabel('What is broken?').fill('a lamp');
    await page.getByRole('button', { name: 'Report' }).click();
    await told(page, /^Saved\./);
    await page.reload();
    await page.getByText('a lamp').first().waitFor();
    equal([posts(network), await count('/api/reports')], [0, 0]);
    const startedAt = performance.now();
    await context.setOffline(false);
    await page.locator('section', { hasText: 'Delivered' }).getByText('a lamp').waitFor();
    equal([posts(network), await count('/api/reports')], [1, 1]);
    return `the page opens, the report waits in it, and is delivered ${secondsSince(startedAt)} after the network is back, once`;
  },
};

const examples: readonly (readonly [Example, readonly Scenario[]])[] = [
  [
    viteAxios,
    [
      outage('/', 'lamp'),
      lostAnswers('/', '/api/orders', async (page) => {
        await order(page);
        await told(page, ordered);
      }),
    ],
  ],
  [
    next,
    [
      outage('/', 'lamp'),
      outage('/stream', 'lamp'),
      lostAnswers('/', '/api/orders', orderKite),
      lostAnswers('/checkout', '/api/orders', async (page) => {
        await order(page);
        await told(page, ordered);
      }),
      ...withoutJavaScript,
    ],
  ],
  [
    reactRouter,
    [
      outage('/', 'lamp'),
      lostAnswers('/', '/api/orders', orderKite),
      lostAnswers('/checkout', '/api/orders', orderUntilTold),
      ...withoutJavaScript,
    ],
  ],
  [
    offlineForm,
    [
      offline,
      outage('/', 'a lamp'),
      lostAnswers('/', '/api/reports', async (page) => {
        await page.getByLabel('What is broken?').fill('a rope');
        await page.getByRole('button', { name: 'Report' }).click();
        await told(page, /^Delivered\.$/);
      }),
    ],
  ],
];

/** What the page reports of itself. What the browser says of a failed request is no mistake of the page. */
function watch(page: Page): string[] {
  const reports: string[] = [];
  const report = (text: string): void => {
    // React reports each boundary that a server could not finish, and renders it in the browser.
    if (!/^Failed to load resource|React error #419/.test(text)) reports.push(text);
  };
  page.on('pageerror', (error) => report(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) report(message.text());
  });
  return reports;
}

async function playIn(
  browser: Browser,
  front: Front,
  network: Network,
  { play, isWithoutJavaScript = false }: Scenario,
): Promise<string> {
  const context = await browser.newContext({ javaScriptEnabled: !isWithoutJavaScript });
  context.setDefaultTimeout(limitMs);
  try {
    const page = await context.newPage();
    const reports = watch(page);
    const html = async (path = '/'): Promise<string> => (await fetch(front.origin + path)).text();
    const result = await play({
      network,
      context,
      page,
      html,
      open: async (path = '/') => void (await page.goto(front.origin + path)),
      count: async (path) => (JSON.parse(await html(path)) as unknown[]).length,
    });
    equal(reports, []);
    return result;
  } finally {
    await context.close();
  }
}

/** A row of the table for each scenario. */
async function drive(
  example: Example,
  scenarios: readonly Scenario[],
  tarball: string,
): Promise<readonly (readonly string[])[]> {
  const folder = buildExample(example, tarball);
  const network = createNetwork();
  const front = await startFront(network.fateOf);
  const app = await startApp(example, 'start', folder, front.origin);
  front.setApp(app.port);
  const browser = await launchBrowser();
  const rows: (readonly string[])[] = [];
  try {
    for (const scenario of scenarios) {
      const shown = await playIn(browser, front, network, scenario).catch((error: unknown) => {
        process.exitCode = 1;
        console.log(String(error), JSON.stringify(network.arrivals), app.output());
        return 'FAILED';
      });
      rows.push([example.name, scenario.name, shown]);
    }
  } finally {
    await browser.close();
    front.close();
    app.stop();
  }
  return rows;
}

/** `npm run examples -- next` drives that one only. */
const [only = ''] = process.argv.slice(2);
buildIfStale();
const tarball = packPackage();
const rows = [['example', 'what happens', 'what is shown']];
for (const [example, scenarios] of examples)
  if (example.folder.startsWith(only))
    rows.push(...((await drive(example, scenarios, tarball)) as string[][]));
for (const row of rows) console.log(`| ${row.join(' | ')} |`);
