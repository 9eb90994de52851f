import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** A copy of a checkout of TanStack Query, with what its tests need installed beside it. */
const suite = process.env['SUITE'] ?? '';
/** How Steadfetch is plugged in, a mode of with-steadfetch.ts; none: React Query alone. */
const mode = process.env['MODE'] ?? '';
const project = resolve(import.meta.dirname, '../..');

const packages = join(suite, 'packages');
const sourceOf = (name: string): string => {
  const folder = join(packages, name, 'src');
  return join(folder, existsSync(join(folder, 'index.tsx')) ? 'index.tsx' : 'index.ts');
};
const wrapped = ['query-core', 'react-query'].map((name) => ({ name, source: sourceOf(name) }));

/** The tests get a QueryClient with Steadfetch plugged in, from wherever they import it. */
const plugIn: Plugin = {
  name: 'plug-in',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!importer?.includes('__tests__') || importer.includes('\0')) return undefined;
    const own = source === '..' || source === '../index' || source === '../queryClient';
    const found = wrapped.find(({ name }) =>
      own ? importer.includes(join(name, 'src')) : source === `@tanstack/${name}`,
    );
    return found && `\0with-steadfetch:${found.source}.ts`;
  },
  load(id) {
    if (!id.startsWith('\0with-steadfetch:')) return undefined;
    const source = JSON.stringify(id.slice('\0with-steadfetch:'.length, -'.ts'.length));
    const merge = JSON.stringify(join(import.meta.dirname, 'with-steadfetch.ts'));
    return `
      import { QueryClient as Base } from ${source};
      import { withSteadfetch } from ${merge};
      export * from ${source};
      export class QueryClient extends Base {
        constructor(config) { super(withSteadfetch(${JSON.stringify(mode)}, config)); }
      }`;
  },
};

export default defineConfig({
  root: suite,
  plugins: [react(), ...(mode === '' ? [] : [plugIn])],
  resolve: {
    alias: [
      { find: /^steadfetch$/, replacement: join(project, 'src/index.ts') },
      { find: /^steadfetch\/policy$/, replacement: join(project, 'src/policy.ts') },
      ...readdirSync(packages).map((name) => ({
        find: new RegExp(`^@tanstack/${name}$`),
        replacement: sourceOf(name),
      })),
      { find: /^vitest$/, replacement: join(project, 'node_modules/vitest') },
    ],
  },
  server: { fs: { strict: false } },
  test: {
    environment: 'jsdom',
    server: { deps: { inline: [/jest-dom/] } },
    restoreMocks: true,
    // The slowest takes 1 s, so a machine that is busy makes no difference. A test that differs may wait for ever.
    testTimeout: 5000,
    // As React Query's own settings have it.
    projects: [
      {
        extends: true,
        test: {
          name: 'query-core',
          include: ['packages/query-core/src/__tests__/*.test.{ts,tsx}'],
        },
      },
      {
        extends: true,
        test: {
          name: 'react-query',
          include: ['packages/react-query/src/__tests__/*.test.{ts,tsx}'],
          setupFiles: [join(packages, 'react-query/test-setup.ts')],
        },
      },
    ],
  },
});
