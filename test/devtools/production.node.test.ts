import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Rolldown } from 'vite';
import { expect, test } from 'vitest';
import buildIfStale from '../setup/dist.ts';

const root = resolve(import.meta.dirname, '../..');

/** An app as Vite builds it, in production or for development. */
async function bundle(mode: string, code: string): Promise<string> {
  buildIfStale();
  // Where the package finds its peers, and itself by its name.
  const folder = mkdtempSync(join(root, 'node_modules', '.devtools-'));
  try {
    writeFileSync(join(folder, 'app.mjs'), code);
    const result = (await build({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      mode,
      define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
      resolve: { alias: { 'steadfetch/devtools': join(root, 'dist/devtools.js') } },
      build: {
        write: false,
        lib: { entry: join(folder, 'app.mjs'), formats: ['es'] },
        rolldownOptions: { external: [/^react/, /^@tanstack/] },
      },
    })) as Rolldown.RolldownOutput[];
    return result
      .flatMap(({ output }) => output.map((one) => ('code' in one ? one.code : '')))
      .join('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const app = `
  import { createElement } from 'react';
  import { SteadfetchDevtools, SteadfetchDevtoolsPanel, steadfetchDevtoolsPlugin } from 'steadfetch/devtools';
  export const App = () => createElement(SteadfetchDevtools, { position: 'top-left' });
  export const Panel = () => createElement(SteadfetchDevtoolsPanel);
  export const plugins = [steadfetchDevtoolsPlugin()];
`;

test('a production build of an app with the devtools has nothing of the panel', async () => {
  const code = await bundle('production', app);
  expect(code).not.toMatch(/attachShadow|container-type|Origins|recording|react-dom/);
  expect(code.length).toBeLessThan(1500);
});

test('a build for development has all of it', async () => {
  const code = await bundle('development', app);
  expect(code).toMatch(/attachShadow/);
  expect(code).toMatch(/container-type/);
});

test('what only inspects and records brings nothing of the panel', async () => {
  const code = await bundle('production', `export { inspect, record } from 'steadfetch/devtools';`);
  expect(code).toMatch(/steadfetch-recording/);
  expect(code).not.toMatch(/attachShadow|container-type|react-dom/);
});
