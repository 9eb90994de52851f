// Plain JavaScript without imports from node_modules: it runs before anything is installed.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, root, run } from './run.mjs';

const marker = join(root, 'node_modules/.installed-from');

/** What an installation depends on: the lockfile, and the machine whose binaries it chose. */
function fingerprint() {
  const lockfile = readFileSync(join(root, 'package-lock.json'));
  const hash = createHash('sha256').update(lockfile).digest('hex');
  return `${process.platform}-${process.arch} ${hash}\n`;
}

/** `npm ci`, unless node_modules already is what package-lock.json says. */
export async function ensureInstalled() {
  const wanted = fingerprint();
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;

  console.log('Installing with `npm ci`: now, and again only when package-lock.json changes.');
  // Not on the project's Node, which npm is about to delete.
  if (!(await run('npm ci --include=dev', { onMachineNode: true }))) {
    fail('`npm ci` failed: see its message above.');
  }
  if (!(await run('node test/setup/check-node.mjs'))) process.exit(1);
  writeFileSync(marker, wanted);
}
