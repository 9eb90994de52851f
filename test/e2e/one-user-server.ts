import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildPage } from './build-page.ts';

/** How the API fails while it is down. */
export type OutageKind = '503' | 'reset' | 'hang';

/** A real server with one-user-page, and an API that is up or down. */
export interface OneUserServer {
  readonly url: string;
  /** Undefined while the API is up. */
  outage: OutageKind | undefined;
  /** Requests that have come to the API since a test has set it to 0. */
  arrivals: number;
  /** Requests that were left without an answer and that the browser has not given up yet. */
  readonly hanging: () => number;
  readonly close: () => Promise<void>;
}

export async function startOneUserServer(): Promise<OneUserServer> {
  const page = buildPage('one-user-page');
  const hanging = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // A browser resends by itself what fails on a connection that it has used before.
    response.shouldKeepAlive = false;
    if (!pathname.startsWith('/api/')) return page.serve(pathname, response);
    api.arrivals += 1;
    if (api.outage === 'reset') return void request.socket.destroy();
    if (api.outage === 'hang') {
      hanging.add(response);
      response.once('close', () => hanging.delete(response));
      return;
    }
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(api.outage ? 503 : 200, headers).end(JSON.stringify('answered'));
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const api: OneUserServer = {
    url: `http://127.0.0.1:${port}/`,
    outage: undefined,
    arrivals: 0,
    hanging: () => hanging.size,
    async close() {
      page.remove();
      await new Promise<void>((closed, fail) => {
        server.close((error) => (error ? fail(error) : closed()));
        server.closeAllConnections();
      });
    },
  };
  return api;
}
