import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buildPage } from './build-page.ts';

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
  const page = buildPage('outage-page');
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
    } else page.serve(pathname, response);
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
      page.remove();
      await new Promise<void>((closed, fail) => {
        server.close((error) => (error ? fail(error) : closed()));
        server.closeAllConnections();
      });
    },
  };
  return outage;
}
