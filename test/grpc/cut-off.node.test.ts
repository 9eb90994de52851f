import { createSteadfetch, outcomeOf } from 'steadfetch';
import { grpcOutcomes } from 'steadfetch/grpc';
import { describe, expect, test } from 'vitest';
import { fakeServer, origin, streaming } from '../core/fetch/fake-server.ts';
import { rejectionOf } from '../core/fetch/observe.ts';
import { frame, join, message, trailers } from './frames.ts';

const url = `${origin}/shop.v1.Orders/Create`;
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const end = trailers({ 'grpc-status': 0 });
const done = frame(2, '{}');

/** What each sends, whole; and what of it is not yet the end. */
const framed = [
  ['application/grpc-web', join(message(), end), message().length],
  ['application/grpc-web+proto', join(message('x'.repeat(70_000)), end), 69_000],
  ['application/grpc-web-text', base64(join(message(), end)), 16],
  [
    'application/grpc-web-text+proto; charset=utf-8',
    base64(message('ki')) + base64(end),
    base64(message('ki')).length,
  ],
  ['application/connect+proto', join(message(), message(), done), message().length * 2],
  ['application/connect+json', join(frame(0, '{}'), frame(3, 'zipped')), 9],
] as const;

const readers = {
  arrayBuffer: (response: Response) => response.arrayBuffer(),
  clone: (response: Response) => response.clone().text(),
  async body({ body }: Response) {
    for await (const _ of body ?? []);
  },
};

const asText = (content: Uint8Array | string): string => Buffer.from(content).toString('latin1');

/** A call whose body is this, written byte by byte, and then ends or breaks. */
async function call(
  contentType: string,
  content: string,
  isBroken: boolean,
  read: keyof typeof readers,
) {
  const { handler, wire } = streaming({ headers: { 'content-type': contentType } });
  const apis = [{ match: origin, outcomes: grpcOutcomes() }];
  const { rawFetch } = createSteadfetch({ fetch: fakeServer(handler).fetch, apis });
  const response = rawFetch(url, { method: 'POST', body: 'x' });
  // As latin-1: streaming() encodes as UTF-8, which has no single bytes above 127.
  for (const byte of Buffer.from(content, 'latin1')) wire.pushBytes(Uint8Array.of(byte));
  if (isBroken) wire.cut(new TypeError('network error'));
  else wire.end();
  return readers[read](await response);
}

describe.each(framed)('%s', (contentType, content, cutAt) => {
  const whole = asText(content);

  test.each(Object.keys(readers) as (keyof typeof readers)[])(
    'is read to its end by %s',
    async (read) => {
      await expect(call(contentType, whole, false, read)).resolves.not.toThrow();
    },
  );

  test.each([
    ['breaks off', true, 'body'],
    ['breaks off', true, 'arrayBuffer'],
    ['ends', false, 'arrayBuffer'],
    ['ends', false, 'body'],
    ['ends', false, 'clone'],
  ] as const)(
    'that %s (%s) before the frame of its end is unknown, read by %s',
    async (_, isBroken, read) => {
      for (const length of [cutAt, whole.length - 1]) {
        const error = await rejectionOf(call(contentType, whole.slice(0, length), isBroken, read));
        expect(outcomeOf(error)).toMatchObject({ kind: 'body', status: 200, processed: 'unknown' });
      }
    },
  );
});

test('a unary answer of Connect has no trailer: one that breaks off was done', async () => {
  for (const type of ['application/proto', 'application/json']) {
    const error = await rejectionOf(call(type, '{"na', true, 'arrayBuffer'));
    expect(outcomeOf(error)).toMatchObject({ kind: 'body', processed: 'yes' });
  }
});
