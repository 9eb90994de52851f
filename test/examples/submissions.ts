// Builds the examples of two frameworks for production, with pages for it, submits their forms through a lossy network in Chromium, and counts
// what was ordered twice, lost, or told wrong: with an idempotentAction, and with the frameworks' own.
import type { Browser, BrowserContext, Page } from 'playwright';
import { randomStream } from '../../sim/engine/random-stream.ts';
import type { Random } from '../../src/core/lib/clock.ts';
import { launchBrowser } from '../e2e/launch.ts';
import buildIfStale from '../setup/dist.ts';
import { buildExample, type Framework, next, packPackage, reactRouter, startApp } from './apps.ts';
import { type Arrival, type Fate, startFront } from './front.ts';

/** What a user does at the first press. */
const ways = [
  'one click',
  'double click',
  'double click at once',
  'reload',
  'unload',
  'back',
] as const;
type Way = (typeof ways)[number];
/**
 * Without JavaScript a user who leaves a form while it is being sent, and opens it anew, has a new form: nothing tells
 * that it is meant to be the same one.
 */
const waysWithoutJs: readonly Way[] = ['one click', 'double click', 'double click at once', 'back'];

/** A user presses so often until it is said to be ordered. */
const mostPresses = 10;
const patienceMs = 6000;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What the page says; `error` for one that the browser or the framework shows instead of it. */
async function toldBy(page: Page): Promise<string> {
  try {
    return await page.evaluate(() => {
      const told = document.querySelector('#told')?.textContent;
      return told ?? (document.readyState === 'complete' ? 'error' : 'loading');
    });
  } catch {
    return 'loading';
  }
}

const isEnd = (told: string): boolean => !/^(?:idle|sending|loading)/.test(told);

/** Waits until a press has an answer. `before`: what the page said until then. */
async function untilTold(page: Page, before: string): Promise<string> {
  let hasMoved = !isEnd(before);
  const startedAt = performance.now();
  for (;;) {
    const told = await toldBy(page);
    hasMoved ||= told !== before;
    const isPatient = performance.now() - startedAt < patienceMs;
    if ((isEnd(told) && hasMoved) || !isPatient) return told;
    await wait(15);
  }
}

interface User {
  readonly page: Page;
  readonly url: string;
  readonly order: string;
  readonly way: Way;
  readonly isRedirected: boolean;
  readonly random: Random;
  /** Whether a page came back from the back-forward cache. */
  persisted: number;
}

async function fill({ page, order, isRedirected }: User): Promise<void> {
  await page.fill('[name=article]', order, { timeout: patienceMs });
  await page.fill('[name=then]', isRedirected ? 'redirect' : '', { timeout: patienceMs });
}

const click = (page: Page): Promise<void> => page.click('button', { noWaitAfter: true });

/** What the page says as soon as it says anything. */
async function afterLoad(page: Page): Promise<string> {
  const startedAt = performance.now();
  let told = await toldBy(page);
  while (told === 'loading' && performance.now() - startedAt < patienceMs) {
    await wait(15);
    told = await toldBy(page);
  }
  return told;
}

async function goBack(user: User): Promise<string> {
  const { page } = user;
  await page.goBack({ waitUntil: 'commit' }).catch(() => {});
  const told = await afterLoad(page);
  const isPersisted = await page.evaluate('globalThis.isPersisted === true').catch(() => false);
  if (isPersisted) user.persisted++;
  return told;
}

/** The first press, and what comes of it. */
async function pressFirst(user: User): Promise<string> {
  const { page, way, random, url } = user;
  await fill(user);
  const before = await toldBy(page);
  if (way.startsWith('double')) {
    await page.dblclick('button', { noWaitAfter: true });
    return untilTold(page, before);
  }
  await click(page);
  if (way !== 'reload' && way !== 'unload') return untilTold(page, before);
  await wait(random() * 60);
  if (way === 'reload') await page.reload({ waitUntil: 'commit' }).catch(() => {});
  else {
    await page.goto(new URL('/thanks', url).href, { waitUntil: 'commit' }).catch(() => {});
    return goBack(user);
  }
  return afterLoad(page);
}

