import { rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import type { Page } from 'playwright';
import { createServer } from 'vite';
import { startDemo } from '../e2e/demo-server.ts';
import { launchBrowser } from '../e2e/launch.ts';

// The pictures of the README, and the one that is shown where somebody links to the demo:
// `npm run pictures`, after the package was built.
const root = resolve(import.meta.dirname, '../..');
/** A picture is looked at before its text is read: so it has to be there at once. */
const largestBytes = 60_000;

/** The small ones lie beside each other. */
const small = { width: 400, height: 320 };

/** From just above this element. */
async function take(page: Page, of: string, size: typeof small, file: string): Promise<void> {
  const path = resolve(root, file);
  const box = await page.locator(of).boundingBox();
  const clip = { x: 0, y: Math.max(0, (box?.y ?? 0) - 8), ...size };
  for (let quality = 80; quality >= 30; quality -= 10) {
    await page.screenshot({ path, quality, type: 'jpeg', clip });
    if (statSync(path).size <= largestBytes) return;
  }
  rmSync(path);
  throw new Error(`${file} has more than ${largestBytes} bytes.`);
}

const browser = await launchBrowser();
const openPage = async (width: number, height: number, deviceScaleFactor: number): Promise<Page> =>
  browser.newPage({
    viewport: { width, height },
    reducedMotion: 'reduce',
    colorScheme: 'light',
    deviceScaleFactor,
  });

// Before Vite serves the demo as in production, where there are no devtools.
const app = await createServer({
  root: resolve(import.meta.dirname, 'pictures'),
  configFile: false,
  logLevel: 'warn',
  cacheDir: resolve(root, 'node_modules/.vite-pictures'),
  plugins: [react()],
  server: { host: '127.0.0.1', port: 0 },
});
await app.listen();
const page = await openPage(small.width, 2 * small.height, 2);
await page.goto(app.resolvedUrls?.local[0] ?? '');
await page.addStyleTag({
  content:
    'body { margin: 0; font: 15px/1.4 system-ui, sans-serif } #components { box-sizing: border-box; display: grid; gap: 12px; padding: 12px; width: 400px; height: 320px } #devtools { width: 400px; height: 320px }',
});
await page.getByText('Not sent').waitFor();
await page.getByText('This is not available right now').first().waitFor();
await take(page, '#components', small, 'docs/img/components.jpg');
await page.getByRole('tab', { name: 'Operations' }).click();
await page.getByRole('button', { name: '["products"]' }).click();
await take(page, '#devtools', small, 'docs/img/devtools.jpg');
await page.close();
await app.close();

const demo = await startDemo();
// As large as such pictures are shown where somebody links to the demo.
const large = { width: 1000, height: 545 };
const storm = await openPage(large.width, large.height, 1);
await storm.goto(demo.url);
await storm.locator('.storm svg').first().waitFor();
await storm.addStyleTag({
  content:
    '.head, .storm-controls, .storm-note, .lab { display: none !important } .storm { padding-top: 0.75rem }',
});
await take(storm, 'body', large, 'demo/public/storm.jpg');
await storm.close();

const act = await openPage(small.width, 1000, 2);
await act.goto(`${demo.url}#/order/lost`);
await act.getByRole('button', { name: 'Order on both sides' }).click();
await act.getByText('2 kites').first().waitFor();
await take(act, '.verdicts', small, 'docs/img/act.jpg');
await act.close();
await demo.close();
await browser.close();
