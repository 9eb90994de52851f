import { PlaywrightBrowserProvider, playwright } from '@vitest/browser-playwright';
import type { BrowserProviderOption, TestProject } from 'vitest/node';
import { firefoxLaunchOptions } from '../setup/firefox.ts';
import { patienceMs } from '../setup/patience.ts';

/** Over WebDriver BiDi the frame of the tests has no name, by which Vitest looks for it. */
class FirefoxProvider extends PlaywrightBrowserProvider {
  override getCommandsContext(
    sessionId: string,
  ): ReturnType<PlaywrightBrowserProvider['getCommandsContext']> {
    const context = super.getCommandsContext(sessionId);
    const frame = async () => {
      const [, own] = context.page.frames();
      if (!own) throw new Error('The frame of the tests is not there.');
      return own;
    };
    return { ...context, frame };
  }
}

/** Firefox in Vitest's browser mode. */
export function firefox(): BrowserProviderOption {
  const options = { launchOptions: { ...firefoxLaunchOptions(), timeout: patienceMs } };
  return {
    ...playwright(options),
    providerFactory: (project: TestProject) => new FirefoxProvider(project, options),
  };
}
