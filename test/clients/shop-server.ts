import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the shop answers next, and how often it was asked. */
export interface Plan {
  /** The statuses of the next answers; 200 when there is none left. */
  readonly statuses: number[];
  /** The codes of GraphQL errors in the next answers of status 200. */
  readonly codes: string[];
  /** The body of a good answer, as JSON. */
  readonly good: unknown;
  readonly requests: number;
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

/** A real server for real clients, in Node and in a browser. `PUT /plan` says what it answers, `GET /plan` what it was asked. */
export async function startShop(): Promise<Shop> {
  let plan: Plan = { statuses: [], codes: [], good: undefined, requests: 0 };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const body = await text(request);
    const headers = { ...cors, 'content-type': 'application/json' };
    if (request.method === 'OPTIONS') return response.writeHead(204, cors).end();
    if (request.url === '/plan') {
      if (request.method === 'PUT') plan = JSON.parse(body) as Plan;
      return response.writeHead(200, headers).end(JSON.stringify(plan));
    }
    plan = { ...plan, requests: plan.requests + 1 };
    const status = plan.statuses.shift() ?? 200;
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
