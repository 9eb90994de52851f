import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../..');

/** The entries that package.json exports, styles and itself apart: '' and '/axios', for example. */
const entries = Object.keys(manifest.exports)
  .map((entry) => entry.slice(1))
  .filter((name) => !/\.\w+$/.test(name));

/** A module to compile, by its file name. */
export interface Sample {
  readonly name: string;
  readonly code: string;
}

/** What the compiler says about samples that import the package by its name; '' when all is well. */
export function compile(samples: readonly Sample[]): string {
  const folder = mkdtempSync(join(root, 'node_modules', '.samples-'));
  try {
    for (const { name, code } of samples) writeFileSync(join(folder, name), code);
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        rewriteRelativeImportExtensions: false,
        allowImportingTsExtensions: true,
        paths: Object.fromEntries(
          entries.map((name) => [`steadfetch${name}`, [join(root, `src${name || '/index'}.ts`)]]),
        ),
      },
      files: samples.map(({ name }) => join(folder, name)),
      include: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    return '';
  } catch (failure) {
    return (failure as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
