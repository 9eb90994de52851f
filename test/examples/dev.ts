import { deepStrictEqual as equal } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright';
import type { Framework, Running } from './apps.ts';

/** What a page has open: counted before anything in it runs. */
function watchChannels(): void {
  const Native = BroadcastChannel;
  let channels = 0;
  globalThis.BroadcastChannel = class extends Native {
    readonly #isOurs: boolean;
    constructor(name: string) {
      super(name);
      this.#isOurs = name.startsWith('steadfetch');
      if (this.#isOurs) channels++;
    }
    override close(): void {
      if (this.#isOurs) channels--;
      super.close();
    }
  };
  Object.assign(globalThis, { channels: () => channels });
}

const warning = 'An instance is shared by the requests of this server';

/** Edits the module five times: after each, the page has so many channels. */
async function checkEdits(page: Page, source: string, channels: number): Promise<void> {
  const text = readFileSync(source, 'utf8');
  const shows = (version: number) =>
    page.getByText(`version ${version}`, { exact: true }).waitFor();
  await shows(0);
  for (let edit = 1; edit <= 5; edit++) {
    // What is sent to a page that has just connected may be lost: so it is edited until it is there. Each time
    // its code is another: spaces alone change nothing that would be sent.
    for (let tries = 1; ; tries++) {
      const code = `const version = ${edit};\nObject.assign(globalThis, { tries: ${tries} })`;
      writeFileSync(source, text.replace('const version = 0', code));
      if (await Promise.race([shows(edit).then(() => true), page.waitForTimeout(5000)])) break;
    }
    // A module may be evaluated once more after it is shown.
    await page.waitForTimeout(500);
    equal(await page.evaluate('channels()'), channels);
  }
}

/** What a dev server says of an instance at module level, and what edits of that module leave. */
export async function checkDev(
  { pages: { edited, withDevtools } }: Framework,
  folder: string,
  running: Running,
  browser: Browser,
): Promise<void> {
  for (const [index, { path, module, channels }] of edited.entries()) {
    const url = `http://127.0.0.1:${running.port}${path}`;
    for (let visit = 0; visit < 3; visit++) await (await fetch(url)).text();
    equal(running.output().split(warning).length - 1, index + 1);

    const page = await browser.newPage();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    await page.addInitScript(watchChannels);
    await page.route('**/api/products', (route) => route.fulfill({ json: ['kite'] }));
    await page.goto(url);
    await checkEdits(page, join(folder, module), channels);
    equal(
      said.filter((line) => line.includes(warning)),
      [],
    );
    await page.close();
  }
  if (withDevtools === undefined) return;
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${running.port}${withDevtools}`);
  await page.getByRole('button', { name: /^Steadfetch devtools/ }).waitFor();
  await page.close();
}
