import { writeFile } from 'node:fs/promises';
import { defineConfig } from 'tsdown';

export default defineConfig({
  entry: [
    'src/index.ts',
    'src/axios.ts',
    'src/outbox.ts',
    'src/react.ts',
    'src/server.ts',
    'src/server/postgres.ts',
    'src/server/redis.ts',
    'src/telemetry.ts',
    'src/testing.ts',
  ],
  // CommonJS in a folder of its own, with the same names: npm packs files of one name beside each other,
  // and what is said twice is then compressed away.
  format: { esm: {}, cjs: { outDir: 'dist/cjs' } },
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
  // A file for each of the source: a stack trace names it, and the formats stay alike.
  unbundle: true,
  // The types have the comments.
  outputOptions: {
    generatedCode: { symbols: false },
    comments: { annotation: true, jsdoc: false, legal: true },
  },
  platform: 'neutral',
  target: 'es2023',
  tsconfig: 'src/tsconfig.json',
  dts: { generator: 'oxc' },
  checks: { bundlerTimings: false, moduleLevelDirective: false },
  failOnWarn: true,
  // No '#region' in each file.
  inputOptions: { experimental: { attachDebugInfo: 'none' } },
  report: { summary: true },
  hooks: {
    'build:done': ({ options }) =>
      options.format === 'cjs'
        ? writeFile('dist/cjs/package.json', '{ "type": "commonjs" }\n')
        : undefined,
  },
});
