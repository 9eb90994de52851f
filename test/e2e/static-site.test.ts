import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namedPages } from '../docs/named-pages.ts';
import { serveFolder } from '../lighthouse/serve.ts';
import { auditPage } from './audit-page.ts';
import { expectReadable } from './expect-readable.ts';
import { launchBrowser } from './launch.ts';
import { typeOver } from './type-over.ts';

/** What Vite says of the files that it made. */
interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'steadfetch-site-'));
let site: { readonly url: string; readonly server: Server };
let browser: Browser;

beforeAll(async () => {
  const { NODE_ENV: _, ...env } = process.env;
  const bin = (name: string): string => resolve(root, `node_modules/${name}/bin/${name}.js`);
  const build = (...args: string[]): Promise<unknown> =>
    promisify(execFile)(process.execPath, args, { cwd: root, env });
  await Promise.all([
    build(
      bin('vite'),
      'build',
      'demo',
      '--config',
      'demo/vite.config.ts',
      '--outDir',
      folder,
      '--manifest',
    ),
    build(bin('vitepress'), 'build', 'docs', '--outDir', join(folder, 'docs')),
  ]);
  site = await serveFolder(folder, '/some/where/');
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  site.server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(before: () => void = () => {}): Promise<Page> {
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  await page.addInitScript(before);
  await page.goto(site.url);
  return page;
}

test('no page loads more than 235 kB of script, compressed', () => {
  const manifest: Readonly<Record<string, Chunk>> = JSON.parse(
    readFileSync(join(folder, '.vite/manifest.json'), 'utf8'),
  );
  const kilobytesOf = (page: string): number => {
    const files = new Set<string>();
    const load = (name: string): void => {
      const { file, imports = [], dynamicImports = [], isEntry = false } = manifest[name] as Chunk;
      if (files.has(file)) return;
      files.add(file);
      imports.forEach(load);
      // The entry loads the page that is asked for, and a page all that it needs.
      if (!isEntry) dynamicImports.forEach(load);
    };
    load('index.html');
    load(page);
    const bytes = [...files].map((file) => gzipSync(readFileSync(join(folder, file))).length);
    return bytes.reduce((sum, length) => sum + length, 0) / 1000;
  };
  const { dynamicImports: pages = [] } = manifest['index.html'] as Chunk;
  expect(pages.toSorted()).toEqual([
    'src/order/order.tsx',
    'src/read/read.tsx',
    'src/send/send.tsx',
    'src/storm/storm-view.tsx',
    'src/tabs/tabs.tsx',
  ]);
  expect(pages.filter((page) => kilobytesOf(page) > 235)).toEqual([]);
  expect(kilobytesOf('src/storm/storm-view.tsx')).toBeLessThanOrEqual(90);
});

/** The text of a file of the site; undefined: it is not there. Pages of the docs have many links to the same. */
const files = new Map<string, Promise<string | undefined>>();
function read(url: string): Promise<string | undefined> {
  const found = files.get(url) ?? fetch(url).then((it) => (it.ok ? it.text() : undefined));
  files.set(url, found);
  return found;
}

async function isThere({ origin, pathname, hash }: URL): Promise<boolean> {
  const text = await read(`${origin}${pathname}`);
  return hash === '' || text === undefined
    ? text !== undefined
    : text.includes(` id="${decodeURIComponent(hash.slice(1))}"`);
}

test('below any path, every link within the docs leads to what is there', async () => {
  const pages = readdirSync(join(folder, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html'))
    .map((file) => `docs/${file}`);
  expect(pages.length).toBeGreaterThan(60);
  const broken: string[] = [];
  let count = 0;
  for (const page of pages) {
    const text = (await read(`${site.url}${page}`)) ?? '';
    for (const [, link = ''] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      const target = new URL(link.replaceAll('&amp;', '&'), `${site.url}${page}`);
      // Elsewhere; but nothing on this host is beside the site.
      if (target.origin !== new URL(site.url).origin) continue;
      count += 1;
      if (!target.href.startsWith(site.url) || !(await isThere(target)))
        broken.push(`${page}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
  expect(count).toBeGreaterThan(2000);
});

test('every page of the docs that a message names is on the site, with its heading', async () => {
  const links = namedPages();
  expect(links.length).toBeGreaterThan(20);
  const toSite = (link: string): URL => new URL(`docs/${link.replace('.md', '.html')}`, site.url);
  const found = await Promise.all(links.map((link) => isThere(toSite(link))));
  expect(links.filter((_, index) => !found[index])).toEqual([]);
});

/** A page of the docs, and all that it asks of other hosts. */
async function openDocs(
  path: string,
  options: BrowserContextOptions = {},
): Promise<{ readonly page: Page; readonly elsewhere: string[] }> {
  const page = await browser.newPage({ reducedMotion: 'reduce', ...options });
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    const isHere = ['data:', site.url].some((start) => request.url().startsWith(start));
    if (!isHere) elsewhere.push(request.url());
  });
  page.on('pageerror', (error) => elsewhere.push(error.message));
  await page.goto(`${site.url}docs/${path}`);
  // Before that it listens to no key.
  await page.waitForFunction(() => '__vue_app__' in (document.querySelector('#app') ?? {}));
  return { page, elsewhere };
}

const titleOf = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor();

test('the docs are found from the demo, and the way back', async () => {
  const page = await open();
  await page.getByRole('region', { name: 'Measured' }).getByRole('link', { name: 'Docs' }).click();
  await titleOf(page, 'How Steadfetch treats an API that fails');
  await page.getByRole('table').getByRole('link', { name: 'Storms', exact: true }).click();
  await titleOf(page, 'Storms');
  // In another folder: what stays on the screen leads where it has led.
  await page.locator('.VPSidebar').getByRole('link', { name: 'Retry', exact: true }).click();
  await titleOf(page, 'Retry');
  await page.getByRole('button', { name: 'Change language' }).hover();
  await page.getByRole('link', { name: '日本語' }).click();
  await page.getByText('このページは日本語の入門です').waitFor();
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('ja');
  await page.getByRole('link', { name: 'デモ', exact: true }).first().click();
  await page.getByRole('heading', { level: 1, name: /^Your API is down/ }).waitFor();
});

test.each(['index.html', 'retry.html', 'reference/axios.html', 'ja/'])(
  'docs/%s can be read on every screen, light and dark, and axe finds nothing',
  async (path) => {
    const { page, elsewhere } = await openDocs(path);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await auditPage(page), colorScheme).toEqual([]);
    }
    await expectReadable(page);
    expect(elsewhere).toEqual([]);
  },
);

test.each([
  ['retry.html', 'concurrency limit', 'Concurrency limit'],
  ['retry.html', 'useSafeSubmit', 'steadfetch/react'],
  ['ja/', '再試行', 'Steadfetch'],
  ['ja/', 'conditional writes', 'Conditional writes'],
])(
  'by keyboard, on docs/%s the search for "%s" finds "%s", and asks no other host',
  async (path, words, title) => {
    const { page, elsewhere } = await openDocs(path);
    await page.keyboard.press('Control+k');
    await page.locator('.VPLocalSearchBox input:focus').waitFor();
    await page.keyboard.type(words);
    await page.locator('.results a').first().waitFor();
    // The roles of VitePress' list of results; nothing of ours, and no colour.
    const known = /^(?:nested-interactive|label-content-name-mismatch): /;
    expect((await auditPage(page)).filter((found) => !known.test(found))).toEqual([]);
    await page.keyboard.press('Enter');
    await titleOf(page, title);
    await page.locator('.VPLocalSearchBox').waitFor({ state: 'detached' });
    expect(elsewhere).toEqual([]);
  },
);

test('by keyboard, the first link skips the navigation, and a switch makes the docs dark', async () => {
  const { page } = await openDocs('retry.html');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => location.hash)).toBe('#VPContent');
  await page.getByRole('switch', { name: 'Switch to dark theme' }).first().press('Enter');
  expect(await page.locator('html.dark').count()).toBe(1);
  await page.reload();
  expect(await page.locator('html.dark').count()).toBe(1);
});

const headingOf = (page: Page): Promise<string | null> =>
  page.getByRole('heading', { level: 1 }).textContent();

test('below any path, the storm is shown and run', async () => {
  const page = await open();
  await typeOver(page.getByLabel('Tabs', { exact: true }), '20');
  await page.getByRole('button', { name: 'Run this storm' }).click();
  const user = page.getByRole('region', { name: 'One user: Steadfetch' });
  expect(await user.getByRole('listitem').count()).toBe(0);
  await user.waitFor();
  expect(await user.getByRole('listitem').count()).toBe(6);
});

// As private windows and strict settings have it.
test.each([
  [
    'no service worker',
    (): void => {
      Reflect.deleteProperty(Navigator.prototype, 'serviceWorker');
    },
    /^Read it/,
  ],
  [
    'no storage',
    (): void => {
      Object.defineProperty(window, 'localStorage', {
        get(): never {
          throw new DOMException('Denied.', 'SecurityError');
        },
      });
    },
    /^This page could not start$/,
  ],
] as const)(
  'where there is %s, the storm is shown, and an act works or says that it cannot',
  async (_, deny, act) => {
    const page = await open(deny);
    expect(await headingOf(page)).toMatch(/^Your API is down/);
    await page.getByRole('link', { name: 'Read it' }).click();
    await page.getByRole('heading', { level: 1, name: act }).waitFor();
    expect(await headingOf(page)).toMatch(act);
  },
);
