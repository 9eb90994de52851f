import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { startShop } from '../clients/shop-server.ts';
import { type Answer, answers, commands, cors, countOnConnection } from './answers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Two origins of the hostile server, neither of them that of the page. */
    origins: readonly [string, string];
    /** The origin of the server for the recipes of docs/clients. */
    shop: string;
    /** Another one, for whose their requests are. */
    otherShop: string;
  }
}

export interface HostileServer {
  readonly origin: string;
  readonly close: () => Promise<void>;
}

/** What arrived, as tests read it. */
export interface LoggedRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The other side is gone, before the answer was complete or after it. */
  isClosed: boolean;
}

/** The requests of one test. */
interface Talk {
  readonly requests: LoggedRequest[];
  preflights: number;
  /** Of the last request. */
  response: ServerResponse | undefined;
  readonly watchers: Set<() => void>;
}

/**
 * A real server for faults that only a real connection has. Tests talk to it by
 * `/talk/<id>?answers=a,b`: the nth request meets the nth answer, later ones the last. `/log/<id>`
 * says what arrived, and waits until there is enough; `/tell/<id>` goes on with an open body.
 */
export async function startServer(): Promise<HostileServer> {
  const talks = new Map<string, Talk>();
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const [, area = '', id = ''] = pathname.split('/');
    let talk = talks.get(id);
    if (!talk) {
      talk = { requests: [], preflights: 0, response: undefined, watchers: new Set() };
      talks.set(id, talk);
    }
    // Else a browser resends by itself what failed on a connection that it has used before.
    response.shouldKeepAlive = false;
    response.setHeader('cache-control', 'no-store');
    countOnConnection(request);
    if (request.method === 'OPTIONS') {
      talk.preflights += 1;
      response.writeHead(204, { ...cors, 'access-control-max-age': '0' }).end();
    } else if (area === 'talk') {
      const names = (searchParams.get('answers') ?? '').split(',');
      // An upload that breaks off is answered by nobody.
      converse(talk, names, request, response).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
      });
    } else if (area === 'log') {
      void report(talk, searchParams, response);
    } else if (area === 'tell') {
      const command = commands[searchParams.get('command') as keyof typeof commands];
      if (talk.response) command(talk.response, searchParams.get('text') ?? '');
      response.writeHead(204, cors).end();
    } else {
      response.writeHead(404, cors).end();
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

async function converse(
  talk: Talk,
  names: readonly string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', headers } = request;
  const logged: LoggedRequest = { method, headers, body: await text(request), isClosed: false };
  const name = names[Math.min(talk.requests.length, names.length - 1)];
  const answer: Answer | undefined = answers[name as keyof typeof answers];
  if (!answer) throw new Error(`The server has no answer "${name}".`);
  talk.requests.push(logged);
  talk.response = response;
  response.once('close', () => {
    logged.isClosed = true;
    notify(talk);
  });
  answer(response, request);
  notify(talk);
}

/** Answers once as many requests have arrived, and have been closed, as the query asks for. */
async function report(
  talk: Talk,
  wanted: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const requests = Number(wanted.get('requests'));
  const closed = Number(wanted.get('closed'));
  const isEnough = (): boolean =>
    talk.requests.length >= requests &&
    talk.requests.filter(({ isClosed }) => isClosed).length >= closed;
  while (!isEnough()) {
    await new Promise<void>((resolve) => void talk.watchers.add(resolve));
  }
  response.writeHead(200, { ...cors, 'content-type': 'application/json' });
  response.end(JSON.stringify({ requests: talk.requests, preflights: talk.preflights }));
}

function notify(talk: Talk): void {
  for (const watcher of talk.watchers) watcher();
  talk.watchers.clear();
}

/** Starts two of them for the tests in the browser, and two shops. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const servers = [await startServer(), await startServer()] as const;
  const shops = await Promise.all([startShop(), startShop()]);
  provide('origins', [servers[0].origin, servers[1].origin]);
  provide('shop', shops[0].origin);
  provide('otherShop', shops[1].origin);
  return async () => {
    for (const shop of shops) shop.close();
    await Promise.all(servers.map((server) => server.close()));
  };
}
