import { type Browser, chromium, type LaunchOptions } from 'playwright';
import { chromiumLaunchOptions } from '../setup/chromium.ts';
import { patienceMs } from '../setup/patience.ts';

/** In this browser nothing is given up before the test is. */
export function waitWithTest(browser: Browser): Browser {
  return browser.on('context', (context) => context.setDefaultTimeout(patienceMs));
}

/** Starts Chromium. `args` come on top of those that it always has. */
export async function launchChromium({
  args = [],
  ...options
}: LaunchOptions = {}): Promise<Browser> {
  const usual = chromiumLaunchOptions();
  const browser = await chromium.launch({
    ...usual,
    timeout: patienceMs,
    ...options,
    args: [...usual.args, ...args],
  });
  return waitWithTest(browser);
}
