import { playwright } from '@vitest/browser-playwright';
import type {
  BrowserCommand,
  BrowserProvider,
  BrowserProviderOption,
  TestProject,
} from 'vitest/node';
import { startWebKit, type WebKit, type WebKitPage } from '../e2e/webkit-driver.ts';

/** How WebDriver writes the keys that are no characters. */
const keys: Readonly<Record<string, string>> = {
  ArrowDown: '\uE015',
  ArrowLeft: '\uE012',
  ArrowRight: '\uE014',
  ArrowUp: '\uE013',
  End: '\uE010',
  Enter: '\uE007',
  Escape: '\uE00C',
  Home: '\uE011',
  Tab: '\uE004',
};

/** Vitest's browser mode in WebKitGTK, by WebDriver: one window, in which the test files run one after the other. */
class WebKitProvider implements BrowserProvider {
  readonly name = 'webkit-webdriver';
  readonly supportsParallelism = false;
  #browser: Promise<WebKit> | undefined;
  #page: WebKitPage | undefined;

  constructor(project: TestProject) {
    const commands: Readonly<Record<string, BrowserCommand<never>>> = {
      __vitest_cleanup: async () => {},
      __vitest_keyboard: async (_, text: string) => {
        for (const [character, name = character] of text.matchAll(/\{(\w+)\}|./gs))
          await this.page.press(keys[name] ?? name);
        return { unreleased: [] };
      },
      __vitest_tab: () => this.page.press(keys['Tab'] ?? ''),
      __vitest_viewport: async () => {},
    };
    for (const [name, command] of Object.entries(commands))
      project.browser?.registerCommand(name as never, command as never);
  }

  /** The window of the run. */
  get page(): WebKitPage {
    if (!this.#page) throw new Error('No page of WebKit is open.');
    return this.#page;
  }

  getCommandsContext(): Record<string, unknown> {
    return { pickFile: (id: string, path: string) => this.page.pickFile(id, path) };
  }

  async openPage(_: string, url: string): Promise<void> {
    this.#browser ??= startWebKit();
    const browser = await this.#browser;
    this.#page ??= await browser.open();
    await this.#page.goto(url);
  }

  async close(): Promise<void> {
    await this.#page?.close();
    (await this.#browser)?.close();
  }
}

/** WebKitGTK in Vitest's browser mode. */
export const webkit = (): BrowserProviderOption => ({
  // For its server, which is the same for every provider.
  ...playwright(),
  name: 'webkit-webdriver',
  supportedBrowser: ['webkit'],
  providerFactory: (project) => new WebKitProvider(project),
});
