import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSteadfetch, type PolicyOptions, type SteadyFetch, TimeoutError } from 'steadfetch';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { answer, fakeServer, hang, origin } from './fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from './observe.ts';

afterEach(() => void vi.useRealTimers());

const url = `${origin}/files`;
type Init = Parameters<SteadyFetch>[1];
const bytes = (size: number): Uint8Array<ArrayBuffer> => new Uint8Array(size);

/** When a hanging server is given up, in milliseconds. */
async function limitOf(
  given: Init | Request,
  policy: PolicyOptions = {},
): Promise<{ readonly limitMs: number; readonly error: unknown }> {
  fakeTime();
  const startedAt = Date.now();
  const steady = createSteadfetch({ fetch: fakeServer(hang).fetch, policy });
  const sent =
    given instanceof Request ? steady.fetch(given) : steady.fetch(url, { method: 'PUT', ...given });
  const result = observe(sent);
  await vi.advanceTimersByTimeAsync(0);
  while (result.state === 'pending' && Date.now() - startedAt < 2_000_000) {
    vi.advanceTimersToNextTimer();
    await settled();
  }
  return { limitMs: Date.now() - startedAt, error: result.error };
}

function form(): FormData {
  const data = new FormData();
  data.set('note', 'x'.repeat(32_000));
  data.set('file', new File([bytes(32_000)], 'photo.jpg'));
  return data;
}

const request = (body: BodyInit): Request => new Request(url, { method: 'PUT', body });

const bodies: readonly (readonly [name: string, given: () => Init | Request, addedMs: number])[] = [
  ['none', () => ({}), 0],
  ['a short JSON text', () => ({ body: '{"sku":"kite"}' }), 0],
  ['a text of one packet', () => ({ body: 'x'.repeat(1400) }), 0],
  ['a text', () => ({ body: 'x'.repeat(64_000) }), 2000],
  ['a long text', () => ({ body: 'x'.repeat(3_200_000) }), 100_000],
  [
    'a text of three bytes a character: as if it were one',
    () => ({ body: '€'.repeat(32_000) }),
    1000,
  ],
  ['a Blob', () => ({ body: new Blob([bytes(64_000)]) }), 2000],
  ['a File', () => ({ body: new File([bytes(12_000_000)], 'film.mp4') }), 375_000],
  ['an ArrayBuffer', () => ({ body: bytes(64_000).buffer }), 2000],
  ['a view of a part of one', () => ({ body: bytes(640_000).subarray(0, 64_000) }), 2000],
  ['a DataView', () => ({ body: new DataView(new ArrayBuffer(64_000)) }), 2000],
  ['URLSearchParams', () => ({ body: new URLSearchParams({ q: 'ä'.repeat(10_666) }) }), 2000],
  ['FormData with a file', () => ({ body: form() }), 2000],
  ['a Blob of React Native', () => ({ body: { size: 64_000 } as Blob }), 2000],
  [
    'FormData of React Native: as if it were 10 MB',
    () => ({ body: { getParts: () => [] } as unknown as FormData }),
    312_500,
  ],
  ['what fetch makes a text of', () => ({ body: 42 as unknown as string }), 0],
  ['a Request of text', () => request('x'.repeat(64_000)), 2000],
  ['a Request of a short text', () => request('x'.repeat(1400)), 0],
  [
    'a Request of JSON',
    () =>
      new Request(url, {
        method: 'PUT',
        body: JSON.stringify('x'.repeat(63_998)),
        headers: { 'content-type': 'application/json' },
      }),
    2000,
  ],
  [
    'a Request of JSON bytes',
    () =>
      new Request(url, {
        method: 'PUT',
        body: bytes(64_000),
        headers: { 'content-type': 'application/json' },
      }),
    2000,
  ],
  [
    'a Request with a Content-Length',
    () =>
      new Request(url, {
        method: 'PUT',
        body: bytes(64_000),
        headers: { 'content-length': '64000' },
      }),
    2000,
  ],
  ['a Request of bytes: as if they were 10 MB', () => request(bytes(10)), 312_500],
  [
    'a stream: as if it were 10 MB',
    () => ({ body: new ReadableStream(), duplex: 'half' }) as Init,
    312_500,
  ],
];

test.each(bodies)(
  'the headers are waited for as long as the body takes: %s',
  async (_, given, addedMs) => {
    const { limitMs, error } = await limitOf(given());
    expect(limitMs).toBe(10_000 + addedMs);
    expect(error).toBeInstanceOf(TimeoutError);
  },
);

test.each<readonly [PolicyOptions, number]>([
  [{ uploadBytesPerSecond: 64_000 }, 11_000],
  [{ uploadBytesPerSecond: Infinity }, 10_000],
  [{ timeout: 1000, uploadBytesPerSecond: 6400 }, 11_000],
  [{ timeout: { headersMs: 3000, bodyIdleMs: 500 } }, 5000],
])('by the policy %o', async (policy, limitMs) => {
  expect(await limitOf({ body: bytes(64_000) }, policy)).toMatchObject({ limitMs });
});

