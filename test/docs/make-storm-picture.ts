import { resolve } from 'node:path';
import { startDemo } from '../e2e/demo-server.ts';
import { launchChromium } from '../e2e/launch.ts';

// The picture of the storm in the README, and where a link to the demo is shown:
// `node test/docs/make-storm-picture.ts`, after the package was built.
const server = await startDemo();
const browser = await launchChromium();
const page = await browser.newPage({
  // As large as such pictures are shown.
  viewport: { width: 1000, height: 545 },
  reducedMotion: 'reduce',
});
await page.goto(server.url);
await page.locator('.storm svg').first().waitFor();
await page.addStyleTag({
  content:
    '.head, .storm-controls, .storm-note, .lab { display: none !important } .storm { padding-top: 0.75rem }',
});
await page.screenshot({
  path: resolve(import.meta.dirname, '../../demo/public/storm.jpg'),
  quality: 60,
  type: 'jpeg',
});
await browser.close();
await server.close();
