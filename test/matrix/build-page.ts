import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Browser } from 'playwright';
import { launchBrowser } from '../e2e/launch.ts';
import { install, unpack } from './app.ts';
import { type Bundler, bundlers, type Mode, modes, pagePackages } from './bundlers.ts';

const ownPage = '<!doctype html><title>App</title><div id="root"></div>';
/** Bundlers that make the page read this one; for the others it names what they have made. */
const source = `${ownPage}<script type="module" src="./main.js"></script>`;
const made = `${source}<link rel="stylesheet" href="./main.css">`;
/** Neither `eval` nor scripts or styles within the page. */
const csp =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "require-trusted-types-for 'script'";
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** Builds the app. Returns what the bundler says, if it says more than that it has done so. */
function build(folder: string, { command, files, makesPage }: Bundler, mode: Mode): string {
  rmSync(join(folder, 'out'), { recursive: true, force: true });
  for (const [name, text] of Object.entries(files ?? {})) writeFileSync(join(folder, name), text);
  copyFileSync(join(import.meta.dirname, 'page/main.js'), join(folder, 'main.js'));
  writeFileSync(join(folder, 'index.html'), source);
  const [tool = '', ...args] = command(mode);
  const path = join(folder, 'node_modules', tool);
  const isScript = /^#!.*node|^(?:import|'use strict'|"use strict"|\/)/.test(
    readFileSync(path).toString('latin1', 0, 40),
  );
  const run = isScript ? [process.execPath, path, ...args] : [path, ...args];
  const { status, stdout, stderr } = spawnSync(run[0] ?? '', run.slice(1), {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: mode, NO_COLOR: '1', CI: '1' },
  });
  if (!makesPage && status === 0) writeFileSync(join(folder, 'out/index.html'), made);
  const said = `${stdout}${stderr}`;
  if (status !== 0) return said;
  const warnings = said.split('\n').filter((line) => /\(!\)|\bwarn(?:ing)?\b/i.test(line));
  return warnings.filter((line) => !usual.test(line)).join('\n');
}

/** React Query has the same directives, which are for server components; and all entries together are large. */
const usual = /module.level.directive|chunks are larger|chunkSizeWarningLimit/i;

/** Serves a folder. Of `/api/lamp` each second request is answered. */
async function serve(
  folder: string,
): Promise<{ server: Server; url: string; asked: () => number }> {
  let asked = 0;
  const server = createServer(({ url = '/' }, response) => {
    const path = url === '/' ? '/index.html' : new URL(url, 'http://page/').pathname;
    if (path === '/api/lamp') {
      response.writeHead(++asked % 2 ? 503 : 200, { 'content-type': 'application/json' });
      return void response.end('{ "name": "Lamp" }');
    }
    const file = join(folder, path);
    if (!existsSync(file))
      return void response.writeHead(path === '/favicon.ico' ? 204 : 404).end();
    response.setHeader('content-security-policy', csp);
    response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
    response.end(readFileSync(file));
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}/`, asked: () => asked };
}

interface Shown {
  readonly lamp: string;
  readonly requests: number;
  readonly wrap: string;
  readonly words: string;
  readonly empty: number;
  readonly console: readonly string[];
}

async function open(browser: Browser, folder: string): Promise<Shown> {
  const { server, url, asked } = await serve(folder);
  const page = await browser.newPage();
  const said: string[] = [];
  page.on('console', (message) => {
    // The browser itself tells of the 503.
    if (/error|warning/.test(message.type()) && !message.text().includes('503'))
      said.push(message.text());
  });
  page.on('pageerror', ({ message }) => said.push(message));
  await page.goto(url);
  await page
    .getByText('Lamp, succeeded')
    .waitFor({ timeout: 20_000 })
    .catch(() => {});
  const seen = await page.evaluate(() => {
    const { built = {} } = globalThis as { built?: { empty?: number; wordsOnMistake?: string } };
    const styled = document.querySelector('#styled');
    return {
      lamp: document.querySelector('#lamp')?.textContent ?? 'nothing',
      wrap: styled ? getComputedStyle(styled).overflowWrap : 'nothing',
      words: built.wordsOnMistake ?? 'nothing',
      empty: built.empty ?? -1,
    };
  });
  await page.close();
  server.closeAllConnections();
  server.close();
  return { ...seen, requests: asked(), console: said };
}

/** What is wrong with what a page shows. */
function faultsOf(shown: Shown, mode: Mode, code: string): string[] {
  const faults: string[] = [];
  if (shown.lamp !== 'Lamp, succeeded' || shown.requests !== 2)
    faults.push(`shows ${shown.lamp} after ${shown.requests} requests`);
  if (shown.wrap !== 'anywhere') faults.push('has no styles');
  if (shown.empty !== 0) faults.push(`has ${shown.empty} empty entries`);
  if (mode === 'production' ? shown.words !== 'none' : !/maxRetries/.test(shown.words))
    faults.push(`says "${shown.words}" of a mistake`);
  if (shown.console.length > 0) faults.push(`says ${shown.console.join('; ')}`);
  if (mode === 'production' && /node_modules\/steadfetch\/docs/.test(code))
    faults.push('contains texts for developers');
  return faults;
}

const scriptsOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js'))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('\n');

/** The packed package in an app of each bundler, which is built in both modes, and opened in Chromium. */
export async function runBundlers(tarball: string, only: string): Promise<string[][]> {
  const browser = await launchBrowser();
  const table = [['', ...modes]];
  for (const bundler of bundlers.filter(({ name }) => name.startsWith(only))) {
    const name = `bundler-${bundler.name.toLowerCase().replace(' ', '-')}`;
    const folder = install(name, { ...pagePackages, ...bundler.packages });
    unpack(tarball, folder);
    const row = [bundler.name];
    for (const mode of modes) {
      const said = build(folder, bundler, mode);
      const out = join(folder, 'out');
      const faults = existsSync(join(out, 'index.html'))
        ? faultsOf(await open(browser, out), mode, scriptsOf(out))
        : ['builds nothing'];
      if (said !== '') faults.push(`the bundler says ${said}`);
      if (faults.length > 0) console.log(`${bundler.name}, ${mode}: ${faults.join('\n  ')}`);
      row.push(faults.length > 0 ? 'FAILS' : 'runs');
    }
    table.push(row);
    console.log(row.join(' | '));
  }
  await browser.close();
  return table;
}
