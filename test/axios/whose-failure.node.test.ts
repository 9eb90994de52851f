import { createReadStream } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { deflateSync } from 'node:zlib';
import type { AxiosRequestConfig } from 'axios';
import { createSteadfetch, outcomeOf, retry, type SteadfetchEvent } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import { versions } from './loopback.ts';

const long = 'x'.repeat(5000);

/** The answers of a server that never fails by itself, but for those that break off. */
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/': (response) => void response.end(long),
  '/down': (response) => void response.writeHead(503).end(long),
  '/loop': (response) => void response.writeHead(302, { location: '/loop' }).end(),
  '/elsewhere': (response) => void response.writeHead(302, { location: 'ftp://host/' }).end(),
  '/gzip': (response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end('this is no gzip'),
  '/deflate': (response) =>
    void response
      .writeHead(200, { 'content-encoding': 'deflate' })
      .end(Buffer.concat([deflateSync(long).subarray(0, 10), Buffer.from(long)])),
  '/cut': (response) => {
    response.writeHead(200, { 'content-length': 5000 }).write('x');
    setTimeout(() => response.destroy(), 10);
  },
  '/silent': () => {},
};

let origin = '';
const server = createServer((request, response) => {
  request.on('error', () => {}).resume();
  answers[request.url ?? '']?.(response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const failing = (): Readable =>
  new Readable({
    read() {
      this.destroy(new Error('the disk is full'));
    },
  });
const closing = (): Readable => {
  const stream = new Readable({ read() {} });
  stream.push('x');
  setTimeout(() => stream.destroy(), 10);
  return stream;
};

const invalid = { kind: 'invalid', processed: 'no' };
const unread = { kind: 'body', status: 200, processed: 'yes' };
const redirected = { kind: 'http', status: 302, inProgress: false, processed: 'unknown' };
const noAnswer = { kind: 'network', processed: 'unknown' };
const post = (data: unknown): AxiosRequestConfig => ({ method: 'post', data });
const throwing = {
  beforeRedirect() {
    throw new Error('not there');
  },
};

/** All that axios's adapter of Node throws by itself, and what the network makes it throw: whose failure is it? */
const cases: readonly (readonly [
  name: string,
  path: string,
  config: () => AxiosRequestConfig,
  outcome: object,
  recorded: 'ok' | 'http' | 'network' | undefined,
])[] = [
  ['an answer beyond maxContentLength', '/', () => ({ maxContentLength: 9 }), unread, 'ok'],
  [
    'a 503 beyond maxContentLength',
    '/down',
    () => ({ maxContentLength: 9 }),
    { kind: 'http', status: 503, inProgress: false, processed: 'unknown' },
    'http',
  ],
  ['a body that is no gzip', '/gzip', () => ({}), unread, 'ok'],
  ['a body that is half deflated', '/deflate', () => ({}), unread, 'ok'],
  ['a body that breaks off', '/cut', () => ({}), { ...unread, kind: expect.any(String) }, 'ok'],
  ['a redirect loop', '/loop', () => ({}), redirected, 'http'],
  ['a redirect loop of a write', '/loop', () => post('x'), redirected, 'http'],
  ['more redirects than maxRedirects', '/loop', () => ({ maxRedirects: 1 }), redirected, 'http'],
  ['a redirect with maxRedirects 0', '/loop', () => ({ maxRedirects: 0 }), redirected, 'http'],
  ['a redirect to another scheme', '/elsewhere', () => ({}), redirected, 'http'],
  ['a beforeRedirect that throws', '/loop', () => throwing, redirected, 'http'],
  [
    'a body beyond maxBodyLength',
    '/',
    () => ({ ...post(long), maxBodyLength: 9 }),
    invalid,
    undefined,
  ],
  [
    'a stream beyond maxBodyLength',
    '/',
    () => ({ ...post(Readable.from([Buffer.from(long)])), maxBodyLength: 9 }),
    invalid,
    undefined,
  ],
  ["a stream of the app's that fails", '/silent', () => post(failing()), invalid, undefined],
  ["a stream of the app's that is closed", '/silent', () => post(closing()), invalid, undefined],
  [
    'a file that is not there',
    '/silent',
    () => post(createReadStream('/nowhere')),
    invalid,
    undefined,
  ],
  ['no server', ':', () => ({}), noAnswer, 'network'],
];

describe.each(versions)('%s in Node', (version, axios) => {
  /** axios 0.x names an answer that breaks off as a time limit of its own. */
  const told = (name: string, outcome: object): object => {
    if (name !== 'a body that breaks off') return outcome;
    return version === 'axios 0.x'
      ? { kind: 'timeout', phase: 'body', processed: 'yes' }
      : { ...outcome, kind: 'body' };
  };

  // axios 0.x itself never ends then.
  const own = cases.filter(([name]) => version !== 'axios 0.x' || !name.endsWith('is closed'));

  test.each(own)(
    '%s is told as what it was, in the error that axios makes of it',
    async (...one) => {
      const [name, path, config, outcome, recorded] = one;
      vi.spyOn(console, 'warn').mockReturnValue();
      const steady = createSteadfetch({ policy: { maxRetries: 0 } });
      onTestFinished(() => steady.dispose());
      const ended: SteadfetchEvent[] = [];
      steady.subscribe((event) => {
        if (event.type === 'request:end') ended.push(event);
      });
      const plain = axios.create({ proxy: false });
      const api = axios.create({ proxy: false, adapter: steadyAdapter(steady, axios) });
      // A port on which nothing listens.
      const url = path === ':' ? 'http://127.0.0.1:59999/' : origin + path;
      const usual = (await rejectionOf(plain.request({ url, ...config() }))) as Error;
      const error = (await rejectionOf(
        retry(steady, ({ signal }) => api.request({ url, signal, ...config() })),
      )) as Error;
      expect(error).toMatchObject({ name: usual.name, message: usual.message });
      expect(outcomeOf(error)).toEqual(told(name, outcome));
      const [first] = ended;
      expect(first?.type === 'request:end' && first.outcome.kind).toBe(recorded ?? 'invalid');
    },
  );
});
