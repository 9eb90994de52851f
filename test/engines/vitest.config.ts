import { playwright } from '@vitest/browser-playwright';
import { type BrowserProviderOption, BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import { chromiumLaunchOptions } from '../setup/chromium.ts';
import { testTimeoutMs } from '../setup/patience.ts';
import config, { browserProject, e2eProject } from '../vitest.config.ts';
import { type EngineName, engineNames, isEngineName } from './engines.ts';
import { firefox } from './firefox-provider.ts';
import { notHanging } from './differences.ts';
import { webkit } from './webkit-provider.ts';

// The same tests in the engine that ENGINE names: `npm run browsers`.

const engine = process.env['ENGINE'] ?? '';
if (!isEngineName(engine)) throw new Error(`ENGINE is "${engine}", which is no engine.`);

const providers: Readonly<Record<EngineName, () => BrowserProviderOption>> = {
  chromium: () => playwright({ launchOptions: chromiumLaunchOptions() }),
  firefox,
  webkit,
};

/** WebKit keeps the service worker of MSW as long as its window: what registers one comes last. */
class WorkersLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLast = ({ moduleId }: TestSpecification): boolean =>
      moduleId.endsWith('/browser/faults.test.ts');
    return [...files.filter((file) => !isLast(file)), ...files.filter(isLast)];
  }
}

/** A hang is told from a slow machine by what the same test takes in Chromium: under a second, but for a few. */
const limits = { testTimeout: 120_000, hookTimeout: 120_000 };
/** Ten thousand entries of an outbox take Firefox a minute, and several on a busy machine. */
const wholeLimits = { testTimeout: 240_000, hookTimeout: 240_000 };
const patience = { testTimeout: testTimeoutMs };

/** Files that launch an engine of their own, whatever ENGINE says. */
const ownEngine: Readonly<Record<EngineName, readonly string[]>> = {
  chromium: ['outbox'],
  firefox: ['firefox'],
  webkit: ['webkit'],
};
const ofOthers = engineNames
  .filter((name) => name !== engine)
  .flatMap((name) => ownEngine[name])
  .map((file) => `test/e2e/${file}.test.ts`);
/** The proof of the outbox is a part of the run by itself. */
const outboxProof = 'test/e2e/outbox-engines.test.ts';
const isOutboxProof = process.env['SUBMISSIONS'] !== undefined;

const project = {
  ...browserProject,
  test: {
    ...browserProject.test,
    ...limits,
    // Only one window of Firefox has the keyboard: a file beside another one would press its keys in vain.
    fileParallelism: engine === 'chromium',
    browser: {
      ...browserProject.test.browser,
      // WebKitGTK has no such mode: its window is on a screen that nobody sees.
      headless: engine !== 'webkit',
      provider: providers[engine](),
      instances: [{ browser: engine }],
    },
  },
};

export default defineConfig({
  ...config,
  test: {
    ...config.test,
    sequence: { sequencer: WorkersLast },
    testNamePattern: notHanging(engine),
    projects: [
      project,
      {
        ...e2eProject,
        test: {
          ...e2eProject.test,
          ...wholeLimits,
          ...(isOutboxProof && patience),
          exclude: [...ofOthers, ...(isOutboxProof ? [] : [outboxProof])],
          // WebKitGTK's driver has one window, and Playwright knows nothing of it.
          ...(engine === 'webkit' && {
            include: ['test/e2e/webkit.test.ts', outboxProof],
          }),
        },
      },
    ],
  },
});
