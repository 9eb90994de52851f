import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import * as main from 'steadfetch';
import * as axios from 'steadfetch/axios';
import * as devtools from 'steadfetch/devtools';
import * as grpc from 'steadfetch/grpc';
import * as otel from 'steadfetch/otel';
import * as outbox from 'steadfetch/outbox';
import * as policy from 'steadfetch/policy';
import * as react from 'steadfetch/react';
import * as server from 'steadfetch/server';
import * as postgres from 'steadfetch/server/postgres';
import * as redis from 'steadfetch/server/redis';
import * as telemetry from 'steadfetch/telemetry';
import * as testing from 'steadfetch/testing';
import * as ui from 'steadfetch/ui';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import buildIfStale from '../setup/dist.ts';
import { packed, packPackage } from '../setup/pack.ts';
import { testsModeInTry } from './mode-in-try.ts';

const root = resolve(import.meta.dirname, '../..');
const modules = {
  steadfetch: main,
  'steadfetch/axios': axios,
  'steadfetch/devtools': devtools,
  'steadfetch/grpc': grpc,
  'steadfetch/otel': otel,
  'steadfetch/outbox': outbox,
  'steadfetch/policy': policy,
  'steadfetch/react': react,
  'steadfetch/server': server,
  'steadfetch/server/postgres': postgres,
  'steadfetch/server/redis': redis,
  'steadfetch/telemetry': telemetry,
  'steadfetch/testing': testing,
  'steadfetch/ui': ui,
};
const names = Object.keys(modules) as (keyof typeof modules)[];
/** What each exports. */
const entries = Object.fromEntries(
  names.map((name) => [name, Object.keys(modules[name]).toSorted()]),
) as Record<keyof typeof modules, string[]>;
/** The devtools are ESM alone. */
const required = names.filter((name) => name !== 'steadfetch/devtools');

/** An app that has installed the packed package, with its peers linked from ours. */
let app: string;

function link(...peers: string[]): void {
  for (const name of peers) {
    const path = join(app, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) symlinkSync(join(root, 'node_modules', name), path, 'junction');
  }
}

const runNode = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: app, encoding: 'utf8' });

/** Runs CommonJS that may require nothing but CommonJS. */
const runRequire = (code: string): string =>
  runNode('--no-experimental-require-module', '--input-type=commonjs', '--eval', code);

const newest = join(root, 'node_modules/typescript/bin/tsc');
/**
 * 5.6, which attw brings: the newest in which `Uint8Array` has no type parameter. `npm run matrix -- TypeScript` has
 * the floor itself.
 */
const old = createRequire(join(root, 'node_modules/@arethetypeswrong/core/package.json')).resolve(
  'typescript/bin/tsc',
);

/** What TypeScript complains about. Not by execFileSync: that is on its stdout. */
function compile(tsc = newest): string {
  return spawnSync(process.execPath, [tsc, '--project', '.'], { cwd: app, encoding: 'utf8' })
    .stdout;
}

/** An app that exports what every function of the package returns, and a class of its own of each class. */
function callsOfAll(): string {
  const declare = (path: string, name: string, value: unknown): string => {
    if (typeof value !== 'function') return `export const ${name} = ${path};`;
    if (/^class\b/.test(String(value))) return `export class ${name} extends ${path} {}`;
    // It has no last overload with parameters of its own, so declared.tsx calls it.
    if (value === testing.compose) return '';
    return `export const ${name} = (...args: Parameters<typeof ${path}>) => ${path}(...args);`;
  };
  return names
    .flatMap((entry, at) => [
      `import * as entry${at} from '${entry}';`,
      ...Object.entries(modules[entry]).map(([name, value]) =>
        declare(`entry${at}.${name}`, `${name}${at}`, value),
      ),
    ])
    .join('\n');
}

function exportedBy(entry: string): string[] {
  const code = `console.log(JSON.stringify(Object.keys(await import('${entry}')).sort()))`;
  return JSON.parse(runNode('--input-type=module', '--eval', code)) as string[];
}

beforeAll(() => {
  buildIfStale();
  app = mkdtempSync(join(tmpdir(), 'steadfetch-app-'));
  const tarball = packPackage(app);
  const installed = join(app, 'node_modules/steadfetch');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', installed]);
  writeFileSync(join(app, 'package.json'), '{ "type": "module", "private": true }');
  link(
    'react',
    'react-dom',
    '@tanstack/react-query',
    '@types/react',
    'csstype',
    '@opentelemetry/api',
  );
});

