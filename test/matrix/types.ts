import { spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { install, unpack } from './app.ts';

const root = resolve(import.meta.dirname, '../..');
const ours = manifest.devDependencies;

/** The first is the floor that docs/bundlers.md states. 5.7 made `Uint8Array` generic; 7 has no `node10`. */
const versions: readonly string[] = ['5.4.5', '5.6.3', '5.7.3', '5.9.3', '6.0.3', ours.typescript];
const resolutions = {
  bundler: 'esnext',
  nodenext: 'nodenext',
  node16: 'node16',
  node10: 'esnext',
} as const;

/** What the types of the package are checked with, its peers' among them. */
const packages: Readonly<Record<string, string>> = {
  '@opentelemetry/api': ours['@opentelemetry/api'],
  '@tanstack/react-query': ours['@tanstack/react-query'],
  '@types/react': ours['@types/react'],
  react: ours.react,
};

/**
 * The types of the packed package under each version of TypeScript: every entry, and all that an app may export of
 * them, without `skipLibCheck`.
 */
export function runTypes(tarball: string): string[][] {
  const compilers = Object.fromEntries(
    versions.map((version) => [`typescript-${version}`, `npm:typescript@${version}`]),
  );
  const folder = install('types', { ...packages, ...compilers });
  unpack(tarball, folder);
  copyFileSync(join(root, 'test/house/declared.tsx'), join(folder, 'declared.tsx'));
  const entries = Object.keys(manifest.exports).filter((path) => !/\.(?:json|css)$/.test(path));
  const imports = entries.map(
    (path, at) => `import * as entry${at} from 'steadfetch${path.slice(1)}';\nvoid entry${at};\n`,
  );
  writeFileSync(join(folder, 'app.mts'), imports.join(''));
  const table = [['', ...Object.keys(resolutions)]];
  for (const version of versions) {
    const cells = Object.entries(resolutions).map(([moduleResolution, module]) =>
      moduleResolution === 'node10' && Number.parseInt(version, 10) >= 6
        ? 'not there'
        : checkTypes(folder, version, { module, moduleResolution }),
    );
    table.push([`TypeScript ${version}`, ...cells]);
    console.log(table.at(-1)?.join(' | '));
  }
  return table;
}

function checkTypes(
  folder: string,
  version: string,
  options: { readonly module: string; readonly moduleResolution: string },
): string {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: [],
    jsx: 'react-jsx',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    ...options,
  };
  const files = ['app.mts', 'declared.tsx'];
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(folder, `node_modules/typescript-${version}/bin/tsc`);
  const { stdout, status } = spawnSync(process.execPath, [tsc, '--project', '.'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status === 0) return 'checked';
  console.log(stdout);
  return 'FAILS';
}
