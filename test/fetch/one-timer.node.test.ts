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
  [
    'read twice, through a clone',
    answer('{}'),
    async ({ fetch }) => {
      const response = await fetch();
      return Promise.all([response.clone().json(), response.json()]);
    },
  ],
  ['read by steady.json', answer('{}'), ({ json }) => json()],
  ['empty', answer(null, 204), ({ fetch }) => fetch()],
  [
    'read from an HttpError',
    answer('{}', 404),
    ({ fetch }) => fetch().catch((error: unknown) => isHttpError(error) && error.response.json()),
  ],
])('a call whose body is %s sets one timer and adds one listener', async (_, transport, call) => {
  const caller = createCaller(transport);
  await call(caller);
  expect(caller.counts()).toEqual({ ...oneOfEach, ...nothingLeft });
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
  'a call that ends within the body (%s) sets one timer and adds one listener',
  async (end) => {
    const caller = createCaller(headersOnly);
    const read = (await caller.fetch()).json();
    caller[end]();
    await expect(read).rejects.toBeInstanceOf(Error);
    expect(caller.counts()).toEqual({ ...oneOfEach, ...nothingLeft });
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

test('a call without a signal sets one timer', async () => {
  const caller = createCaller(answer('{}'));
  await (await caller.fetch({ signal: null })).json();
  expect(caller.counts()).toMatchObject({ timersSet: 1, listenersAdded: 0, ...nothingLeft });
});

test('a call that limits the silences of its body has one timer at a time', async () => {
  const caller = createCaller(answer('{}'));
  const response = await caller.fetch({ timeout: { headersMs: 1000, bodyIdleMs: 500 } });
  await response.json();
  expect(caller.counts()).toMatchObject({ timersAtOnce: 1, listenersAdded: 1, ...nothingLeft });
});
