import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'vite';
import { expect, onTestFinished, test } from 'vitest';

const ui = resolve(import.meta.dirname, '../../src/ui');
const css = readFileSync(join(ui, 'ui.css'), 'utf8');
const rulesOf = (text: string): string => text.replaceAll(/\/\*.*?\*\//gs, '');

/** The stylesheet as a default build of an app has it: by Lightning CSS, for the browsers that Vite takes for usual. */
async function buildStyles(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfetch-styles-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'index.html'), '<script type="module" src="/main.js"></script>');
  writeFileSync(join(folder, 'main.js'), `import ${JSON.stringify(join(ui, 'ui.css'))};`);
  await build({ configFile: false, root: folder, logLevel: 'error' });
  const assets = join(folder, 'dist/assets');
  const file = readdirSync(assets).find((name) => name.endsWith('.css')) ?? '';
  return readFileSync(join(assets, file), 'utf8');
}

test('a default build of Vite leaves each colour as it is written', async () => {
  const variables = (text: string): readonly string[] =>
    [...text.matchAll(/(--_[\w-]+):([^;}]+)/g)].map(([, name = '', value = '']) =>
      `${name}:${value}`.replaceAll(/\s/g, '').toLowerCase(),
    );
  const built = await buildStyles();
  const expected = variables(rulesOf(css)).map((one) => one.replaceAll(/(?<![\d.])0(?=\.)/g, ''));
  expect(variables(built)).toEqual(expected);
  // It stands in for light-dark(), and says nothing where the page has no color-scheme.
  expect(built).not.toContain('--lightningcss');
});

test('every class that has a style is written out in the code, where PurgeCSS finds it', () => {
  const code = readdirSync(ui, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => readFileSync(join(ui, path), 'utf8'))
    .join('\n');
  const classes = [...new Set(rulesOf(css).match(/(?<=\.)steadfetch[\w-]*/g))];
  expect(classes.length).toBeGreaterThan(10);
  expect(classes.filter((name) => !new RegExp(`["' \`]${name}["' \`]`).test(code))).toEqual([]);
});
