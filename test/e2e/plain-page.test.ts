import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { launchBrowser } from './launch.ts';

const root = resolve(import.meta.dirname, '../..');
/** What the entries import, as a CDN serves it to such a page: one file for each, built for production. */
const peers = [
  'react',
  'react/jsx-runtime',
  'react-dom',
  '@tanstack/react-query',
  '@opentelemetry/api',
  'msw',
];
/** The server's are for a server. */
const entries = Object.entries(manifest.exports).flatMap(([name, targets]) =>
  typeof targets === 'string' || !/^\.$|^\.\/(?!server|ui\.css)/.test(name)
    ? []
    : [[name, 'import' in targets ? targets.import.default : targets.default] as const],
);

let folder: string;
let server: Server;
let url: string;
let browser: Browser;

/** Exports the names of a CommonJS module, which a browser cannot find out. */
function writePeer(name: string): string {
  const path = join(folder, 'source', `${name.replaceAll('/', '-')}.js`);
  const own = createRequire(import.meta.url)(name) as object;
  const names = Object.keys(own).filter((one) => one !== 'default');
  const code = `import * as peer from '${name}';\nexport const { ${names.join(', ')} } = peer;\n`;
  writeFileSync(path, code);
  return path;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steadfetch-plain-'));
  mkdirSync(join(folder, 'source'));
  const input = Object.fromEntries(
    peers.map((name) => [name.replaceAll('/', '-'), writePeer(name)]),
  );
  await build({
    configFile: false,
    root: folder,
    mode: 'production',
    logLevel: 'error',
    resolve: {
      alias: peers.map((name) => ({
        find: new RegExp(`^${name}$`),
        replacement: join(root, 'node_modules', name),
      })),
    },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir: join(folder, 'peers'),
      minify: false,
      rolldownOptions: {
        input,
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: '[name].js' },
      },
    },
  });
  const imports = {
    ...Object.fromEntries(peers.map((name) => [name, `/peers/${name.replaceAll('/', '-')}.js`])),
    ...Object.fromEntries(
      entries.map(([name, path]) => [`steadfetch${name.slice(1)}`, path.slice(1)]),
    ),
  };
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/') return void response.setHeader('content-type', 'text/html').end(page);
    if (path === '/favicon.ico') return void response.writeHead(204).end();
    const file = path.startsWith('/peers/') ? join(folder, path) : join(root, path);
    response.setHeader('content-type', 'text/javascript');
    readFile(file).then(
      (code) => response.end(code),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As text: the runner would rewrite an `import()`. */
async function runInPage(code: string, before = ''): Promise<{ shown: unknown; said: string[] }> {
  const page = await browser.newPage();
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', ({ message }) => said.push(message));
  await page.addInitScript(before);
  await page.goto(url);
  const shown = await page.evaluate(`(async () => { ${code} })()`);
  await page.close();
  return { shown, said };
}

test.each(entries)('a page without a bundler imports %s', async (name) => {
  const code = `return Object.keys(await import('steadfetch${name.slice(1)}')).length > 0`;
  expect(await runInPage(code)).toEqual({ shown: true, said: [] });
});

test('a page without a bundler fetches, with nothing for developers in its console', async () => {
  const code = `
    const { QueryClient } = await import('@tanstack/react-query');
    const { createSteadfetch } = await import('steadfetch');
    const steady = createSteadfetch();
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const queryFn = async () => (await steady.fetch('/')).status;
    return client.fetchQuery({ queryKey: ['page'], queryFn, unknown: true });`;
  expect(await runInPage(code)).toEqual({ shown: 200, said: [] });
});

test('the process that a page is given is not taken for that of Node', async () => {
  const code = `await import('steadfetch/policy'); return [process.browser, process.versions?.node];`;
  expect((await runInPage(code)).shown).toEqual([true, undefined]);
});

test('a page that has a process keeps its own', async () => {
  const code = `await import('steadfetch/policy'); return process;`;
  const { shown } = await runInPage(code, `globalThis.process = { env: { own: '1' } };`);
  expect(shown).toEqual({ env: { own: '1' } });
});
