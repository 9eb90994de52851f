import manifest from '../../package.json' with { type: 'json' };
import { imported } from './runners.ts';

const ours = manifest.devDependencies;

export const modes = ['production', 'development'] as const;
export type Mode = (typeof modes)[number];

/** A bundler, and how an app is built with it: its entry is `main.js`, and its result is in the folder `out`. */
export interface Bundler {
  readonly name: string;
  readonly packages: Readonly<Record<string, string>>;
  /** Its configuration, and the text of each of its files. */
  readonly files?: Readonly<Record<string, string>>;
  /** What is run, below `node_modules`: a script of Node, or a program. */
  readonly command: (mode: Mode) => readonly string[];
  /** Whether it makes the page by itself, of `index.html`. */
  readonly makesPage?: true;
}

const vite = (version: string): Bundler => ({
  name: `Vite ${version.split('.')[0]}`,
  packages: { vite: version },
  command: (mode) => [
    'vite/bin/vite.js',
    'build',
    '--mode',
    mode,
    '--outDir',
    'out',
    '--emptyOutDir',
  ],
  makesPage: true,
});

/** webpack and Rspack, whose configuration is the same. `eval` is not allowed in the page. */
const packed = `module.exports = (_, { mode }) => ({
  entry: './main.js',
  devtool: mode === 'development' && 'source-map',
  output: { path: __dirname + '/out', filename: 'main.js', cssFilename: 'main.css' },
  module: { rules: [{ test: /\\.css$/, type: 'css/auto' }] },
  experiments: { css: true },
  performance: { hints: false },
});
`;

export const bundlers: readonly Bundler[] = [
  ...['5.4.21', '6.4.6', '7.3.8', ours.vite].map(vite),
  {
    name: 'webpack 5',
    packages: { webpack: ours.webpack, 'webpack-cli': '7.3.1' },
    files: { 'webpack.config.cjs': packed },
    command: (mode) => ['webpack-cli/bin/cli.js', '--mode', mode],
  },
  ...[
    ['1.6.2', '1.6.2'],
    ['2.3.3', '2.2.8'],
  ].map(([core = '', cli = '']): Bundler => ({
    name: `Rspack ${core.split('.')[0]}`,
    packages: { '@rspack/core': core, '@rspack/cli': cli },
    files: { 'rspack.config.cjs': packed },
    command: (mode) => ['@rspack/cli/bin/rspack.js', 'build', '--mode', mode],
  })),
  {
    name: 'Rollup 4',
    packages: {
      rollup: '4.68.8',
      '@rollup/plugin-commonjs': '29.0.3',
      '@rollup/plugin-node-resolve': '16.0.3',
      '@rollup/plugin-replace': '6.0.3',
      'rollup-plugin-import-css': '4.2.1',
    },
    files: {
      'rollup.config.mjs': `import commonjs from '@rollup/plugin-commonjs';
import resolve from '@rollup/plugin-node-resolve';
import replace from '@rollup/plugin-replace';
import css from 'rollup-plugin-import-css';
const mode = JSON.stringify(process.env.NODE_ENV);
export default {
  input: 'main.js',
  output: { dir: 'out', format: 'es' },
  plugins: [
    replace({ preventAssignment: true, 'process.env.NODE_ENV': mode }),
    resolve({ browser: true }),
    commonjs(),
    css({ output: 'main.css' }),
  ],
};
`,
    },
    command: () => ['rollup/dist/bin/rollup', '--config', 'rollup.config.mjs'],
  },
  {
    name: 'esbuild',
    packages: { esbuild: '0.28.2' },
    command: (mode) => [
      'esbuild/bin/esbuild',
      'main.js',
      '--bundle',
      '--format=esm',
      '--outdir=out',
      ...(mode === 'production' ? ['--minify'] : []),
    ],
  },
  {
    name: 'Parcel 2',
    packages: { parcel: '2.16.4' },
    command: () => [
      'parcel/lib/bin.js',
      'build',
      'index.html',
      '--dist-dir',
      'out',
      '--no-cache',
      '--no-source-maps',
    ],
    makesPage: true,
  },
  {
    name: 'Bun',
    packages: { bun: '1.4.5' },
    command: (mode) => [
      'bun/bin/bun.exe',
      'build',
      'main.js',
      '--outdir=out',
      `--define=process.env.NODE_ENV="${mode}"`,
    ],
  },
];

/** What the page imports. */
export const pagePackages: Readonly<Record<string, string>> = {
  '@opentelemetry/api': ours['@opentelemetry/api'],
  '@tanstack/react-query': imported['@tanstack/react-query'] ?? '',
  react: ours.react,
  'react-dom': ours['react-dom'],
};
