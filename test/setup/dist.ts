import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Builds the package, unless `dist` is newer than everything that it is made from. */
export default function buildIfStale(): void {
  const sources = readdirSync(resolve(root, 'src'), { recursive: true, encoding: 'utf8' });
  const paths = [
    'package.json',
    'tsconfig.json',
    'tsdown.config.ts',
    ...sources.map((path) => `src/${path}`),
  ];
  const newest = Math.max(...paths.map((path) => statSync(resolve(root, path)).mtimeMs));
  const built = resolve(root, 'dist/index.js');
  if (existsSync(built) && statSync(built).mtimeMs > newest) return;
  const tsdown = resolve(root, 'node_modules/tsdown/dist/run.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsdown], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The package cannot be built.\n${stdout}${stderr}`);
}
