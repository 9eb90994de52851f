import { existsSync } from 'node:fs';

const usualPaths = [
  '/usr/bin/firefox-esr',
  '/usr/bin/firefox',
  '/snap/bin/firefox',
  '/Applications/Firefox.app/Contents/MacOS/firefox',
  'C:\\Program Files\\Mozilla Firefox\\firefox.exe',
];

/** The path of a Firefox on this machine: `FIREFOX_PATH`, else a usual place; `undefined` when there is none. */
export function findFirefox(): string | undefined {
  const chosen = process.env['FIREFOX_PATH'];
  if (chosen !== undefined && chosen !== '') {
    if (!existsSync(chosen)) throw new Error(`FIREFOX_PATH is ${chosen}, which does not exist.`);
    return chosen;
  }
  return usualPaths.find((path) => existsSync(path));
}

/** What to pass to Playwright's `firefox.launch`: the stock Firefox of a distribution, over WebDriver BiDi. */
export function firefoxLaunchOptions() {
  const executablePath = findFirefox();
  return {
    channel: 'moz-firefox',
    ...(executablePath !== undefined && { executablePath }),
    // The host of a page that is not secure; Chromium is told by an argument.
    firefoxUserPrefs: { 'network.dns.localDomains': 'shop.test' },
  };
}