/**
 * Presses until the page says that it is ordered.
 *
 * @returns what was said last.
 */
async function submit(user: User): Promise<string> {
  const { page, url, way, order } = user;
  await page.goto(url, { waitUntil: way === 'double click at once' ? 'commit' : 'load' });
  let told = await pressFirst(user);
  for (let press = 2; press <= mostPresses && !told.startsWith('succeeded order'); press++) {
    // An error page: a user reloads it, which sends a form again that was sent without JavaScript.
    if (told === 'error' || told === 'loading') {
      await page.reload({ waitUntil: 'commit' }).catch(() => {});
      told = await afterLoad(page);
      if (told.startsWith('succeeded order')) break;
      if (told === 'error') await page.goto(url, { waitUntil: 'load' }).catch(() => {});
    }
    // Another page, to which it was gone back in vain.
    const forms = await page
      .locator('form')
      .count()
      .catch(() => 0);
    if (forms === 0) await page.goto(url, { waitUntil: 'load' }).catch(() => {});
    try {
      const before = await toldBy(page);
      await fill(user);
      await click(page);
      told = await untilTold(page, before);
    } catch {
      // The page went on by itself meanwhile, as to where a redirect leads.
      told = await afterLoad(page);
    }
  }
  if (way !== 'back' || told !== `succeeded ${order}`) return told;
  // It is done, and the user goes back to the form, and presses once more.
  if ((await page.locator('form').count()) > 0)
    await page.goto(new URL('/thanks', url).href, { waitUntil: 'commit' }).catch(() => {});
  const seen = await goBack(user);
  if (seen.startsWith('succeeded') || (await page.locator('form').count()) === 0) return told;
  if ((await page.inputValue('[name=article]')) !== order) return told;
  await click(page);
  return untilTold(page, seen);
}

interface Result {
  readonly order: string;
  readonly told: string;
}

/** So many orders by so many users at once, each in a tab of their own. */
async function play(
  browser: Browser,
  url: string,
  { count, users, hasJs, seed }: Plan,
): Promise<{ results: Result[]; persisted: number }> {
  const results: Result[] = [];
  let persisted = 0;
  let started = 0;
  const submitAll = async (context: BrowserContext, worker: number): Promise<void> => {
    const page = await context.newPage();
    const random = randomStream(seed, `user ${worker}`);
    while (started < count) {
      const order = `order-${++started}`;
      const from = hasJs ? ways : waysWithoutJs;
      const way = from[Math.floor(random() * from.length)] ?? 'one click';
      const user: User = {
        page,
        url,
        order,
        way,
        isRedirected: random() < 0.5,
        random,
        persisted: 0,
      };
      const told = await submit(user).catch((error: unknown) => `the rig: ${String(error)}`);
      results.push({ order: `${order} ${way} ${user.isRedirected ? 'redirect' : 'state'}`, told });
      persisted += user.persisted;
    }
  };
  const work = async (worker: number): Promise<void> => {
    const context = await browser.newContext({ javaScriptEnabled: hasJs });
    await context.addInitScript(() => {
      addEventListener('pageshow', ({ persisted: isPersisted }) => {
        Object.assign(globalThis, { isPersisted });
      });
    });
    await submitAll(context, worker);
    await context.close();
  };
  await Promise.all(Array.from({ length: users }, (_, worker) => work(worker)));
  return { results, persisted };
}

interface Plan {
  readonly count: number;
  readonly users: number;
  readonly hasJs: boolean;
  readonly seed: number;
}

interface Verdict {
  readonly orders: number;
  readonly twice: number;
  readonly lost: number;
  readonly toldWrong: number;
}

