import { execSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { imported, msws, type Runner } from './runners.ts';
import { packPackage as packInto } from '../setup/pack.ts';

const root = resolve(import.meta.dirname, '../..');
/** It stays from run to run: what is installed there is not installed again. */
const base = join(tmpdir(), 'steadfetch-matrix');

/** Makes the folder hold these packages, and returns it. */
export function install(name: string, packages: Readonly<Record<string, string>>): string {
  const folder = join(base, name);
  const wanted = JSON.stringify({
    private: true,
    dependencies: packages,
    // Those of the tools whose binaries are of the machine.
    allowScripts: { node: true, bun: true, deno: true, esbuild: true },
  });
  const marker = join(folder, 'installed.json');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return folder;
  console.log(`Installing ${name} ...`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), wanted);
  execSync('npm install --no-package-lock --no-audit --no-fund', { cwd: folder, stdio: 'pipe' });
  writeFileSync(marker, wanted);
  return folder;
}

/** The path of a Node of this version. */
export function installNode(version: string): string {
  return join(install(`node-${version}`, { node: version }), 'node_modules/node/bin/node');
}

/** The packed package: what users install. */
export function packPackage(): string {
  mkdirSync(base, { recursive: true });
  return packInto(base);
}

/** Puts the packed package, as it is now, where an app has installed it. */
export function unpack(tarball: string, app: string): void {
  const installed = join(app, 'node_modules/steadfetch');
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed);
  execSync(`tar -xzf ${tarball} --strip-components=1 -C ${installed}`);
}

/** The code on the pages of testing whose first line has this name. */
function sampleNamed(name: string): string {
  const page = ['testing', 'testing/jest']
    .map((path) => readFileSync(join(root, `docs/${path}.md`), 'utf8'))
    .join('');
  const samples = [...page.matchAll(/```\w+\n(?<code>.*?)```/gs)];
  const code = samples.map(({ groups }) => groups?.['code'] ?? '');
  const found = code.find((text) => text.startsWith(`// ${name}\n`));
  if (found === undefined) throw new Error(`No page of testing has ${name}.`);
  return found;
}

/** The test as the page says that it is for Jest. */
const forJest = (test: string): string =>
  test.replace(/^import .* from 'vitest';\n/m, '').replace('virtualTime(vi,', 'virtualTime(jest,');

/** An app that has installed the package and the runner, with the files of docs/testing.md. */
export function installApp({ folder: name, packages }: Runner, tarball: string): string {
  const aliases = msws.map((version) => [`msw-${version}`, `npm:msw@${version}`]);
  const folder = install(name, { ...imported, ...packages, ...Object.fromEntries(aliases) });
  const isJest = 'jest' in packages;
  const faults = readFileSync(join(import.meta.dirname, 'faults.test.tsx'), 'utf8');
  for (const [file, test] of [
    ['products.test.tsx', sampleNamed('products.test.tsx')],
    ['faults.test.tsx', faults],
  ] as const)
    writeFileSync(join(folder, file), isJest ? forJest(test) : test);
  const tsconfig = { compilerOptions: { jsx: 'react-jsx' } };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  if (isJest)
    for (const file of ['jest.config.js', 'swc.config.js', 'babel.config.js', 'happy-dom.js'])
      writeFileSync(join(folder, file), sampleNamed(file));
  unpack(tarball, folder);
  return folder;
}

/** Runs the work while the app has this version of MSW. */
export async function withMsw<T>(
  folder: string,
  version: string,
  work: () => Promise<T>,
): Promise<T> {
  const used = join(folder, 'node_modules/msw');
  const named = (one: string): string => join(folder, 'node_modules', `msw-${one}`);
  const own = named(version);
  // A run that was ended has left it there.
  const left = msws.find((one) => !existsSync(named(one)));
  if (left !== undefined) renameSync(used, named(left));
  renameSync(own, used);
  try {
    return await work();
  } finally {
    renameSync(used, own);
  }
}
