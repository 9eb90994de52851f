import { createSteadfetch, HttpError, UnexpectedContentError } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeTime, observe, rejectionOf } from './observe.ts';

beforeEach(fakeTime);

const url = 'http://api.example/';

/** 30,000 bytes at once, as many again after 200 ms, 10,000 after 400 ms, and then silence. */
const silentAfter70Kilobytes = (): Response =>
  new Response(
    new ReadableStream({
      start(controller) {
        const give = (bytes: number): void => controller.enqueue(new Uint8Array(bytes));
        give(30_000);
        setTimeout(() => give(30_000), 200);
        setTimeout(() => give(10_000), 400);
      },
    }),
    { status: 500 },
  );

async function failWith<T extends Error>(
  asking: Promise<unknown>,
  kind: abstract new (...given: never[]) => T,
): Promise<T> {
  const error = await rejectionOf(asking);
  expect(error).toBeInstanceOf(kind);
  return error as T;
}

test('the long body of an error that is read at once has the limit of a silence', async () => {
  const timeout = { headersMs: 1000, bodyIdleMs: 500 };
  const steady = createSteadfetch({ fetch: async () => silentAfter70Kilobytes() });
  const { response } = await failWith(steady.fetch(url, { timeout }), HttpError);
  const reading = observe(response.text());
  await vi.advanceTimersByTimeAsync(899);
  expect(reading.error).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(reading.error).toMatchObject({ name: 'TimeoutError' });
});

test('the long body of an error that is read at once ends when its caller aborts', async () => {
  const controller = new AbortController();
  const steady = createSteadfetch({ fetch: async () => silentAfter70Kilobytes() });
  const asking = steady.fetch(url, { signal: controller.signal });
  const { response } = await failWith(asking, HttpError);
  const reading = observe(response.text());
  await vi.advanceTimersByTimeAsync(600);
  controller.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(reading.error).toMatchObject({ name: 'AbortError' });
});

test.each(['error first', 'clone first'])(
  'a page in place of JSON can be read as a stream, and from a clone too (%s)',
  async (order) => {
    const headers = { 'content-type': 'text/html' };
    const steady = createSteadfetch({
      fetch: async () => new Response(new Blob(['<p>hello</p>']).stream(), { headers }),
    });
    const { response } = await failWith(steady.json(url), UnexpectedContentError);
    const clone = response.clone();
    const stream = (): Promise<string> => new Response(response.body).text();
    const texts =
      order === 'error first'
        ? [await stream(), await clone.text()]
        : [await clone.text(), await stream()];
    expect(texts).toEqual(['<p>hello</p>', '<p>hello</p>']);
  },
);