test('no limit stays none', async () => {
  fakeTime();
  const steady = createSteadfetch({ fetch: fakeServer(hang).fetch, policy: { timeout: Infinity } });
  void observe(steady.fetch(url, { method: 'PUT', body: bytes(64_000) }));
  await settled();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([0, -1, NaN, '32000'])('uploadBytesPerSecond must not be %s', (uploadBytesPerSecond) => {
  expect(() =>
    createSteadfetch({ policy: { uploadBytesPerSecond: uploadBytesPerSecond as number } }),
  ).toThrow('uploadBytesPerSecond');
});

describe('a stream', () => {
  test('arrives as it was', async () => {
    const server = fakeServer(async (taken) => new Response(await taken.text()));
    const steady = createSteadfetch({ fetch: server.fetch });
    const body = new Blob(['all ', 'of it']).stream();
    const response = await steady.fetch(url, { method: 'PUT', body, duplex: 'half' } as Init);
    expect(await response.text()).toBe('all of it');
  });

  test('that was read before is not sent', async () => {
    const server = fakeServer(answer());
    const steady = createSteadfetch({ fetch: server.fetch });
    const body = new Blob(['content']).stream();
    const reader = body.getReader();
    await reader.read();
    reader.releaseLock();
    const sent = steady.fetch(url, { method: 'PUT', body, duplex: 'half' } as Init);
    expect(await rejectionOf(sent)).toBeInstanceOf(Error);
    expect(server.requests).toEqual([]);
  });
});

describe('a body that may still be on its way at its limit', () => {
  /** Sends it three times with no answer, and then another. */
  async function timeOut(size: number, uploadBytesPerSecond: number) {
    fakeTime();
    const server = fakeServer(hang, hang, hang, answer());
    const policy = { uploadBytesPerSecond };
    const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, policy });
    onTestFinished(() => steady.dispose());
    // Each to a URL of its own, so that none is a later write to that of another.
    const results = [1, 2, 3].map((id) =>
      observe(steady.fetch(`${url}?${id}`, { method: 'PUT', body: bytes(size) })),
    );
    await vi.advanceTimersByTimeAsync(10_000 + (size / uploadBytesPerSecond) * 1000);
    const next = observe(steady.fetch(`${url}?1`, { method: 'PUT', body: bytes(10) }));
    await settled();
    return { errors: results.map(({ error }) => error), next };
  }

  test.each([32_000, Infinity])(
    'is no evidence against the server: the next request goes (%i bytes/s)',
    async (rate) => {
      const { errors, next } = await timeOut(12_800_000, rate);
      expect(errors).toMatchObject([{ code: 'timeout' }, { code: 'timeout' }, { code: 'timeout' }]);
      expect(next.state).toBe('resolved');
    },
  );

  test('says so', async () => {
    const { errors } = await timeOut(12_800_000, 32_000);
    expect((errors[0] as TimeoutError).cause).toHaveProperty(
      'message',
      `PUT ${url}: no headers within 410000 ms, while its body of 12800000 bytes may be on its way; ` +
        'give it a longer `timeout` if it is slow by nature.',
    );
    expect(errors[0]).toMatchObject({ outcome: { processed: 'unknown' } });
  });

  test('and one that must have arrived is evidence', async () => {
    const { errors, next } = await timeOut(64_000, 32_000);
    expect(String((errors[0] as TimeoutError).cause)).not.toContain('on its way');
    expect(next.state).toBe('pending');
  });
});

/** A server behind a slow line: it reads so many bytes in each millisecond or so, and answers what it got. */
async function startSlowServer(
  bytesPerMs: number,
): Promise<{ readonly url: string; readonly got: number[] }> {
  const got: number[] = [];
  const server: Server = createServer({ highWaterMark: 16_384 }, (incoming, response) => {
    let sum = 0;
    incoming.on('data', (chunk: Buffer) => {
      sum += chunk.length;
      incoming.pause();
      setTimeout(() => incoming.resume(), chunk.length / bytesPerMs);
    });
    incoming.on('end', () => {
      got.push(sum);
      response.end('"done"');
    });
    incoming.on('error', () => {});
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/files`, got };
}

test('on a real connection, a body that takes longer than the limit arrives, at the first attempt', async () => {
  const size = 4_000_000;
  const { url: slow, got } = await startSlowServer(80_000);
  // The body takes 50 ms, and more on a busy machine: ten seconds are added to the limit for it.
  const steady = createSteadfetch({ policy: { timeout: 20, uploadBytesPerSecond: 400_000 } });
  const response = await steady.fetch(slow, { method: 'PUT', body: new Blob([bytes(size)]) });
  expect(response.status).toBe(200);
  expect(got).toEqual([size]);
});

test('and is cut off without the option', async () => {
  const { url: slow, got } = await startSlowServer(80_000);
  const steady = createSteadfetch({ policy: { timeout: 20, uploadBytesPerSecond: Infinity } });
  const sent = steady.fetch(slow, { method: 'PUT', body: new Blob([bytes(4_000_000)]) });
  expect(await rejectionOf(sent)).toMatchObject({ code: 'timeout' });
  expect(got).toEqual([]);
});
