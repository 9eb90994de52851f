import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildPage } from './build-page.ts';

/** A real server with the page of form-page, that books each idempotency key once. */
export interface FormServer {
  readonly port: number;
  /** What becomes of the next order: booked and answered, booked and its answer lost or withheld, or refused. */
  fate: 'answered' | 'lost' | 'withheld' | 'refused';
  /** The keys of the requests, in the order in which they came. */
  readonly keys: string[];
  /** What was booked, by key. */
  readonly orders: Map<string, string>;
  /** Answers what was withheld. */
  readonly answer: () => void;
  /** Forgets all. */
  readonly clear: () => void;
  readonly close: () => Promise<void>;
}

export async function startFormServer(): Promise<FormServer> {
  const page = buildPage('form-page');
  let withheld: (() => void)[] = [];

  const reply = (response: ServerResponse, id: number): void =>
    void response
      .writeHead(201, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id }));

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // Else a browser resends by itself what failed on a connection that it has used before.
    response.shouldKeepAlive = false;
    if (pathname === '/elsewhere') {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<title>Elsewhere</title><link rel="icon" href="data:,">');
    } else if (pathname === '/api/orders') {
      const key = String(request.headers['idempotency-key']);
      const { fate } = book;
      book.fate = 'answered';
      book.keys.push(key);
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const known = book.orders.get(key);
        if (fate === 'refused') return void response.writeHead(422).end();
        if (known !== undefined && known !== body) return void response.writeHead(422).end();
        book.orders.set(key, body);
        const id = [...book.orders.keys()].indexOf(key) + 1;
        if (fate === 'answered') reply(response, id);
        else if (fate === 'lost') request.socket.destroy();
        else withheld.push(() => reply(response, id));
      });
    } else page.serve(pathname, response);
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const book: FormServer = {
    port: (server.address() as AddressInfo).port,
    fate: 'answered',
    keys: [],
    orders: new Map(),
    answer() {
      for (const go of withheld) go();
      withheld = [];
    },
    clear() {
      book.answer();
      book.fate = 'answered';
      book.keys.length = 0;
      book.orders.clear();
    },
    async close() {
      page.remove();
      await new Promise<void>((closed, fail) => {
        server.close((error) => (error ? fail(error) : closed()));
        server.closeAllConnections();
      });
    },
  };
  return book;
}
