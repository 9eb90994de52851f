import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { playwright } from '@vitest/browser-playwright';
import { msw } from 'msw/vite';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { browserCommands } from './browser/commands.ts';
import { chromiumLaunchOptions } from './setup/chromium.ts';
import { floorNames } from './setup/floor-versions.ts';
import { patienceMs, testTimeoutMs } from './setup/patience.ts';
import manifest from '../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '..');
const pins: Record<string, string> = manifest.devDependencies;

/** The exact version that package.json pins, also behind an alias (`npm:react@18.0.0`). */
const pinned = (name: string): string => pins[name]?.split('@').at(-1) ?? '';

/** Tests import the package as users do, and get its source. */
const packageAlias = [
  { find: /^steadfetch$/, replacement: resolve(root, 'src/index.ts') },
  { find: /^steadfetch\/axios$/, replacement: resolve(root, 'src/axios.ts') },
  { find: /^steadfetch\/devtools$/, replacement: resolve(root, 'src/devtools.ts') },
  { find: /^steadfetch\/grpc$/, replacement: resolve(root, 'src/grpc.ts') },
  { find: /^steadfetch\/otel$/, replacement: resolve(root, 'src/otel.ts') },
  { find: /^steadfetch\/outbox$/, replacement: resolve(root, 'src/outbox.ts') },
  { find: /^steadfetch\/policy$/, replacement: resolve(root, 'src/policy.ts') },
  { find: /^steadfetch\/react$/, replacement: resolve(root, 'src/react.ts') },
  { find: /^steadfetch\/server$/, replacement: resolve(root, 'src/server.ts') },
  {
    find: /^steadfetch\/server\/(postgres|redis)$/,
    replacement: resolve(root, 'src/server/$1.ts'),
  },
  { find: /^steadfetch\/telemetry$/, replacement: resolve(root, 'src/telemetry.ts') },
  { find: /^steadfetch\/ui$/, replacement: resolve(root, 'src/ui.ts') },
  { find: /^steadfetch\/ui\.css$/, replacement: resolve(root, 'src/ui/ui.css') },
  { find: /^steadfetch\/testing$/, replacement: resolve(root, 'src/testing.ts') },
];

const floorAlias = Object.entries(floorNames).map(([name, floor]) => ({
  find: new RegExp(`^${name}(?=/|$)`),
  replacement: floor,
}));

/** Those of the recipes in docs/clients. */
export const clients = [
  '@apollo/client',
  '@bufbuild/protobuf/codegenv2',
  '@connectrpc/connect',
  '@connectrpc/connect-web',
  '@supabase/supabase-js',
  '@trpc/client',
  '@urql/core',
  'graphql-request',
  'ky',
  'ofetch',
  'openapi-fetch',
  'wretch',
];

const browserServer = resolve(root, 'test/browser/server.ts');

/** Runs in Chromium here, and in other engines by `npm run browsers`. */
export const browserProject = {
  extends: true,
  resolve: { alias: packageAlias },
  plugins: [react(), msw({ mode: 'worker-only' })],
  // Found only when a test imports it, it would reload the page under the others.
  optimizeDeps: {
    include: [
      '@tanstack/react-devtools',
      '@tanstack/react-query-devtools',
      'axe-core',
      'axios',
      'axios-0',
      'react-dom',
      'react-dom/client',
      ...clients,
    ],
  },
  test: {
    name: 'browser',
    include: ['test/browser/**/*.test.{ts,tsx}'],
    globalSetup: existsSync(browserServer) ? [browserServer] : [],
    browser: {
      enabled: true,
      headless: true,
      connectTimeout: patienceMs,
      screenshotFailures: false,
      commands: browserCommands,
      provider: playwright({ launchOptions: chromiumLaunchOptions() }),
      instances: [{ browser: 'chromium' }],
    },
  },
} satisfies TestProjectInlineConfiguration;

/** The oldest React and React Query: what renders. `npm run floor` runs all that is of React Query, of forms and of React. */
export const floorProject = {
  extends: true,
  resolve: { alias: [...packageAlias, ...floorAlias] },
  test: {
    name: 'floor',
    include: [
      'test/core/react/**/*.test.{ts,tsx}',
      'test/core/react-query/{query/**/*,versions,use-query}.test.{ts,tsx}',
    ],
    exclude: ['test/**/*.node.test.{ts,tsx}'],
    environment: 'jsdom',
    setupFiles: ['test/setup/floor.ts', 'test/setup/unit.ts'],
    // The second imports React, so it must not start before the first has run.
    sequence: { setupFiles: 'list' },
    env: {
      EXPECTED_REACT: pinned('react-18'),
      EXPECTED_REACT_QUERY: pinned('react-query-floor'),
    },
  },
} satisfies TestProjectInlineConfiguration;

/** The same on a server. */
export const floorOnServerProject = {
  extends: true,
  resolve: { alias: [...packageAlias, ...floorAlias] },
  test: {
    name: 'floor on a server',
    include: ['test/core/{react-query,form,react}/**/*.node.test.{ts,tsx}'],
    environment: 'node',
    setupFiles: ['test/setup/floor.ts'],
    env: {
      EXPECTED_REACT_QUERY: pinned('react-query-floor'),
      // For the processes that tests start.
      NODE_OPTIONS: `--import="${resolve(root, 'test/setup/floor.ts')}"`,
    },
  },
} satisfies TestProjectInlineConfiguration;

/** Three pages of one ask in step, and one is offline from its first moment, so that nothing else may take their turn. */
const inStep = ['test/e2e/outage.test.ts', 'test/e2e/offline.test.ts'];

export const e2eProject = {
  extends: true,
  test: {
    name: 'e2e',
    include: ['test/e2e/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/setup/dist.ts'],
    // Each launches a browser of its own, and waits for most of its time: two side by side, after everything else.
    maxWorkers: 2,
    sequence: { groupOrder: 1 },
  },
} satisfies TestProjectInlineConfiguration;

export default defineConfig({
  root,
  test: {
    // Vitest leaves one core to its watcher, which nobody runs here.
    maxWorkers: '100%',
    // The console of a test is shown where the test fails.
    silent: 'passed-only',
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
    expect: { poll: { timeout: patienceMs } },
    projects: [
      {
        extends: true,
        resolve: { alias: packageAlias },
        test: {
          name: 'unit',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: [
            'test/**/*.node.test.{ts,tsx}',
            'test/browser/**',
            'test/e2e/**',
            'test/stores/**',
          ],
          environment: resolve(root, 'test/setup/page-environment.ts'),
          pool: 'vmForks',
          vmMemoryLimit: '1GB',
          setupFiles: ['test/setup/unit.ts'],
          env: {
            EXPECTED_REACT: pinned('react'),
            EXPECTED_REACT_QUERY: pinned('@tanstack/react-query'),
          },
        },
      },
      floorProject,
      {
        extends: true,
        resolve: { alias: packageAlias },
        test: {
          name: 'node',
          include: ['test/**/*.node.test.{ts,tsx}'],
          environment: 'node',
          env: { EXPECTED_REACT_QUERY: pinned('@tanstack/react-query') },
        },
      },
      browserProject,
      { ...e2eProject, test: { ...e2eProject.test, exclude: inStep } },
      {
        ...e2eProject,
        test: {
          ...e2eProject.test,
          name: 'e2e, alone',
          include: inStep,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