afterAll(() => rmSync(app, { recursive: true, force: true }));

describe('an app that installs the packed package', () => {
  test('imports every entry, also where no msw is installed', () => {
    for (const name of names) expect(exportedBy(name)).toEqual(entries[name]);
  });

  // Without the flag, Node gives CommonJS the ESM build, and with it a second React Query.
  test('requires every entry, with nothing behind it that is not CommonJS', () => {
    for (const name of required) {
      const code = `console.log(JSON.stringify(Object.keys(require('${name}')).sort()))`;
      expect(JSON.parse(runRequire(code))).toEqual(entries[name]);
    }
  });

  test('shows, in CommonJS, what its own QueryClient does', () => {
    const shown = runRequire(`
      const { createElement } = require('react');
      const { renderToString } = require('react-dom/server');
      const { QueryClient, QueryClientProvider, useQuery } = require('@tanstack/react-query');
      const { createSteadfetch } = require('steadfetch');
      const { useRetryStatus } = require('steadfetch/react');
      const steady = createSteadfetch();
      const client = new QueryClient({ defaultOptions: steady.defaultOptions });
      const queryKey = ['name'];
      function Name() {
        const query = useQuery({ queryKey, queryFn: () => 'Lamp', initialData: 'Lamp' });
        return query.data + ' ' + useRetryStatus({ queryKey }).status;
      }
      console.log(renderToString(createElement(QueryClientProvider, { client }, createElement(Name))));
    `);
    expect(shown).toBe('Lamp idle\n');
  });

  test('knows the errors of the other format, and takes its stores', () => {
    const shown = runNode(
      '--input-type=module',
      '--eval',
      `import { createRequire } from 'node:module';
      import * as imported from 'steadfetch';
      import { idempotent, memoryStore } from 'steadfetch/server';
      const require = createRequire(import.meta.url);
      const required = require('steadfetch');
      const store = require('steadfetch/server').memoryStore();
      let runs = 0;
      const handle = idempotent(() => new Response('run ' + ++runs), { store });
      const post = async () => (await handle(new Request('http://shop.test/', {
        method: 'POST', body: '1', headers: { 'idempotency-key': '"a"' },
      }))).text();
      console.log(await post(), await post());
      const steady = required.createSteadfetch({ fetch: async () => new Response('', { status: 404 }) });
      const error = await steady.json('http://shop.test/').catch((thrown) => thrown);
      console.log(error instanceof imported.HttpError, imported.isHttpError(error), error.status);
      await imported.retry(steady, () => 1).catch(({ message }) => console.log(message));`,
    );
    const [answers, error, refused] = shown.split('\n');
    expect(answers).toBe('run 1 run 1');
    expect(error).toBe('false true 404');
    expect(refused).toMatch(
      /^retry: its first argument is .*, and must be what createSteadfetch of the same copy of the package returns: `import` and `require` load two, and know nothing of each other \(node_modules\/steadfetch\/docs\/bundlers\.md#import-and-require\)\.$/,
    );
  });

  test('has the same code in both formats, apart from imports and exports', () => {
    const dist = join(app, 'node_modules/steadfetch/dist');
    const bodyOf = (path: string): string[] =>
      readFileSync(join(dist, path), 'utf8')
        // A variable that has the name of what CommonJS requires with.
        .replaceAll('require$1', 'require')
        .split('\n')
        .filter((line) => !/^(?:import|export)\b|^exports\.|\brequire\(/.test(line));
    const paths = readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .map((path) => path.replaceAll('\\', '/'))
      // Those that import a namespace, the one for pages without a bundler, and the command, which is ESM alone.
      .filter(
        (path) =>
          /^(?!cjs\/|devtools|command).*\.js$/.test(path) &&
          !/(?:query\/instance|use-action-state|process-of-page)\.js$/.test(path),
      );
    expect(paths.length).toBeGreaterThan(100);
    for (const path of paths) expect([path, bodyOf(`cjs/${path}`)]).toEqual([path, bodyOf(path)]);
  });

  // Rollup warns of each circle, and an app pays for all of it.
  test('has files of which none imports itself by way of others', () => {
    const dist = join(app, 'node_modules/steadfetch/dist');
    const importedBy = (path: string): string[] =>
      [
        ...readFileSync(path, 'utf8').matchAll(/\b(?:from|import|require\() ?["'](\.[^"']+)["']/g),
      ].map(([, target = '']) => resolve(path, '..', target));
    const cycles: string[][] = [];
    const seen = new Set<string>();
    const visit = (path: string, above: readonly string[]): void => {
      if (above.includes(path)) cycles.push([...above.slice(above.indexOf(path)), path]);
      if (seen.has(path)) return;
      seen.add(path);
      for (const next of importedBy(path)) visit(next, [...above, path]);
    };
    for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
      if (file.endsWith('.js')) visit(join(dist, file), []);
    expect(seen.size).toBeGreaterThan(200);
    expect(cycles.map((cycle) => cycle.map((path) => relative(dist, path)))).toEqual([]);
  });

  // esbuild and Bun do not see that the function does nothing in production: they need the mode at each call.
  test.each(['', 'cjs'])('tests the mode before each call of inDevelopment (%s)', (format) => {
    const dist = join(app, 'node_modules/steadfetch/dist', format);
    const calls = readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js') && !/^(?:cjs|devtools|command)/.test(path))
      .flatMap((path) => readFileSync(join(dist, path), 'utf8').split('\n'))
      .flatMap((line) => line.match(/.{0,60}(?<!function )\binDevelopment\(/g) ?? []);
    expect(calls.length).toBeGreaterThan(40);
    expect(
      calls.filter(
        (call) => !/process\.env\.NODE_ENV === "production" (?:\? void 0 :|\|\|) /.test(call),
      ),
    ).toEqual([]);
  });

  // What is called in a `try` may throw, so Rollup drops nothing there that it cannot evaluate.
  test.each(['', 'cjs'])('tests the mode nowhere in a try (%s)', (format) => {
    const dist = join(app, 'node_modules/steadfetch/dist', format);
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.js') && !/^(?:cjs|devtools|command)/.test(path),
    );
    expect(files.length).toBeGreaterThan(200);
    const isTesting = (path: string): boolean =>
      testsModeInTry(readFileSync(join(dist, path), 'utf8'));
    expect(files.filter(isTesting)).toEqual([]);
  });

  test('packs to the same bytes again, in another folder and under another umask', () => {
    const before = process.umask(0o077);
    const again = mkdtempSync(join(tmpdir(), 'steadfetch-again-'));
    try {
      const first = readFileSync(join(app, 'steadfetch-0.1.0.tgz'));
      expect(readFileSync(packPackage(again)).equals(first)).toBe(true);
    } finally {
      process.umask(before);
      rmSync(again, { recursive: true });
    }
  });

  test('is built to the same bytes again, in another folder', () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'steadfetch-elsewhere-'));
    const sources = packed.filter((path) => path !== 'dist');
    try {
      for (const path of [...sources, 'src', 'tsconfig.json', 'tsdown.config.ts'])
        cpSync(join(root, path), join(elsewhere, path), { recursive: true });
      symlinkSync(join(root, 'node_modules'), join(elsewhere, 'node_modules'), 'junction');
      const build = [join(root, 'node_modules/tsdown/dist/run.mjs'), '--logLevel', 'error'];
      execFileSync(process.execPath, build, { cwd: elsewhere, stdio: 'pipe' });
      const checksumOf = (tarball: string): string =>
        createHash('sha256').update(readFileSync(tarball)).digest('hex');
      expect(checksumOf(packPackage(elsewhere, elsewhere))).toBe(
        checksumOf(join(app, 'steadfetch-0.1.0.tgz')),
      );
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  test('has as peers what its files import, so that no other package of an app, in any version, keeps it from installing', () => {
    const folder = join(app, 'node_modules/steadfetch/dist');
    const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js') && !path.startsWith('cjs'))
      .map((path) => readFileSync(join(folder, path), 'utf8').replaceAll(/^\s*\*.*$/gm, ''))
      .join('\n');
    // The devtools write code with single quotes.
    const imported = code.matchAll(/(?:from|import) ?\(?"((?:@[\w-]+\/)?[a-z][\w-]*)(?=["/])/g);
    const found = new Set(Array.from(imported, ([, name = '']) => name));
    expect([...found].toSorted()).toEqual(Object.keys(manifest.peerDependencies).toSorted());
  });

  test('takes each React 18, from the oldest that npm run floor tests with', () => {
    const { 'react-18': floor, 'react-query-floor': query } = manifest.devDependencies;
    expect(manifest.peerDependencies).toEqual({
      '@opentelemetry/api': '>=1.3.0',
      '@tanstack/react-query': `^${query.split('@').at(-1)}`,
      react: `^${floor.split('@').at(-1)} || ^19.0.0`,
      'react-dom': `^${floor.split('@').at(-1)} || ^19.0.0`,
    });
  });

  test('has a command, which needs none of the peers', () => {
    const help = runNode('node_modules/steadfetch/dist/command.js', 'check-idempotency', '--help');
    expect(help).toMatch(/^Usage: steadfetch check-idempotency URL/);
  });

  test('has a doctor, which says how to install its parser, and finds with it what it finds in the source', () => {
    writeFileSync(join(app, 'retries.ts'), 'useQuery({ queryKey, queryFn, retry: 3 });');
    const args = ['node_modules/steadfetch/dist/command.js', 'doctor', 'retries.ts'];
    const run = () => spawnSync(process.execPath, args, { cwd: app, encoding: 'utf8' });
    const without = run();
    expect([without.status, without.stdout]).toEqual([2, '']);
    expect(without.stderr).toContain('npm install --save-dev @babel/parser');
    link('@babel/parser');
    const found = run();
    expect([found.status, found.stderr]).toEqual([1, '']);
    expect(found.stdout).toMatch(/^retries\.ts:1:31 retries-4xx\n/);
  });

  // 35 kB of it are the commands, and the page of the doctor, and 4 kB the skill: no bundle contains them.
  test('downloads at most 513 kB', () => {
    const tarball = join(app, 'steadfetch-0.1.0.tgz');
    expect(statSync(tarball).size).toBeLessThanOrEqual(513_000);
  });

  test('has each page, with its heading, that a warning names', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => readFileSync(join(root, 'src', path), 'utf8'));
    const named = sources.flatMap(
      (code) => code.match(/(?<=')[a-z-]+\.md(?:#[\w-]+)?(?=')/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(8);
    const missing = [...new Set(named)].filter((one) => {
      const [page = '', heading] = one.split('#');
      const text = readFileSync(join(app, 'node_modules/steadfetch/docs', page), 'utf8');
      const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w\s-]/g, '')
          .replaceAll(' ', '-'),
      );
      return heading !== undefined && !headings.includes(heading);
    });
    expect(missing).toEqual([]);
  });

  test('has a folder or a file for each entry, for resolvers that do not read exports', () => {
    const installed = join(app, 'node_modules/steadfetch');
    const read = (path: string): Record<string, string> =>
      JSON.parse(readFileSync(join(installed, path, 'package.json'), 'utf8')) as never;
    for (const name of names) {
      const folder = name.slice('steadfetch/'.length);
      const fields = read(folder);
      const pathOf = (field: string): string => resolve(installed, folder, fields[field] ?? '-');
      for (const field of ['main', 'module', 'types'])
        expect([name, field, existsSync(pathOf(field))]).toEqual([name, field, true]);
      const code = `console.log(JSON.stringify(Object.keys(require(${JSON.stringify(pathOf('main'))})).sort()))`;
      const shown = name === 'steadfetch/devtools' ? entries[name] : JSON.parse(runRequire(code));
      expect(shown).toEqual(entries[name]);
    }
    const css = readFileSync(join(installed, 'ui.css'), 'utf8');
    expect(existsSync(join(installed, /'(.*)'/.exec(css)?.[1] ?? '-'))).toBe(true);
  });

  test('says of each file that calls a hook or makes a context that it is one of the client', () => {
    const dist = join(app, 'node_modules/steadfetch/dist');
    const marked: string[] = [];
    const unmarked: string[] = [];
    for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
      if (!path.endsWith('.js')) continue;
      const code = readFileSync(join(dist, path), 'utf8');
      // What is taken from React by a name of a hook, whatever it is called here.
      const fromReact =
        /(?:import *\{([^}]*)\} *from *|const \{([^}]*)\} *= *require\()["'](?:react|@tanstack\/react-query)["']/g;
      const taken = [...code.matchAll(fromReact)].map(([, one, other]) => one ?? other).join();
      const isClient = /^["']use client["']/.test(code);
      if (/\buse[A-Z]|\bcreateContext\b/.test(taken) && !isClient) unmarked.push(path);
      if (isClient) marked.push(path.replaceAll('\\', '/'));
    }
    expect(unmarked).toEqual([]);
    // A server component calls what these export: it must not be taken for the client's.
    expect(
      marked.filter((path) =>
        /^(?:cjs\/)?(?:(?:index|policy|server|outbox)\.js|server\/|outbox\/(?!react\/))/.test(path),
      ),
    ).toEqual([]);
    expect(marked).toContain('ui/connection-banner.js');
    expect(marked).toContain('devtools.js');
  });

  test.each([
    ['bundler', 'esnext', 'app.ts'],
    ['nodenext', 'nodenext', 'app.ts'],
    ['node16', 'node16', 'app.cts'],
  ])('type checks what it imports with moduleResolution %s', (moduleResolution, module, file) => {
    const entered = file.endsWith('.cts') ? required : names;
    // Under noUncheckedSideEffectImports, the default since TypeScript 6, styles need types, too.
    const styles = file.endsWith('.cts') ? [] : [`import 'steadfetch/ui.css';`];
    const code = entered.flatMap((name, index) => [
      `import * as entry${index} from '${name}';`,
      `export const used${index} = [${entries[name].map((key) => `entry${index}.${key}`).join(', ')}];`,
      '// @ts-expect-error An entry without types would be any, and have every name.',
      `entry${index}.notExported;`,
    ]);
    // The QueryClient of one format is not that of the other, for TypeScript as well.
    code.push(
      `import { QueryClient } from '@tanstack/react-query';`,
      `import { createSteadfetch } from 'steadfetch';`,
      `import { resetSteadfetch } from 'steadfetch/testing';`,
      `const client = new QueryClient({ defaultOptions: createSteadfetch().defaultOptions });`,
      `export const reset = (): void => resetSteadfetch(createSteadfetch(), client);`,
    );
    writeFileSync(join(app, file), [...styles, ...code].join('\n'));
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { strict: true, noEmit: true, target: 'es2023', module, moduleResolution },
        files: [file],
      }),
    );
    expect(compile()).toBe('');
  });

  test.each(['bundler', 'node10'])(
    'has types that an older TypeScript checks, too, with moduleResolution %s',
    (moduleResolution) => {
      copyFileSync(resolve(root, 'test/house/declared.tsx'), join(app, 'declared.tsx'));
      const imports = names.map((name, at) => `export * as entry${at} from '${name}';`);
      writeFileSync(join(app, 'app.ts'), imports.join('\n'));
      const compilerOptions = {
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        types: [],
        jsx: 'react-jsx',
        target: 'es2022',
        lib: ['es2022', 'dom', 'dom.iterable'],
        module: 'esnext',
        moduleResolution,
      };
      const files = ['app.ts', 'declared.tsx'];
      writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      expect(compile(old)).toBe('');
    },
  );

  test('has types that go with those that an app registers with React Query', () => {
    copyFileSync(resolve(root, 'test/house/registered.tsx'), join(app, 'registered.tsx'));
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      target: 'es2023',
      module: 'esnext',
      moduleResolution: 'bundler',
      jsx: 'react-jsx',
      // Those of React Query 5.108 do not go with a queryKey that is registered.
      skipLibCheck: true,
      types: [],
    };
    const files = ['registered.tsx'];
    writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    expect(compile()).toBe('');
  });

  test('has types of its own that an app can declare what it exports by', () => {
    copyFileSync(resolve(root, 'test/house/declared.tsx'), join(app, 'declared.tsx'));
    writeFileSync(join(app, 'called.ts'), callsOfAll());
    const compilerOptions = {
      strict: true,
      declaration: true,
      emitDeclarationOnly: true,
      outDir: 'declared',
      target: 'es2023',
      module: 'esnext',
      moduleResolution: 'bundler',
      jsx: 'react-jsx',
      // Its own declarations are checked, too.
      skipLibCheck: false,
      types: [],
    };
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['declared.tsx', 'called.ts'] }),
    );
    expect(compile()).toBe('');
    // None of them is by a path inside the package.
    for (const file of ['declared.d.ts', 'called.d.ts'])
      expect(readFileSync(join(app, 'declared', file), 'utf8')).not.toContain('steadfetch/dist');
  });
});
