import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { CartOrder, Told } from '../proof/account.ts';
import { buildPage } from './build-page.ts';

/** The page of outbox-page, somebody whom it can tell, and a server that takes its orders. */
export interface OutboxServer {
  /** Of the page, with a slash at its end. */
  readonly url: string;
  /** What the pages have told, in the order in which it was heard. */
  readonly told: Told[];
  /** The numbers of the orders, in the order in which they came. */
  readonly arrivals: number[];
  /** Orders are not answered while it is. */
  isHeld: boolean;
  /** How many are. */
  readonly held: () => number;
  /** Answers what was paused. */
  readonly answer: () => void;
  /** Forgets what has been. */
  readonly clear: () => void;
  readonly close: () => void;
}

const types = { 'content-type': 'application/json' };

export async function startOutboxServer(): Promise<OutboxServer> {
  const page = buildPage('outbox-page');
  let held: ServerResponse[] = [];
  const reply = (response: ServerResponse): void =>
    void response.writeHead(201, types).end('{"id":1}');
  const read = async (request: IncomingMessage, take: (body: string) => void): Promise<void> =>
    take(await text(request));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // A frame without an origin asks for its scripts from elsewhere.
    response.setHeader('access-control-allow-origin', '*');
    if (request.method === 'OPTIONS') {
      const asked = request.headers['access-control-request-headers'];
      response.writeHead(204, { ...types, 'access-control-allow-headers': asked }).end();
    } else if (pathname === '/told') {
      void read(request, (body) => {
        book.told.push(JSON.parse(body) as Told);
        response.writeHead(204).end();
      });
    } else if (pathname === '/orders') {
      void read(request, (body) => {
        book.arrivals.push((JSON.parse(body) as CartOrder).no);
        if (book.isHeld) held.push(response);
        else reply(response);
      });
    } else if (pathname === '/elsewhere') {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<title>Elsewhere</title><link rel="icon" href="data:,">');
    } else page.serve(pathname, response);
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const book: OutboxServer = {
    url: `http://127.0.0.1:${port}/`,
    told: [],
    arrivals: [],
    isHeld: false,
    held: () => held.length,
    answer() {
      book.isHeld = false;
      held.forEach(reply);
      held = [];
    },
    clear() {
      book.answer();
      book.told.length = 0;
      book.arrivals.length = 0;
    },
    close() {
      page.remove();
      server.closeAllConnections();
      server.close();
    },
  };
  return book;
}