/** A network that loses the first POST of an order more often than its second, and a later one never. */
function createNetwork(random: Random) {
  const posts = new Map<string, number>();
  const fates = { passed: 0, refused: 0, 'answer lost': 0, 'request lost': 0, 'answer late': 0 };
  const draw = (post: number): Fate => {
    const chance = random();
    if (post > 2) return 'passed';
    const [lost, unsent, late] = post === 1 ? [0.25, 0.4, 0.5] : [0.15, 0.2, 0.25];
    if (chance < lost) return 'answer lost';
    if (chance < unsent) return 'request lost';
    return chance < late ? 'answer late' : 'passed';
  };
  const fateOf = ({ method, body }: Arrival): Fate => {
    if (method !== 'POST') return 'passed';
    const [order = ''] = /order-\d+/.exec(body) ?? [];
    const post = (posts.get(order) ?? 0) + 1;
    posts.set(order, post);
    const fate = draw(post);
    fates[fate]++;
    return fate;
  };
  return { fates, fateOf };
}

/** Compares what users were told with what was ordered. */
function judge(results: readonly Result[], ledger: readonly string[]): [Verdict, string[]] {
  const counts = new Map<string, number>();
  for (const order of ledger) counts.set(order, (counts.get(order) ?? 0) + 1);
  const faults: string[] = [];
  let [twice, lost, toldWrong] = [0, 0, 0];
  for (const { order, told } of results) {
    const [name = ''] = order.split(' ');
    const count = counts.get(name) ?? 0;
    const isToldDone = told === `succeeded ${name}`;
    if (count > 1) twice++;
    if (count === 0) lost++;
    if (isToldDone !== count > 0) toldWrong++;
    if (count !== 1 || !isToldDone) faults.push(`${order}: ordered ${count} times, told ${told}`);
  }
  return [{ orders: results.length, twice, lost, toldWrong }, faults];
}

async function run(
  framework: Framework,
  folder: string,
  path: string,
  plan: Plan,
): Promise<Verdict> {
  const app = await startApp(framework, 'start', folder);
  const network = createNetwork(randomStream(plan.seed, 'front'));
  const front = await startFront(network.fateOf);
  front.setApp(app.port);
  const browser = await launchBrowser({ hasBackForwardCache: true });
  const startedAt = performance.now();
  try {
    const { results, persisted } = await play(browser, front.origin + path, plan);
    const ledger = (await (await fetch(`http://127.0.0.1:${app.port}/ledger`)).json()) as string[];
    const [verdict, faults] = judge(results, ledger);
    const { orders, twice, lost, toldWrong } = verdict;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    const js = plan.hasJs ? 'with' : 'without';
    console.log(
      `  ${path} ${js} JavaScript: ${orders} submissions, ${twice} twice, ${lost} lost, ${toldWrong} told wrong (${seconds} s; ` +
        `${JSON.stringify(network.fates)}, ${persisted} pages from the back-forward cache)`,
    );
    for (const fault of faults.slice(0, 8)) console.log(`    ${fault}`);
    return verdict;
  } finally {
    await browser.close();
    front.close();
    app.stop();
  }
}

/** `npm run submissions -- 10000 next /order`: so many with JavaScript, in one framework, of one page. */
const [countText = '300', only = '', onlyPath = ''] = process.argv.slice(2);
const count = Number(countText);
const withoutJs = Math.min(count, 200);
buildIfStale();
const tarball = packPackage();
let faults = 0;
for (const framework of [next, reactRouter]) {
  if (!framework.folder.startsWith(only)) continue;
  const folder = buildExample(framework, tarball, true);
  console.log(`\n${framework.name}`);
  for (const path of ['/order', '/plain-order']) {
    if (onlyPath !== '' && path !== onlyPath) continue;
    for (const hasJs of [true, false]) {
      const plan = { count: hasJs ? count : withoutJs, users: 4, hasJs, seed: 1 };
      const { twice, lost, toldWrong } = await run(framework, folder, path, plan);
      if (path === '/order') faults += twice + lost + toldWrong;
    }
  }
}
process.exitCode = faults > 0 ? 1 : 0;
