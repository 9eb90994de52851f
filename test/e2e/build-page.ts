import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** A page of this folder, built for production as a user's app is. */
export interface BuiltPage {
  /** Answers with the page at `/`, and with its files. */
  readonly serve: (pathname: string, response: ServerResponse) => void;
  readonly remove: () => void;
}

export function buildPage(name: string): BuiltPage {
  const outDir = mkdtempSync(join(tmpdir(), `steadfetch-${name}-`));
  // In a process of its own: NODE_ENV is `test` here, and would build React for development.
  const { NODE_ENV: _, ...env } = process.env;
  const vite = resolve(root, 'node_modules/vite/bin/vite.js');
  const page = resolve(import.meta.dirname, name);
  const config = resolve(import.meta.dirname, 'pages.vite.config.ts');
  const options = ['--config', config, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'];
  execFileSync(process.execPath, [vite, 'build', page, ...options], { cwd: page, env });
  return {
    serve(pathname, response) {
      const file = pathname === '/' ? '/index.html' : pathname;
      const type = types[extname(file)] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': type }).end(readFileSync(join(outDir, file)));
    },
    remove: () => rmSync(outDir, { recursive: true, force: true }),
  };
}
