import { existsSync } from 'node:fs';
import { chromium } from 'playwright';

const usualPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * The path of a Chromium on this machine: `CHROMIUM_PATH`, else a usual place, else the one that
 * Playwright downloaded; `undefined` when there is none.
 */
export function findChromium(): string | undefined {
  const chosen = process.env['CHROMIUM_PATH'];
  if (chosen !== undefined && chosen !== '') {
    if (!existsSync(chosen)) throw new Error(`CHROMIUM_PATH is ${chosen}, which does not exist.`);
    return chosen;
  }
  return [...usualPaths, chromium.executablePath()].find((path) => existsSync(path));
}

/** What to pass to Playwright's `chromium.launch`, here and in Vitest's browser provider. */
export function chromiumLaunchOptions(): { executablePath?: string; args: string[] } {
  const executablePath = findChromium();
  return {
    ...(executablePath !== undefined && { executablePath }),
    // Chromium refuses to run its sandbox as root, which is what one is in a container.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  };
}
