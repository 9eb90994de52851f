import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { preview } from 'vite';

const root = resolve(import.meta.dirname, '../..');
const configFile = resolve(root, 'demo/vite.config.ts');

/** The built demo, served on a port of its own. */
export interface DemoServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Builds the demo as it is published, into a folder of its own, and serves it. */
export async function startDemo(): Promise<DemoServer> {
  const outDir = mkdtempSync(join(tmpdir(), 'steadfetch-demo-'));
  // In a process of its own: NODE_ENV is `test` here, and would build React for development.
  const { NODE_ENV: _, ...env } = process.env;
  const vite = resolve(root, 'node_modules/vite/bin/vite.js');
  const args = ['--config', configFile, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'];
  execFileSync(process.execPath, [vite, 'build', 'demo', ...args], {
    cwd: root,
    env,
    stdio: 'inherit',
  });

  const server = await preview({
    configFile,
    logLevel: 'error',
    build: { outDir },
    // Port 0: any that is free. On the loopback address, where service workers need no https.
    preview: { host: '127.0.0.1', port: 0 },
  });
  const url = server.resolvedUrls?.local[0];
  if (url === undefined) throw new Error('Vite serves the demo, but does not say where.');
  return {
    url,
    async close() {
      await server.close();
      rmSync(outDir, { recursive: true, force: true });
    },
  };
}
