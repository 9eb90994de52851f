import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that reached the shop. */
export interface Arrival {
  readonly method: string;
  readonly key: string | null;
  /** The client is gone, or has the whole answer. */
  isClosed: boolean;
}

/** What the shop answers next, and what it was asked. */
export interface Plan {
  /** The statuses of the next answers; 200 when there is none left. 0 is no answer. */
  readonly statuses: number[];
  /** The codes of GraphQL errors in the next answers of status 200. */
  readonly codes: string[];
  /** The body of a good answer, as JSON. */
  readonly good: unknown;
  readonly arrivals: Arrival[];
}

export interface Shop {
  readonly origin: string;
  readonly close: () => void;
}

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'GET, POST, PUT',
  'access-control-expose-headers': 'retry-after, date',
};

/**
 * A real server for real clients, in Node and in a browser. `PUT /plan` says what it answers, `GET /plan`
 * what it was asked: `?requests=1&closed=1` waits until that is so.
 */
export async function startShop(): Promise<Shop> {
  let plan: Plan = { statuses: [], codes: [], good: undefined, arrivals: [] };
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const look of waiting) look();
  };
  const until = async (wanted: URLSearchParams): Promise<void> => {
    const isSo = (): boolean =>
      plan.arrivals.length >= Number(wanted.get('requests')) &&
      plan.arrivals.filter(({ isClosed }) => isClosed).length >= Number(wanted.get('closed'));
    while (!isSo()) await new Promise<void>((resolve) => void waiting.add(resolve));
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const body = await text(request);
    const headers = { ...cors, 'content-type': 'application/json' };
    if (request.method === 'OPTIONS') return response.writeHead(204, cors).end();
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/plan') {
      if (request.method === 'PUT') plan = { ...(JSON.parse(body) as Plan), arrivals: [] };
      else await until(searchParams);
      return response.writeHead(200, headers).end(JSON.stringify(plan));
    }
    const { method = '', headers: sent } = request;
    const key = sent['idempotency-key']?.toString() ?? null;
    const arrival: Arrival = { method, key, isClosed: false };
    plan.arrivals.push(arrival);
    response.once('close', () => {
      arrival.isClosed = true;
      changed();
    });
    changed();
    const status = plan.statuses.shift() ?? 200;
    if (status === 0) return undefined;
    const code = status === 200 ? plan.codes.shift() : undefined;
    const errors = [{ message: 'no', extensions: { code } }];
    const good = code === undefined ? plan.good : { errors };
    return response
      .writeHead(status, { ...headers, ...(status === 429 && { 'retry-after': '2' }) })
      .end(JSON.stringify(status === 200 ? good : { message: 'no' }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
