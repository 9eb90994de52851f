import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createSteadfetch, outcomeOf, retry, type Steadfetch } from 'steadfetch';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { rejectionOf } from './observe.ts';

let server: Server;
let origin = '';
const bodies: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const take = async (): Promise<void> => {
      bodies.push((await buffer(request)).toString());
      response.end('ok');
    };
    take().catch(() => {});
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => void bodies.splice(0));

const disk = new Error('the disk is full');
const text = new TextEncoder();

/** A body of two parts; or of the first, and then a failure. */
const streamOf = (error?: unknown): ReadableStream => {
  const parts = ['first ', 'second'];
  return new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part === undefined) return controller.close();
      if (error !== undefined && part === 'second') return controller.error(error);
      controller.enqueue(text.encode(part));
    },
  });
};
const early = (): ReadableStream =>
  new ReadableStream({ start: (controller) => controller.error(disk) });
const bytes = (): ReadableStream =>
  new ReadableStream({
    type: 'bytes',
    pull() {
      throw disk;
    },
  });
const node = (): Readable =>
  new Readable({
    read() {
      this.destroy(disk);
    },
  });

function open(): Steadfetch {
  const steady = createSteadfetch({ policy: { baseMs: 0 } });
  onTestFinished(() => steady.dispose());
  return steady;
}
const initOf = (body: unknown): RequestInit =>
  ({ method: 'PUT', body, duplex: 'half' }) as RequestInit;

test.each<[string, () => unknown]>([
  ['fails after its first part', () => streamOf(disk)],
  ['has failed before', early],
  ['of bytes fails', bytes],
  ['of Node fails', node],
])(
  'a stream of the app that %s is a failure of our own side, with the error of the stream',
  async (_, make) => {
    const steady = open();
    let runs = 0;
    const run = retry(
      steady,
      ({ signal }) => {
        runs++;
        return steady.fetch(origin, { ...initOf(make()), signal });
      },
      { idempotent: true },
    );
    const error = await rejectionOf(run);
    expect(error).toBe(disk);
    expect(outcomeOf(error)).toEqual({ kind: 'invalid', processed: 'no' });
    expect(runs).toBe(1);
  },
);

test('a stream that fails with what is no error is a failure of our own side, too', async () => {
  const error = await rejectionOf(open().fetch(origin, initOf(streamOf('full'))));
  expect(outcomeOf(error)).toEqual({ kind: 'invalid', processed: 'no' });
});

test('a stream that does not fail arrives as it is', async () => {
  const response = await open().fetch(origin, initOf(streamOf()));
  expect([await response.text(), bodies]).toEqual(['ok', ['first second']]);
});

test('a network that fails under a stream is no answer, and the stream is cancelled', async () => {
  const cancel = vi.fn<() => void>();
  const body = new ReadableStream({ cancel });
  const steady = createSteadfetch({
    fetch: async (_, init) => {
      await (init as { readonly body: ReadableStream }).body.cancel();
      throw new TypeError('Failed to fetch');
    },
  });
  const error = await rejectionOf(steady.fetch(origin, initOf(body)));
  expect(outcomeOf(error)).toEqual({ kind: 'network', processed: 'unknown' });
  expect(cancel).toHaveBeenCalledOnce();
});

test('a stream that was sent is spent: to send it again is a mistake', async () => {
  const steady = open();
  const init = initOf(streamOf());
  await steady.fetch(origin, init);
  const error = await rejectionOf(steady.fetch(origin, init));
  expect(outcomeOf(error)).toEqual({ kind: 'invalid', processed: 'no' });
});

test('a stream that its caller aborts is aborted', async () => {
  const steady = open();
  const stop = new AbortController();
  const body = new ReadableStream({ pull: () => stop.abort() });
  const error = await rejectionOf(steady.fetch(origin, { ...initOf(body), signal: stop.signal }));
  expect(outcomeOf(error)).toEqual({ kind: 'aborted', processed: 'unknown' });
});
