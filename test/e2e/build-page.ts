import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** A page as its users get it. */
export interface BuiltPage {
  readonly read: (pathname: string) => { readonly type: string; readonly content: Buffer };
  readonly remove: () => void;
}

/** Builds the page in a folder beside this. */
export function buildPage(folder: string): BuiltPage {
  const outDir = mkdtempSync(join(tmpdir(), `steadfetch-${folder}-`));
  // In a process of its own: NODE_ENV is `test` here, and would build React for development.
  const { NODE_ENV: _, ...env } = process.env;
  const vite = resolve(root, 'node_modules/vite/bin/vite.js');
  const page = resolve(import.meta.dirname, folder);
  const options = ['--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'];
  execFileSync(process.execPath, [vite, 'build', page, ...options], { cwd: page, env });
  return {
    read(pathname) {
      const file = pathname === '/' ? '/index.html' : pathname;
      const type = types[extname(file)] ?? 'application/octet-stream';
      return { type, content: readFileSync(join(outDir, file)) };
    },
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  };
}
