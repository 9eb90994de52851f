import { existsSync } from 'node:fs';
import { chromium } from 'playwright';

/** Chromium without its window and bars: it takes half the time of a whole one, and has no back-forward cache. */
const shellPath = '/usr/bin/chromium-headless-shell';

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

/**
 * Chromium takes the last list of features alone, so this is Playwright's own, and those that render the
 * suggestions of the address bar: nobody sees them, and each window has two pages of them, which take longer
 * than the page under test.
 */
const disabledFeatures = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'BlockOriginHeaderModificationOnRedirect',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'Translate',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'WebUIOmniboxPopup',
];

/** The path of a Chromium that only runs pages, if this machine has one, else that of a whole one. */
export function findHeadlessShell(): string | undefined {
  return !process.env['CHROMIUM_PATH'] && existsSync(shellPath) ? shellPath : findChromium();
}

/**
 * What to pass to Playwright's `chromium.launch`, here and in Vitest's browser provider.
 *
 * @param executablePath - @default one that only runs pages
 */
export function chromiumLaunchOptions(executablePath = findHeadlessShell()): {
  executablePath?: string;
  args: string[];
} {
  return {
    ...(executablePath !== undefined && { executablePath }),
    args: [
      `--disable-features=${disabledFeatures.join()}`,
      // Chromium refuses to run its sandbox as root, which is what one is in a container.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  };
}
