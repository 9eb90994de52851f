import { type Browser, chromium, firefox, type LaunchOptions } from 'playwright';
import { chromiumLaunchOptions, findChromium } from '../setup/chromium.ts';
import { firefoxLaunchOptions } from '../setup/firefox.ts';
import { patienceMs } from '../setup/patience.ts';

/** In this browser nothing is given up before the test is. */
function waitWithTest(browser: Browser): Browser {
  return browser.on('context', (context) => context.setDefaultTimeout(patienceMs));
}

/** Firefox, without what only Chromium knows. */
export async function launchFirefox(): Promise<Browser> {
  return waitWithTest(await firefox.launch({ ...firefoxLaunchOptions(), timeout: patienceMs }));
}

interface Launch extends LaunchOptions {
  /** Keeps pages that are left, as users' browsers do. Playwright switches that off. @default false */
  readonly hasBackForwardCache?: boolean;
}

/** Starts the browser of this run: Chromium, unless `npm run browsers` says `ENGINE=firefox`. `args` come on top. */
export async function launchBrowser({
  args = [],
  hasBackForwardCache = false,
  ...options
}: Launch = {}): Promise<Browser> {
  if (process.env['ENGINE'] === 'firefox') return launchFirefox();
  const usual = hasBackForwardCache
    ? {
        ...chromiumLaunchOptions(findChromium()),
        ignoreDefaultArgs: ['--disable-back-forward-cache'],
      }
    : chromiumLaunchOptions();
  const browser = await chromium.launch({
    ...usual,
    timeout: patienceMs,
    ...options,
    args: [...usual.args, ...args],
  });
  return waitWithTest(browser);
}
