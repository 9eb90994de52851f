import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** One of two origins. */
interface OneOrigin {
  /** With a slash at its end. */
  readonly url: string;
  /** Its API breaks every connection while it is not. */
  isUp: boolean;
  /**
   * Resolves when so many requests for `/api/slow…` have come, which are then answered. Those for
   * `/api/slow/body` have the headers of their answers at once, and a part of their bodies.
   */
  readonly slow: (count: number) => Promise<void>;
  readonly forgetSlow: () => void;
  readonly answerSlow: () => void;
  /** Resolves when the browser has the whole answers of them, whether its page runs or not. */
  readonly slowIsOver: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The page of offline-page and an API, and a second origin with an API of its own. */
export interface OfflineServer {
  readonly here: OneOrigin;
  readonly there: OneOrigin;
  readonly close: () => Promise<void>;
}

const cors = { 'access-control-allow-origin': '*', 'cache-control': 'no-store' };

async function startOrigin(outDir: string): Promise<OneOrigin> {
  let slow: ServerResponse[] = [];
  let over: Promise<unknown>[] = [];
  let look = (): void => {};
  const wait = (response: ServerResponse): void => {
    slow.push(response);
    // Both sides close a connection that is not used again.
    over.push(once(response.req.socket, 'close'));
    look();
  };
  const answer = (response: ServerResponse): void => {
    begin(response);
    response.end('tea"');
  };
  const begin = (response: ServerResponse): void => {
    if (response.headersSent) return;
    response.writeHead(200, { ...cors, 'content-type': 'application/json' });
    response.write('"');
  };
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // Else a browser resends by itself what failed on a connection that it has used before.
    response.shouldKeepAlive = false;
    if (pathname === '/here' || pathname === '/nothing') response.writeHead(204, cors).end();
    else if (pathname === '/elsewhere') {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
    } else if (pathname.startsWith('/api/')) {
      if (!origin.isUp) request.socket.destroy();
      else if (pathname.startsWith('/api/slow')) {
        if (pathname.endsWith('/body')) begin(response);
        wait(response);
      } else answer(response);
    } else {
      if (pathname === '/favicon.ico') return void response.writeHead(404).end();
      const file = pathname === '/' ? '/index.html' : pathname;
      const type = extname(file) === '.js' ? 'text/javascript' : 'text/html';
      response.writeHead(200, { 'content-type': type }).end(readFileSync(join(outDir, file)));
    }
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const origin: OneOrigin = {
    url: `http://127.0.0.1:${port}/`,
    isUp: true,
    async slow(count) {
      while (slow.length < count) await new Promise<void>((come) => (look = come));
    },
    forgetSlow() {
      slow = [];
      over = [];
    },
    answerSlow: () => slow.forEach(answer),
    slowIsOver: async () => void (await Promise.all(over)),
    close: () =>
      new Promise<void>((closed, fail) => {
        server.close((error) => (error ? fail(error) : closed()));
        server.closeAllConnections();
      }),
  };
  return origin;
}

export async function startOfflineServer(): Promise<OfflineServer> {
  const outDir = mkdtempSync(join(tmpdir(), 'steadfetch-offline-'));
  // In a process of its own: NODE_ENV is `test` here, and would build for development.
  const { NODE_ENV: _, ...env } = process.env;
  const vite = resolve(root, 'node_modules/vite/bin/vite.js');
  const page = resolve(import.meta.dirname, 'offline-page');
  const options = ['--outDir', outDir, '--emptyOutDir', '--logLevel', 'error'];
  execFileSync(process.execPath, [vite, 'build', page, ...options], { cwd: page, env });
  const [here, there] = [await startOrigin(outDir), await startOrigin(outDir)];
  return {
    here,
    there,
    async close() {
      rmSync(outDir, { recursive: true, force: true });
      await Promise.all([here.close(), there.close()]);
    },
  };
}
