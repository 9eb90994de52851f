import {
  type Clock,
  createSteadfetch,
  isHttpError,
  type SteadyInit,
  type Transport,
} from 'steadfetch';
import { expect, test, vi } from 'vitest';

const url = 'http://localhost:3000/products';

/** A steady.fetch with a signal, and a count of all that its calls set, add and clear. */
function createCaller(transport: Transport) {
  const timers = { set: 0, pending: new Map<unknown, () => void>(), mostPending: 0 };
  const clock: Clock = {
    now: () => 0,
    setTimeout(callback) {
      timers.pending.set(++timers.set, callback);
      timers.mostPending = Math.max(timers.mostPending, timers.pending.size);
      return timers.set;
    },
    clearTimeout: (handle) => void timers.pending.delete(handle),
  };
  const controller = new AbortController();
  const { signal } = controller;
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  const { fetch, json } = createSteadfetch({ fetch: transport, clock });

  return {
    fetch: (init?: SteadyInit) => fetch(url, { signal, ...init }),
    json: () => json(url, { signal }),
    abort: () => controller.abort(),
    /** The time of the timer is up. */
    expire() {
      for (const [handle, callback] of timers.pending) {
        timers.pending.delete(handle);
        callback();
      }
    },
    counts() {
      const gone = new Set(removed.mock.calls.map(([, listener]) => listener));
      const listening = added.mock.calls.filter(([, listener]) => !gone.has(listener));
      return {
        timersSet: timers.set,
        timersAtOnce: timers.mostPending,
        timersLeft: timers.pending.size,
        listenersAdded: added.mock.calls.length,
        listenersLeft: listening.length,
      };
    },
  };
}

type Caller = ReturnType<typeof createCaller>;

const oneOfEach = { timersSet: 1, timersAtOnce: 1, listenersAdded: 1 };
const nothingLeft = { timersLeft: 0, listenersLeft: 0 };

const answer =
  (body: BodyInit | null, status = 200): Transport =>
  async () =>
    new Response(body, { status });

/** No answer ever comes; an abort is heard. */
const silence: Transport = (_, init) =>
  new Promise((_resolve, reject) => {
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
  });

/** The headers come and the body does not; an abort is heard. */
const headersOnly: Transport = async (_, init) =>
  new Response(
    new ReadableStream({
      start(controller) {
        init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
      },
    }),
  );

async function readStream(response: Response): Promise<void> {
  for await (const _ of response.body ?? []);
}

test.each<[string, Transport, (caller: Caller) => Promise<unknown>]>([
  ['read by json()', answer('{}'), async ({ fetch }) => (await fetch()).json()],
  ['read by text()', answer('{}'), async ({ fetch }) => (await fetch()).text()],
  ['read by arrayBuffer()', answer('{}'), async ({ fetch }) => (await fetch()).arrayBuffer()],
  ['read by blob()', answer('{}'), async ({ fetch }) => (await fetch()).blob()],
  ['read by bytes()', answer('{}'), async ({ fetch }) => (await fetch()).bytes()],
  [
    'read by formData()',
    answer(new URLSearchParams({ id: '1' })),
    async ({ fetch }) => (await fetch()).formData(),
  ],
  ['read as a stream', answer('{}'), async ({ fetch }) => readStream(await fetch())],
  ['cancelled', answer('{}'), async ({ fetch }) => (await fetch()).body?.cancel()],
  ['read by steady.json', answer('{}'), ({ json }) => json()],
  ['empty', answer(null, 204), ({ fetch }) => fetch()],
  [
    'read from an HttpError',
    answer('{}', 404),
    async ({ fetch }) => {
      const error: unknown = await fetch().catch((caught: unknown) => caught);
      // Its body is read ahead by then.
      await new Promise((resolve) => void setImmediate(resolve));
      return isHttpError(error) && error.response.json();
    },
  ],
])(
  'a call whose body is %s has one timer at a time and one listener',
  async (_, transport, call) => {
    const caller = createCaller(transport);
    await call(caller);
    expect(caller.counts()).toMatchObject({ timersAtOnce: 1, listenersAdded: 1, ...nothingLeft });
  },
);

test('a call sets one timer for its headers, and one for all of its body', async () => {
  const parts = ['{"id"', ':', '1}'].map((part) => new TextEncoder().encode(part));
  const stream = new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part) controller.enqueue(part);
      else controller.close();
    },
  });
  const caller = createCaller(async () => new Response(stream));
  expect(await caller.json()).toEqual({ id: 1 });
  expect(caller.counts()).toEqual({ ...oneOfEach, timersSet: 2, ...nothingLeft });
});

test('an answer and its clone have one timer while they are read side by side', async () => {
  const caller = createCaller(answer('{}'));
  const response = await caller.fetch();
  await Promise.all([response.clone().json(), response.json()]);
  expect(caller.counts()).toMatchObject({ timersSet: 2, timersAtOnce: 1, ...nothingLeft });
});

test.each(['abort', 'expire'] as const)(
  'a call that ends before the headers (%s) sets one timer and adds one listener',
  async (end) => {
    const caller = createCaller(silence);
    const answered = caller.fetch();
    caller[end]();
    await expect(answered).rejects.toBeInstanceOf(Error);
    expect(caller.counts()).toEqual({ ...oneOfEach, ...nothingLeft });
  },
);

test.each(['abort', 'expire'] as const)(
  'a call that ends within the body (%s) has one timer at a time and one listener',
  async (end) => {
    const caller = createCaller(headersOnly);
    const read = (await caller.fetch()).json();
    caller[end]();
    await expect(read).rejects.toBeInstanceOf(Error);
    expect(caller.counts()).toEqual({ ...oneOfEach, timersSet: 2, ...nothingLeft });
  },
);

test('a call of an aborted signal sets and adds nothing', async () => {
  const caller = createCaller(answer('{}'));
  caller.abort();
  await expect(caller.fetch()).rejects.toMatchObject({ name: 'AbortError' });
  expect(caller.counts()).toMatchObject({ timersSet: 0, listenersAdded: 0 });
});

test('a call without a limit sets no timer', async () => {
  const caller = createCaller(answer('{}'));
  await (await caller.fetch({ timeout: Infinity })).json();
  expect(caller.counts()).toMatchObject({ timersSet: 0, listenersAdded: 1, ...nothingLeft });
});

test('a call without a signal adds no listener', async () => {
  const caller = createCaller(answer('{}'));
  await (await caller.fetch({ signal: null })).json();
  expect(caller.counts()).toMatchObject({ timersSet: 2, listenersAdded: 0, ...nothingLeft });
});

test('a call that limits the silences of its body has one timer at a time', async () => {
  const caller = createCaller(answer('{}'));
  const response = await caller.fetch({ timeout: { headersMs: 1000, bodyIdleMs: 500 } });
  await response.json();
  expect(caller.counts()).toMatchObject({ timersAtOnce: 1, listenersAdded: 1, ...nothingLeft });
});
