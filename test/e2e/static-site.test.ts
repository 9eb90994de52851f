import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveFolder } from '../lighthouse/serve.ts';
import { auditPage } from './audit-page.ts';
import { expectReadable } from './expect-readable.ts';
import { launchBrowser } from './launch.ts';

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
  const vite = resolve(root, 'node_modules/vite/bin/vite.js');
  const args = ['--config', 'demo/vite.config.ts', '--outDir', folder, '--emptyOutDir'];
  execFileSync(process.execPath, [vite, 'build', 'demo', ...args, '--manifest'], {
    cwd: root,
    env,
    stdio: 'ignore',
  });
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

test('no page loads more than 230 kB of script, compressed', () => {
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
    'src/core/tabs/tabs.tsx',
  ]);
  expect(pages.filter((page) => kilobytesOf(page) > 230)).toEqual([]);
  expect(kilobytesOf('src/storm/storm-view.tsx')).toBeLessThanOrEqual(90);
});

test('below any path, every link within the docs leads to what is there', async () => {
  const pages = readdirSync(join(folder, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html'))
    .map((file) => `docs/${file}`);
  expect(pages.length).toBeGreaterThan(30);
  const read = async (url: string): Promise<string | undefined> => {
    const response = await fetch(url);
    return response.ok ? response.text() : undefined;
  };
  const broken: string[] = [];
  let count = 0;
  for (const page of pages) {
    const text = (await read(`${site.url}${page}`)) ?? '';
    for (const [, link = ''] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      const { href, hash, origin } = new URL(link.replaceAll('&amp;', '&'), `${site.url}${page}`);
      if (!href.startsWith(site.url)) {
        // Elsewhere; but nothing on this host is beside the site.
        if (link !== 'data:,' && origin === new URL(site.url).origin)
          broken.push(`${page}: ${link}`);
        continue;
      }
      count += 1;
      const target = await read(href);
      const isThere =
        target !== undefined &&
        (hash === '' || target.includes(` id="${decodeURIComponent(hash.slice(1))}"`));
      if (!isThere) broken.push(`${page}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
  expect(count).toBeGreaterThan(300);
});

test('the docs are found from the demo, and the way back', async () => {
  const page = await open();
  await page.getByRole('region', { name: 'Measured' }).getByRole('link', { name: 'Docs' }).click();
  await page
    .getByRole('heading', { level: 1, name: 'How Steadfetch treats an API that fails' })
    .waitFor();
  await page.getByRole('link', { name: 'Retry', exact: true }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Retry' }).waitFor();
  expect(await auditPage(page)).toEqual([]);
  await page.getByRole('link', { name: '日本語' }).click();
  await page.getByText('このページは日本語の入門です').waitFor();
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('ja');
  await expectReadable(page);
  await page.getByRole('link', { name: 'Demo' }).click();
  await page.getByRole('heading', { level: 1, name: /^Your API is down/ }).waitFor();
});

const headingOf = (page: Page): Promise<string | null> =>
  page.getByRole('heading', { level: 1 }).textContent();

test('below any path, the storm is shown and run', async () => {
  const page = await open();
  await page.getByLabel('Tabs', { exact: true }).fill('20');
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
