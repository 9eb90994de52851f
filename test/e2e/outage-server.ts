import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** A real server with the page of outage-page, and an API that is up or down. */
export interface OutageServer {
  readonly url: string;
  /** Its connections break while it is not. */
  isUp: boolean;
  /** Breaks them later. */
  readonly hold: () => void;
  readonly drop: () => void;
  /** What its answers say. */
  version: number;
  /** How many requests have come to the API. */
  arrivals: number;
  readonly close: () => Promise<void>;
}

export async function startOutageServer(): Promise<OutageServer> {
  const outDir = mkdtempSync(join(tmpdir(), 'steadfetch-outage-'));
  // In a process of its own: NODE_ENV is `test` here, and would build React for development.
  const { NODE_ENV: _, ...env } = process.env;
  const vite = resolve(root, 'node_modules/vite/bin/vite.js');
  const page = resolve(import.meta.dirname, 'outage-page');
  const options = ['--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'];
  execFileSync(process.execPath, [vite, 'build', page, ...options], { cwd: page, env });

  const pending = new Set<Socket>();
  let isHolding = false;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // Else a browser resends by itself what failed on a connection that it has used before.
    response.shouldKeepAlive = false;
    if (pathname === '/ping') response.writeHead(204).end();
    else if (pathname.startsWith('/api/')) {
      outage.arrivals += 1;
      if (!outage.isUp)
        return void (isHolding ? pending.add(request.socket) : request.socket.destroy());
      const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
      response.writeHead(200, headers).end(JSON.stringify({ version: outage.version }));
    } else {
      const file = pathname === '/' ? '/index.html' : pathname;
      const type = types[extname(file)] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': type }).end(readFileSync(join(outDir, file)));
    }
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const outage: OutageServer = {
    url: `http://127.0.0.1:${port}/`,
    isUp: true,
    version: 1,
    arrivals: 0,
    hold() {
      isHolding = true;
    },
    drop() {
      isHolding = false;
      for (const socket of pending) socket.destroy();
      pending.clear();
    },
    async close() {
      rmSync(outDir, { recursive: true, force: true });
      await new Promise<void>((closed, fail) => {
        server.close((error) => (error ? fail(error) : closed()));
        server.closeAllConnections();
      });
    },
  };
  return outage;
}
