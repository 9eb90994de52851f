import { type Browser, chromium, firefox, type LaunchOptions } from 'playwright';
import { chromiumLaunchOptions } from '../setup/chromium.ts';
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

/** Starts the browser of this run: Chromium, unless `npm run browsers` says `ENGINE=firefox`. `args` come on top. */
export async function launchBrowser({
  args = [],
  ...options
}: LaunchOptions = {}): Promise<Browser> {
  if (process.env['ENGINE'] === 'firefox') return launchFirefox();
  const usual = chromiumLaunchOptions();
  const browser = await chromium.launch({
    ...usual,
    timeout: patienceMs,
    ...options,
    args: [...usual.args, ...args],
  });
  return waitWithTest(browser);
}
