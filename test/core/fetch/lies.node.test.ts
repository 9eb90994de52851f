import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createSteadfetch, isSteadfetchError } from 'steadfetch';
import { afterAll, beforeAll, expect, test } from 'vitest';

const head = (lines: string, body = ''): string => `HTTP/1.1 ${lines}\r\n\r\n${body}`;
const many = (count: number, text: string): string => text.repeat(count);
const close = 'Connection: close';

/** What a server says, byte by byte, before it ends the connection. */
const lies: Readonly<Record<string, string>> = {
  'a length that is too long': head(`200 OK\r\nContent-Length: 100\r\n${close}`, 'short'),
  'a length that is too short': head(`200 OK\r\nContent-Length: 2\r\n${close}`, 'longer'),
  'two lengths': head(`200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n${close}`, 'hello'),
  'a length below zero': head(`200 OK\r\nContent-Length: -1\r\n${close}`, 'hello'),
  'a length that is no number': head(`200 OK\r\nContent-Length: five\r\n${close}`, 'hello'),
  'a length and chunks': head(
    `200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n${close}`,
    '5\r\nhello\r\n0\r\n\r\n',
  ),
  'no length': head(`200 OK\r\n${close}`, 'hello'),
  chunks: head(`200 OK\r\nTransfer-Encoding: chunked\r\n${close}`, '5\r\nhello\r\n0\r\n\r\n'),
  'a chunk whose size is none': head(
    `200 OK\r\nTransfer-Encoding: chunked\r\n${close}`,
    'xyz\r\nhello\r\n0\r\n\r\n',
  ),
  'a chunk that is cut': head(`200 OK\r\nTransfer-Encoding: chunked\r\n${close}`, '50\r\nhello'),
  'no last chunk': head(`200 OK\r\nTransfer-Encoding: chunked\r\n${close}`, '5\r\nhello\r\n'),
  trailers: head(
    `200 OK\r\nTransfer-Encoding: chunked\r\n${close}`,
    '5\r\nhello\r\n0\r\nX-End: 1\r\n\r\n',
  ),
  'one 100': head('100 Continue') + head(`200 OK\r\nContent-Length: 5\r\n${close}`, 'hello'),
  'early hints':
    many(20, head('103 Early Hints\r\nLink: </a.css>')) +
    head(`200 OK\r\nContent-Length: 5\r\n${close}`, 'hello'),
  'a switch of protocols': head('101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade'),
  'large headers': head(
    `200 OK\r\n${many(200, `X-Large: ${many(100, 'x')}\r\n`)}${close}`,
    'hello',
  ),
  'a header without a colon': head(`200 OK\r\nthis is none\r\n${close}`, 'hello'),
  'no status': 'HTTP/1.1\r\n\r\nhello',
  'a status of 99': head(`99 Low\r\n${close}`, 'hello'),
  'a status of 999': head(`999 High\r\n${close}`, 'hello'),
  'a status of 600': head(`600 High\r\n${close}`, 'hello'),
  'HTTP/0.9': 'hello',
  nothing: '',
  'half of the headers': 'HTTP/1.1 200 OK\r\nContent-Len',
  'a 204 with a body': head(`204 No Content\r\nContent-Length: 5\r\n${close}`, 'hello'),
  'a 304 with a body': head(`304 Not Modified\r\nContent-Length: 5\r\n${close}`, 'hello'),
  'gzip that is none': head(
    `200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n${close}`,
    'hello',
  ),
  'an encoding that nobody knows': head(
    `200 OK\r\nContent-Encoding: x-own\r\nContent-Length: 5\r\n${close}`,
    'hello',
  ),
  'garbage after the end': head('200 OK\r\nContent-Length: 5', 'hello\0\0garbage'),
  'a second answer':
    head('200 OK\r\nContent-Length: 5', 'hello') + head('500 No\r\nContent-Length: 2', 'no'),
  'a redirect without a place': head(`302 Found\r\nContent-Length: 0\r\n${close}`),
  'a redirect to nowhere': head(`302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n${close}`),
  'a redirect to itself': head(`302 Found\r\nLocation: /\r\nContent-Length: 0\r\n${close}`),
  'a redirect to a file': head(
    `302 Found\r\nLocation: file:///etc/hosts\r\nContent-Length: 0\r\n${close}`,
  ),
  'an empty error': head(`503 Down\r\nContent-Length: 0\r\n${close}`),
  'an error that is cut': head(`503 Down\r\nContent-Length: 100\r\n${close}`, 'short'),
  'an error of garbage': head(
    `500 No\r\nContent-Encoding: br\r\nContent-Length: 5\r\n${close}`,
    'hello',
  ),
  'Retry-After without end': head(
    `503 Down\r\nRetry-After: ${many(400, '9')}\r\nContent-Length: 2\r\n${close}`,
    'no',
  ),
  'Retry-After of every shape': head(
    `503 Down\r\nRetry-After: -1\r\nRetry-After: soon\r\nRetry-After: 1e9\r\nContent-Length: 2\r\n${close}`,
    'no',
  ),
  'a status text that is long': head(
    `200 ${many(1000, 'x')}\r\nContent-Length: 5\r\n${close}`,
    'hello',
  ),
};

const loop = `${lies['a redirect to itself']}`;

let server: Server;
let origin = '';

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      const name = decodeURIComponent(/lie=([^ &]*)/.exec(String(bytes))?.[1] ?? '');
      socket.end(lies[name] ?? loop, 'latin1');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

/** What a caller gets: status and text, or where it failed. */
async function outcomeOf(fetchLike: typeof fetch, url: string): Promise<string> {
  let response: Response | undefined;
  let isHttp = false;
  try {
    response = await fetchLike(url);
  } catch (error) {
    if (!isSteadfetchError(error) || error.code !== 'http') return 'no headers';
    ({ response } = error);
    isHttp = true;
  }
  const text = await response?.text().catch(() => 'no body');
  // An HttpError is what fetch calls not ok.
  return `${response?.status} ${text} ${isHttp && response?.ok ? 'and an HttpError' : ''}`;
}

test.each(Object.keys(lies))(
  '%s is to a caller of ours what it is to one of fetch',
  async (name) => {
    const url = `${origin}/?lie=${encodeURIComponent(name)}`;
    const native = await outcomeOf((...given) => fetch(...given), url);
    const ours = await outcomeOf(createSteadfetch({ policy: { timeout: Infinity } }).fetch, url);
    expect(ours).toBe(native);
  },
);
