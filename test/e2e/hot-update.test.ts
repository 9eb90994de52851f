import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright';
import { createServer as createVite } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import webpack from 'webpack';
import { launchBrowser } from './launch.ts';

const root = resolve(import.meta.dirname, '../..');

/** What is open in the page: lines to other tabs, by name, and listeners, by event. */
interface Held {
  readonly channels: readonly string[];
  readonly listeners: readonly string[];
}

declare global {
  interface Window {
    held: () => Held;
    versions: number;
    /** Takes what webpack has compiled since. */
    update?: () => Promise<unknown>;
  }
}

/** Counts what the page holds, before anything in it runs. */
function watchHeld(): void {
  const channels: string[] = [];
  const listeners: string[] = [];
  const remove = (list: string[], one: string): void => {
    if (list.includes(one)) list.splice(list.indexOf(one), 1);
  };
  const Native = BroadcastChannel;
  globalThis.BroadcastChannel = class extends Native {
    constructor(name: string) {
      super(name);
      channels.push(name);
    }
    override close(): void {
      remove(channels, this.name);
      super.close();
    }
  };
  for (const target of [window, document]) {
    const add = target.addEventListener.bind(target);
    const take = target.removeEventListener.bind(target);
    Object.assign(target, {
      addEventListener(type: string, listener: EventListener, options?: AddEventListenerOptions) {
        listeners.push(type);
        options?.signal?.addEventListener('abort', () => remove(listeners, type));
        add(type, listener, options);
      },
      removeEventListener(type: string, listener: EventListener, options?: EventListenerOptions) {
        remove(listeners, type);
        take(type, listener, options);
      },
    });
  }
  window.held = () => ({ channels: channels.toSorted(), listeners: listeners.toSorted() });
  window.versions = 0;
}

const instance = (name: string): string => `
  export const ${name} = createSteadfetch({
    tabs: shareAcrossTabs(),
    connectivity: watchConnectivity(),
  });`;
const steady = `
  import { createSteadfetch, shareAcrossTabs, watchConnectivity } from 'steadfetch';
  ${instance('steady')}
  ${instance('other')}`;
const outbox = `
  import { createOutbox } from 'steadfetch/outbox';
  import { steady } from './steady.js';
  export const outbox = createOutbox({ steady, handlers: { order: { mutationFn: async () => 1 } } });`;
const app = `
  import { other, steady } from './steady.js';
  import { outbox } from './outbox.js';
  await Promise.all([steady.fetch('/answer'), other.fetch('/answer'), outbox.submit('order', 1).delivered]);
  window.versions += 1;
  if (import.meta.hot) import.meta.hot.accept();
  if (import.meta.webpackHot) {
    import.meta.webpackHot.accept();
    window.update = () => import.meta.webpackHot.check(true);
  }`;

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

let folder: string;
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'steadfetch-hot-'));
  mkdirSync(join(folder, 'node_modules/@tanstack'), { recursive: true });
  const link = (from: string, name: string): void =>
    symlinkSync(from, join(folder, 'node_modules', name), 'junction');
  link(root, 'steadfetch');
  for (const name of ['react', '@tanstack/react-query'])
    link(join(root, 'node_modules', name), name);
  write('package.json', '{ "type": "module" }');
  write('index.html', '<script type="module" src="/app.js"></script>');
  write('steady.js', steady);
  write('outbox.js', outbox);
  write('app.js', app);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A bundler that replaces modules in the page. */
interface DevServer {
  readonly url: string;
  /** After an edit: the page takes it. */
  readonly update: (page: Page) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

async function startVite(): Promise<DevServer> {
  const server = await createVite({
    root: folder,
    configFile: false,
    logLevel: 'error',
    // As an app has it that has installed the package.
    optimizeDeps: { include: ['steadfetch', 'steadfetch/outbox'] },
    // The test tells of its edits: a watcher sees one write as none, one or two changes.
    server: { host: '127.0.0.1', port: 0, watch: null },
  });
  await server.listen();
  const [url = ''] = server.resolvedUrls?.local ?? [];
  return {
    url,
    async update() {
      // What is sent to a page that has not connected yet is lost.
      await expect.poll(() => server.ws.clients.size).toBe(1);
      server.watcher.emit('change', join(folder, 'steady.js'));
    },
    close: () => server.close(),
  };
}

async function startWebpack(devtool: string): Promise<DevServer> {
  const compiler = webpack({
    mode: 'development',
    devtool,
    cache: false,
    // What the compilation before was: it compiles when it is told to, and does not watch.
    recordsPath: join(folder, 'records.json'),
    context: folder,
    entry: './app.js',
    output: { path: join(folder, 'built'), publicPath: '/' },
    plugins: [new webpack.HotModuleReplacementPlugin()],
  });
  const compile = (): Promise<unknown> =>
    new Promise((compiled, fail) =>
      compiler.run((error, stats) => (error ? fail(error) : compiled(stats))),
    );
  await compile();
  const server = createServer(({ url = '' }, response) => {
    if (url === '/')
      return response
        .setHeader('content-type', 'text/html')
        .end('<link rel="icon" href="data:," /><script src="/main.js"></script>');
    response.setHeader('content-type', url.endsWith('.js') ? 'text/javascript' : 'text/plain');
    return response.end(readFileSync(join(folder, 'built', url)));
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async update(page) {
      await compile();
      await page.evaluate(() => window.update?.());
    },
    async close() {
      server.close();
      await new Promise((closed) => compiler.close(closed));
    },
  };
}

test.each([
  ['Vite', startVite],
  ['webpack', () => startWebpack('eval')],
  ['webpack with source maps', () => startWebpack('source-map')],
])('five edits leave the channels and listeners of one version: %s', async (_, start) => {
  const server = await start();
  onTestFinished(server.close);
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  const heldAfter = async (versions: number): Promise<Held> => {
    await page.waitForFunction((wanted) => window.versions === wanted, versions);
    return page.evaluate(() => window.held());
  };
  await page.addInitScript(watchHeld);
  await page.route('**/answer', (route) => route.fulfill({ body: 'Lamp' }));
  await page.goto(server.url);
  const first = await heldAfter(1);
  for (let edit = 1; edit <= 5; edit++) {
    write('steady.js', `${'\n'.repeat(edit)}${steady}`);
    await server.update(page);
    await heldAfter(1 + edit);
  }
  expect(first.channels).toEqual([
    'steadfetch',
    'steadfetch',
    'steadfetch outbox steadfetch-outbox',
  ]);
  expect(await heldAfter(6)).toEqual(first);
});
