import { execSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(import.meta.dirname, '../..');

/**
 * Resolvers that do not read `exports` (`moduleResolution: node`, Parcel, Metro before 0.79, eslint-plugin-import)
 * look for a folder or a file of the name of each entry. They exist only in what is packed: in the project itself
 * Vite would take the folder `react` for React.
 */
function textsForOldResolvers(): Map<string, string> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, unknown>>;
  };
  const texts = new Map<string, string>();
  for (const path of Object.keys(exports)) {
    if (path === '.' || path.includes('.json')) continue;
    const name = path.slice(2);
    if (name.endsWith('.css')) {
      texts.set(name, `@import './dist/${name}';\n`).set(`${name}.d.ts`, 'export {};\n');
      continue;
    }
    const dist = `${'../'.repeat(name.split('/').length)}dist`;
    // The devtools are ESM alone.
    const main = name === 'devtools' ? `${dist}/${name}.js` : `${dist}/cjs/${name}.js`;
    const fields = { main, module: `${dist}/${name}.js`, types: `${dist}/${name}.d.ts` };
    texts.set(`${name}/package.json`, `${JSON.stringify(fields, undefined, 2)}\n`);
  }
  return texts;
}

/** What is packed besides the files for old resolvers. */
export const packed: readonly string[] = [
  'package.json',
  'README.md',
  'LICENSE',
  'llms.txt',
  'dist',
  'docs',
  'skills',
];
const folders: readonly string[] = ['dist', 'docs', 'skills'];

function writeInto(folder: string): void {
  const texts = textsForOldResolvers();
  for (const [path, text] of texts) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  // npm packs the modes that the umask of this machine gave: the same source must give the same bytes everywhere.
  for (const path of [...texts.keys(), ...packed]) {
    if (!folders.includes(path)) chmodSync(join(folder, path), 0o644);
    else
      for (const file of readdirSync(join(folder, path), { recursive: true, withFileTypes: true }))
        if (file.isFile()) chmodSync(join(file.parentPath, file.name), 0o644);
  }
}

/**
 * Packs what users install, from a copy of what has been built, into this folder; returns the path of the tarball.
 *
 * @param from the project, or a copy of it that was built elsewhere.
 */
export function packPackage(destination: string, from = root): string {
  const copy = mkdtempSync(join(tmpdir(), 'steadfetch-pack-'));
  for (const path of packed) cpSync(join(from, path), join(copy, path), { recursive: true });
  writeInto(copy);
  // One string and a shell, because npm is a script on Windows; so the folder goes by environment.
  const env = { ...process.env, npm_config_pack_destination: destination };
  execSync('npm pack --ignore-scripts', { cwd: copy, env, stdio: 'pipe' });
  rmSync(copy, { recursive: true });
  return join(destination, 'steadfetch-0.1.0.tgz');
}

// npm runs it before and after it packs the project itself, to publish it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'write') writeInto(root);
  else
    for (const path of textsForOldResolvers().keys())
      rmSync(join(root, path.replace('/package.json', '')), { recursive: true, force: true });
}
