import { copyFile, glob, rm, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { build, defineConfig, type Rolldown } from 'tsdown';

/**
 * Takes by name what CommonJS requires, as the imports of the other format do: the rest of a file is then the
 * same in both, and compressed away. There are no cycles, and no exported variable changes.
 */
function nameRequires(code: string): string {
  let named = code;
  for (const [line, module = '', path = ''] of code.matchAll(
    /^(?:const|let) ([\w$]+) = require\(("[^"]+")\);$/gm,
  )) {
    // One that is replaced by its namespace stays.
    if (code.includes(`\n${module} = `)) continue;
    const own = module.replaceAll('$', '\\$&');
    const names = new Set<string>();
    const use = (_: string, name: string): string => {
      names.add(name);
      return name;
    };
    named = named
      .replaceAll(new RegExp(`\\(0, ${own}\\.(\\w+)\\)`, 'g'), use)
      .replaceAll(new RegExp(`\\b(\\w+): ${own}\\.\\1(?=,|\\n| })`, 'g'), use)
      .replaceAll(new RegExp(`(?<!\\w|\\w\\.)${own}\\.(\\w+)`, 'g'), use);
    const list = [...names].toSorted().join(', ');
    if (list) named = named.replace(line, () => `const { ${list} } = require(${path});`);
  }
  return named;
}

/**
 * A page without a bundler has no `process`, which every check for development reads. This gives it one, of
 * production, before anything of an entry runs. Bundlers leave the import out: package.json says that it has no effect
 * that they need, since they write the mode themselves. `browser` tells other libraries that it is not that of Node, as
 * the stand-in of bundlers does.
 */
const processOfPage = `globalThis.process ??= { browser: true, env: { NODE_ENV: 'production' } };\n`;
const pathOfProcess = 'core/lib/process-of-page.js';

const importProcess: Rolldown.Plugin = {
  name: 'process-of-page',
  renderChunk: (code, { fileName }, { format }) =>
    format === 'es' && /^(?!server)[\w-]+\.js$/.test(fileName)
      ? `import './${pathOfProcess}';\n${code}`
      : undefined,
};

/** The calls of `inDevelopment` in a tree of syntax. */
function* developmentCalls(node: unknown): Generator<readonly [start: number, end: number]> {
  if (typeof node !== 'object' || node === null) return;
  const { callee, start, end } = node as Record<string, { readonly name?: string } & number>;
  if (callee?.name === 'inDevelopment') yield [start ?? 0, end ?? 0];
  for (const child of Object.values(node)) yield* developmentCalls(child);
}

/**
 * Writes the test of the mode around each call of `inDevelopment` as well. esbuild and Bun look for unused code before
 * they see that the function does nothing in production, and would keep the texts that only its argument uses.
 */
const testMode: Rolldown.Plugin = {
  name: 'test-mode',
  renderChunk(code, { fileName }) {
    if (!fileName.endsWith('.js')) return undefined;
    const edits = [...developmentCalls(this.parse(code))].flatMap(([start, end]) => [
      { at: start, text: '(process.env.NODE_ENV === "production" ? void 0 : ' },
      { at: end, text: ')' },
    ]);
    if (edits.length === 0) return undefined;
    return edits
      .toSorted((one, other) => other.at - one.at)
      .reduce((text, edit) => text.slice(0, edit.at) + edit.text + text.slice(edit.at), code);
  },
};

/** A file that calls a hook, or makes a context, is one of the client: a server component may still import it. */
const markClient: Rolldown.Plugin = {
  name: 'use-client',
  renderChunk: (code, { fileName }) =>
    !code.startsWith('"use client"') &&
    /^(?:core\/react|outbox\/react|react|ui|testing\/render|devtools)\b.*\.js$/.test(fileName) &&
    (fileName.startsWith('devtools') || /(?<![.\w])(?:use[A-Z]\w*|createContext)\(/.test(code))
      ? `'use client';\n${code}`
      : undefined,
};

/**
 * The devtools are for development, and large: they are packed into three files of ESM. The panel has its own,
 * which a production build leaves out. What they share with the rest stays where it is, so that they read the
 * very instances of the app.
 */
async function packDevtools(): Promise<void> {
  const dist = resolve('dist');
  await build({
    config: false,
    entry: 'dist/devtools.js',
    outDir: 'dist',
    clean: false,
    dts: false,
    minify: true,
    platform: 'neutral',
    target: 'es2023',
    logLevel: 'warn',
    failOnWarn: true,
    // The files that are packed have it each, and the packed ones have it anew.
    checks: { moduleLevelDirective: false },
    inputOptions: { preserveEntrySignatures: 'allow-extension' },
    outExtensions: () => ({ js: '.js' }),
    outputOptions: {
      chunkFileNames: '[name].js',
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          {
            name: 'devtools-record',
            test: /devtools\/(?:recording\/)?(?:inspect|endpoints|record|recording|shapes|levels)\./,
          },
          { name: 'devtools-panel', test: /devtools\/(?!in-development)/ },
        ],
      },
    },
    plugins: [
      importProcess,
      markClient,
      {
        name: 'keep-the-rest',
        resolveId(source, importer) {
          if (!importer) return undefined;
          if (!source.startsWith('.')) return { id: source, external: true };
          const path = relative(dist, resolve(dirname(importer), source)).replaceAll('\\', '/');
          // It comes first in each of them.
          const moduleSideEffects = path !== pathOfProcess;
          return path.startsWith('devtools/')
            ? undefined
            : { id: `./${path}`, external: true, moduleSideEffects };
        },
      },
    ],
  });
  for await (const file of glob('dist/devtools/**/*.js')) await rm(file);
  for (const path of ['devtools', 'devtools.js', 'devtools.d.ts'])
    await rm(`dist/cjs/${path}`, { recursive: true, force: true });
}

/**
 * The command line is of Node alone, and nobody imports it: one file of ESM. What it shares with the rest stays where
 * it is.
 */
async function packCommand(): Promise<void> {
  const src = resolve('src');
  await build({
    config: false,
    entry: { command: 'src/check/terminal/command.ts' },
    outDir: 'dist',
    clean: false,
    dts: false,
    minify: true,
    platform: 'node',
    target: 'node20',
    logLevel: 'warn',
    failOnWarn: true,
    outExtensions: () => ({ js: '.js' }),
    plugins: [
      {
        name: 'keep-the-rest',
        resolveId(source, importer) {
          if (!importer || !source.startsWith('.')) return undefined;
          const path = relative(src, resolve(dirname(importer), source)).replaceAll('\\', '/');
          return /^(?:check|doctor)\//.test(path)
            ? undefined
            : { id: `./${path.replace(/\.ts$/, '.js')}`, external: true };
        },
      },
    ],
  });
}

let built = 0;

export default defineConfig({
  entry: [
    'src/index.ts',
    'src/axios.ts',
    'src/devtools.ts',
    'src/grpc.ts',
    'src/otel.ts',
    'src/outbox.ts',
    'src/policy.ts',
    'src/react.ts',
    'src/server.ts',
    'src/server/postgres.ts',
    'src/server/redis.ts',
    'src/telemetry.ts',
    'src/testing.ts',
    'src/ui.ts',
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
  plugins: [
    {
      name: 'name-requires',
      renderChunk: (code, _chunk, { format }) =>
        format === 'cjs' ? nameRequires(code) : undefined,
    },
    testMode,
    importProcess,
    markClient,
  ],
  hooks: {
    async 'build:done'({ options }) {
      await (options.format === 'cjs'
        ? writeFile('dist/cjs/package.json', '{ "type": "commonjs" }\n')
        : Promise.all([
            copyFile('src/ui/ui.css', 'dist/ui.css'),
            writeFile('dist/ui.css.d.ts', 'export {};\n'),
            writeFile(`dist/${pathOfProcess}`, processOfPage),
          ]));
      // After both formats.
      if (++built % 2 === 0) await Promise.all([packDevtools(), packCommand()]);
    },
  },
});
