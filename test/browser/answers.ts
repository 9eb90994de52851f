import type { IncomingMessage, ServerResponse } from 'node:http';
import { message, trailers } from '../grpc/frames.ts';

/** What one request is answered with. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** What a cross-origin page may see. */
export const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': '*',
  'access-control-allow-headers': '*',
};

const exposed = { ...cors, 'access-control-expose-headers': 'Retry-After, Date' };
const json = { 'content-type': 'application/json' };

const reply =
  (status: number, headers: Record<string, string> = cors, body = ''): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);

/** When the server would have the page back: three seconds after the Date of this answer. */
const inThreeSeconds: Answer = (response) => {
  const nowMs = Math.floor(Date.now() / 1000) * 1000;
  response.writeHead(503, {
    ...exposed,
    date: new Date(nowMs).toUTCString(),
    'retry-after': new Date(nowMs + 3000).toUTCString(),
  });
  response.end();
};

const reset: Answer = (_, { socket }) => void socket.resetAndDestroy();

/** The requests that each connection has carried. */
const carried = new WeakMap<object, number>();

export function countOnConnection({ socket }: IncomingMessage): void {
  carried.set(socket, (carried.get(socket) ?? 0) + 1);
}

const keepAlive: Answer = (response) => {
  response.shouldKeepAlive = true;
  reply(200, { ...cors, ...json, connection: 'keep-alive' }, '{"id":1}')(response, response.req);
};

/** An answer of gRPC-web, which is always a 200. */
const grpc =
  (fields: Readonly<Record<string, string | number>>, content?: string): Answer =>
  (response) => {
    response.writeHead(200, { ...cors, 'content-type': 'application/grpc-web+proto' });
    if (content !== undefined) response.write(message(content));
    response.end(trailers(fields));
  };

/** A failure in the headers, without trailers. */
const grpcHeaders: Answer = (response) =>
  void response
    .writeHead(200, {
      ...cors,
      'access-control-expose-headers': 'grpc-status',
      'content-type': 'application/grpc-web+proto',
      'grpc-status': '14',
    })
    .end();

/**
 * Everything that this server can do to a request. Those whose name begins with `open` leave the
 * body open, until the test says how it goes on.
 */
export const answers = {
  ok: reply(200, { ...cors, ...json }, '{"id":1}'),
  'grpc-ok': grpc({ 'grpc-status': 0 }, '\n\u0004kite'),
  'grpc-unavailable-headers': grpcHeaders,
  'grpc-unavailable': grpc({ 'grpc-status': 14 }),
  'grpc-invalid': grpc({ 'grpc-status': 3 }),
  'grpc-pushback': grpc({ 'grpc-status': 14, 'grpc-retry-pushback-ms': -1 }),
  'connect-ok': reply(200, { ...cors, ...json }, '{"names":["kite"]}'),
  'connect-exhausted': reply(429, { ...cors, ...json }, '{"code":"resource_exhausted"}'),
  'connect-unavailable': reply(503, { ...cors, ...json }, '{"code":"unavailable"}'),
  'connect-invalid': reply(400, { ...cors, ...json }, '{"code":"invalid_argument"}'),
  'no-content': reply(204),
  'not-json': reply(200, { ...cors, ...json }, '{"id":'),
  'not-found': reply(404, { ...cors, ...json }, '{"problem":"unknown"}'),
  conflict: reply(409),
  unavailable: reply(503),
  'unavailable-cached': reply(503, { ...cors, 'cache-control': 'max-age=30' }),
  'unavailable-without-cors': reply(503, { 'retry-after': '2' }),
  'retry-after-hidden': reply(503, { ...cors, 'retry-after': '2' }),
  'retry-after-exposed': reply(503, { ...exposed, 'retry-after': '2' }),
  'too-many': reply(429, { ...exposed, 'retry-after': '2' }),
  'retry-after-date': inThreeSeconds,
  form: reply(
    200,
    { ...cors, 'content-type': 'multipart/form-data; boundary=x' },
    [
      '--x\r\ncontent-disposition: form-data; name="f"; filename="f.txt"\r\n',
      'content-type: text/plain\r\n\r\nfile\r\n--x--\r\n',
    ].join(''),
  ),
  'redirect-to-next': (response, { url = '' }) =>
    void response.writeHead(302, { ...cors, location: url }).end(),
  'redirect-to-other': (response, { url = '' }) => {
    const location = new URL(url, 'http://localhost').searchParams.get('other') ?? '';
    response.writeHead(302, { ...cors, location }).end();
  },
  // As a proxy does whose session has expired: without CORS headers.
  'login-elsewhere': (response, { url = '' }) => {
    const location = new URL(url, 'http://localhost').searchParams.get('other') ?? '';
    response.writeHead(302, { location }).end();
  },
  reset,
  close: (_, { socket }) => void socket.destroy(),
  garbage: (_, { socket }) => void socket.end('this is not HTTP\r\n\r\n'),
  hang: () => {},
  open: (response) => void response.writeHead(200, { ...cors, ...json }).write('{"id"'),
  'open-with-length': (response) =>
    void response.writeHead(200, { ...cors, ...json, 'content-length': 100 }).write('{"id"'),
  'open-unavailable': (response) => void response.writeHead(503, cors).write('sorry'),
  'keep-alive': keepAlive,
  'reset-if-reused': (response, request) =>
    (carried.get(request.socket) ?? 0) > 1
      ? reset(response, request)
      : keepAlive(response, request),
} as const satisfies Record<string, Answer>;

export type AnswerName = keyof typeof answers;

/** What the test can do to an open body, or to a request that hangs. */
export const commands = {
  push: (response: ServerResponse, text: string) => void response.write(text),
  end: (response: ServerResponse) => void response.end(),
  /** Ends the connection (FIN), and so breaks off what was promised. */
  cut: (response: ServerResponse) => void response.socket?.destroy(),
  reset: (response: ServerResponse) => void response.socket?.resetAndDestroy(),
} as const;

export type CommandName = keyof typeof commands;
