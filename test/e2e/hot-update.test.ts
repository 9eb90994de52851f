import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright';
import { createServer, type ViteDevServer } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from './launch.ts';

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
  import { steady } from './steady.ts';
  export const outbox = createOutbox({ steady, handlers: { order: { mutationFn: async () => 1 } } });`;
const app = `
  import { other, steady } from './steady.ts';
  import { outbox } from './outbox.ts';
  await Promise.all([steady.fetch('/answer'), other.fetch('/answer'), outbox.submit('order', 1).delivered]);
  window.versions += 1;
  if (import.meta.hot) import.meta.hot.accept();`;

let folder: string;
let server: ViteDevServer;
let browser: Browser;
let page: Page;

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steadfetch-hot-'));
  mkdirSync(join(folder, 'node_modules/@tanstack'), { recursive: true });
  const link = (from: string, name: string): void =>
    symlinkSync(from, join(folder, 'node_modules', name), 'junction');
  link(root, 'steadfetch');
  for (const name of ['react', '@tanstack/react-query'])
    link(join(root, 'node_modules', name), name);
  write('package.json', '{ "type": "module" }');
  write('index.html', '<script type="module" src="/app.ts"></script>');
  write('steady.ts', steady);
  write('outbox.ts', outbox);
  write('app.ts', app);
  server = await createServer({
    root: folder,
    configFile: false,
    logLevel: 'error',
    // As an app has it that has installed the package.
    optimizeDeps: { include: ['steadfetch', 'steadfetch/outbox'] },
    server: { host: '127.0.0.1', port: 0 },
  });
  await server.listen();
  browser = await launchChromium();
});

afterAll(async () => {
  await browser.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Waits until the page runs so many versions, and returns what it holds then. */
async function heldAfter(versions: number): Promise<Held> {
  await page.waitForFunction((wanted) => window.versions === wanted, versions);
  return page.evaluate(() => window.held());
}

test('five edits leave the channels and listeners of one version', async () => {
  page = await browser.newPage();
  await page.addInitScript(watchHeld);
  await page.route('**/answer', (route) => route.fulfill({ body: 'Lamp' }));
  const [address = ''] = server.resolvedUrls?.local ?? [];
  await page.goto(address);
  const first = await heldAfter(1);
  for (let edit = 1; edit <= 5; edit++) {
    write('steady.ts', `${'\n'.repeat(edit)}${steady}`);
    await heldAfter(1 + edit);
  }
  expect(first.channels).toEqual([
    'steadfetch',
    'steadfetch',
    'steadfetch outbox steadfetch-outbox',
  ]);
  expect(await heldAfter(6)).toEqual(first);
});
