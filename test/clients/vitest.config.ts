import { resolve } from 'node:path';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { chromiumLaunchOptions } from '../setup/chromium.ts';
import { patienceMs, testTimeoutMs } from '../setup/patience.ts';
import { previous } from './previous.ts';

const root = resolve(import.meta.dirname, '../..');
const alias = { steadfetch: `${root}/src/index.ts` };

// npm run clients: the recipes of docs/clients with the major of each client before the newest.
export default defineConfig({
  root,
  plugins: [previous()],
  // What is made of the newest is no cache for these.
  cacheDir: `${root}/node_modules/.vite-clients`,
  // They are installed elsewhere.
  server: { fs: { strict: false } },
  test: {
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
    projects: [
      {
        extends: true,
        resolve: { alias },
        test: {
          name: 'node',
          include: ['test/clients/recipes.node.test.ts'],
          environment: 'node',
          server: { deps: { inline: true } },
        },
      },
      {
        extends: true,
        resolve: { alias },
        test: {
          name: 'browser',
          include: ['test/browser/clients.test.ts'],
          globalSetup: ['test/browser/server.ts'],
          browser: {
            enabled: true,
            headless: true,
            connectTimeout: patienceMs,
            screenshotFailures: false,
            provider: playwright({ launchOptions: chromiumLaunchOptions() }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
});
