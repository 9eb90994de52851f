import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildPage } from './build-page.ts';

/** How the API fails while it is down. */
export type OutageKind = '503' | 'reset' | 'hang';

/** The API as one visitor has it. */
export interface VisitorApi {
  /** Undefined while the API is up. */
  outage: OutageKind | undefined;
  /** Requests that have come. */
  readonly arrivals: () => number;
  /** Requests that were left without an answer and that the browser has not given up yet. */
  readonly hanging: () => number;
  /** From now on nothing is answered, until it is released: no answer comes while time passes. */
  readonly hold: () => void;
  readonly release: () => void;
}

/** A real server with one-user-page, and an API that is up or down. */
export interface OneUserServer {
  readonly url: string;
  /** That of those who have this as their cookie `visitor`. */
  readonly apiOf: (visitor: string) => VisitorApi;
  readonly close: () => Promise<void>;
}

interface OwnApi extends VisitorApi {
  readonly take: (request: IncomingMessage, response: ServerResponse) => void;
}

function createApi(): OwnApi {
  const hanging = new Set<ServerResponse>();
  let arrivals = 0;
  let isHeld = false;
  let held: (() => void)[] = [];
  const api: OwnApi = {
    outage: undefined,
    arrivals: () => arrivals,
    hanging: () => hanging.size,
    hold: () => void (isHeld = true),
    release() {
      isHeld = false;
      for (const answer of held) answer();
      held = [];
    },
    take({ socket }, response) {
      arrivals += 1;
      const { outage } = api;
      if (outage === 'hang') {
        hanging.add(response);
        response.once('close', () => hanging.delete(response));
        return;
      }
      const answer = (): void => {
        if (outage === 'reset') return void socket.destroy();
        const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
        response.writeHead(outage ? 503 : 200, headers).end(JSON.stringify('answered'));
      };
      if (isHeld) held.push(answer);
      else answer();
    },
  };
  return api;
}

export async function startOneUserServer(): Promise<OneUserServer> {
  const page = buildPage('one-user-page');
  const apis = new Map<string, OwnApi>();
  const apiOf = (visitor: string): OwnApi => {
    const api = apis.get(visitor) ?? createApi();
    apis.set(visitor, api);
    return api;
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // A browser resends by itself what fails on a connection that it has used before.
    response.shouldKeepAlive = false;
    if (!pathname.startsWith('/api/')) return page.serve(pathname, response);
    const [, visitor = ''] = /visitor=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
    apiOf(visitor).take(request, response);
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    apiOf,
    async close() {
      page.remove();
      await new Promise<void>((closed, fail) => {
        server.close((error) => (error ? fail(error) : closed()));
        server.closeAllConnections();
      });
    },
  };
}
