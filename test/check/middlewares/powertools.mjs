import { createServer } from 'node:http';
import {
  IdempotencyAlreadyInProgressError,
  IdempotencyConfig,
  IdempotencyKeyError,
  IdempotencyValidationError,
  makeIdempotent,
} from '@aws-lambda-powertools/idempotency';
import { CachePersistenceLayer } from '@aws-lambda-powertools/idempotency/cache';
import { createClient } from '@redis/client';
import { announce, count, place, userOf } from './shop.mjs';

const client = await createClient({ socket: { path: process.argv[2], tls: false } }).connect();

/** A function behind API Gateway: what it returns is the answer. */
const handler = makeIdempotent(
  async (event, _context) => {
    const { status, location, body } = await place(
      JSON.parse(event.body || '{}'),
      event.headers['x-test'],
    );
    return {
      statusCode: status,
      headers: { 'content-type': 'application/json', ...(location && { location }) },
      body: JSON.stringify(body),
    };
  },
  {
    persistenceStore: new CachePersistenceLayer({ client }),
    config: new IdempotencyConfig({
      eventKeyJmesPath: 'headers."idempotency-key"',
      ...(process.argv[3] === 'validate' && { payloadValidationJmesPath: 'body' }),
      throwOnNoIdempotencyKey: true,
    }),
  },
);

/** Its errors say what has happened; the status is the app's. */
const statuses = [
  [IdempotencyAlreadyInProgressError, 409],
  [IdempotencyValidationError, 422],
  [IdempotencyKeyError, 400],
];
const statusOf = (error) => {
  const causes = [error, error?.cause];
  return statuses.find(([type]) => causes.some((one) => one instanceof type))?.[1] ?? 500;
};

const serve = async (request, response) => {
  if (request.url === '/count') return response.end(`${count()}`);
  const { method, url, headers } = request;
  if (!userOf(headers.authorization)) return response.writeHead(401).end('{"error":"user"}');
  let body = '';
  try {
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
  } catch {
    return;
  }
  const event = {
    version: '2.0',
    rawPath: url,
    headers,
    body,
    requestContext: { http: { method } },
  };
  try {
    const answer = await handler(event, { getRemainingTimeInMillis: () => 5000 });
    response.writeHead(answer.statusCode, answer.headers).end(answer.body);
  } catch (error) {
    response.writeHead(statusOf(error), { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: error.message }));
  }
};
const server = createServer((request, response) => void serve(request, response));
server.listen(0, '127.0.0.1', () => announce(server));
