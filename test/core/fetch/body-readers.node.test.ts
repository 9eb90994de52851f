import { createSteadfetch, type HttpError, type SteadyFetch } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { answer, fakeServer, type Handler, origin, streaming } from './fake-server.ts';
import { fakeTime, rejectionOf } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

const create = (handler: Handler): SteadyFetch =>
  createSteadfetch({ fetch: fakeServer(handler).fetch }).fetch;

const decode = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** The two kinds of time limit, which are watched in different ways. */
const timeouts = [10_000, { headersMs: 1000, bodyIdleMs: 500 }];

test.each(['{"id":', 'not JSON'])(
  'json() of "%s" stays the SyntaxError of JSON, and says what it would say without us',
  async (body) => {
    for (const timeout of timeouts) {
      const response = await create(answer(200, body))(url, { timeout });
      const error = await rejectionOf(response.json());
      expect(error).toBeInstanceOf(SyntaxError);
      expect(error).toEqual(await rejectionOf(new Response(body).json()));
    }
  },
);

test('json() of nothing is null where the answer is good, and natively a SyntaxError where it is a failure', async () => {
  expect(await (await create(answer(200, ''))(url)).json()).toBe(null);
  const error = await rejectionOf(create(answer(422, ''))(url));
  const { response } = error as HttpError;
  expect(await rejectionOf(response.json())).toEqual(await rejectionOf(new Response('').json()));
});

test('json() reads past a byte order mark, as fetch does', async () => {
  const response = await create(answer(200, '\uFEFF{"id":1}'))(url);
  expect(await response.json()).toEqual({ id: 1 });
});

test('formData() of something else stays the TypeError of fetch', async () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  const response = await create(answer(200, 'no form', headers))(url);
  const error = await rejectionOf(response.formData());
  expect(error).toBeInstanceOf(TypeError);
});

test('blob() keeps the content type', async () => {
  for (const timeout of timeouts) {
    const response = await create(answer(200, 'a', { 'content-type': 'image/png' }))(url, {
      timeout,
    });
    expect((await response.blob()).type).toBe('image/png');
  }
});

test('a body can be read once, and the second time it is the TypeError of fetch', async () => {
  for (const timeout of timeouts) {
    const response = await create(answer(200, '1'))(url, { timeout });
    expect(response.bodyUsed).toBe(false);
    expect(await response.json()).toBe(1);
    expect(response.bodyUsed).toBe(true);
    expect(await rejectionOf(response.text())).toBeInstanceOf(TypeError);
    expect(() => response.clone()).toThrow(TypeError);
  }
});

test('two at once are one too many', async () => {
  for (const timeout of timeouts) {
    const response = await create(answer(200, 'content'))(url, { timeout });
    const [first, second] = await Promise.allSettled([response.text(), response.text()]);
    expect(first).toMatchObject({ value: 'content' });
    expect(second).toMatchObject({ reason: { name: 'TypeError' } });
  }
});

test('a stream whose bytes text() has taken is a mistake of the program, not of the network', async () => {
  for (const timeout of timeouts) {
    const response = await create(answer(200, 'content'))(url, { timeout });
    const { body } = response;
    await response.text();
    const error = await rejectionOf((async () => body?.getReader().read())());
    expect(error).toBeInstanceOf(TypeError);
  }
});

test('while a reader holds the body nobody else can read or clone it', async () => {
  for (const timeout of timeouts) {
    const response = await create(answer(200, 'content'))(url, { timeout });
    const reader = response.body?.getReader();
    expect(response.body?.locked).toBe(true);
    expect(await rejectionOf(response.text())).toBeInstanceOf(TypeError);
    expect(() => response.clone()).toThrow(TypeError);
    expect(decode((await reader?.read())?.value)).toBe('content');
  }
});

test('a reader that lets go of an untouched body leaves it whole', async () => {
  for (const timeout of timeouts) {
    const response = await create(answer(200, 'content'))(url, { timeout });
    response.body?.getReader().releaseLock();
    expect(response.bodyUsed).toBe(false);
    expect(await response.text()).toBe('content');
  }
});

test('body is the same stream each time it is asked for', async () => {
  const response = await create(answer(200, 'content'))(url);
  expect(response.body).toBe(response.body);
});

test('looking at body does no harm to a later clone, of either', async () => {
  for (const timeout of timeouts) {
    const response = await create(answer(200, 'content'))(url, { timeout });
    expect(response.body).not.toBeNull();
    const copy = response.clone();
    expect(copy.body).not.toBeNull();
    expect(decode((await response.body?.getReader().read())?.value)).toBe('content');
    expect(await copy.text()).toBe('content');
  }
});

test('an answer without a body has none', async () => {
  for (const timeout of timeouts) {
    const response = await create(answer(204))(url, { timeout });
    expect(response.body).toBeNull();
    expect(await response.text()).toBe('');
    expect((await response.arrayBuffer()).byteLength).toBe(0);
  }
});

test('cancelling body reaches the server, with its reason', async () => {
  const cancel = vi.fn<(reason: unknown) => void>();
  const stream = new ReadableStream({ cancel });
  const response = await create(() => new Response(stream))(url);
  await response.body?.cancel('seen enough');
  expect(cancel.mock.calls).toEqual([['seen enough']]);
});

test('a body that is cancelled while a part of it is awaited is no failure', async () => {
  const { handler, wire } = streaming();
  const steady = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const ends: string[] = [];
  steady.subscribe((event) => {
    if (event.type === 'request:end') ends.push(event.outcome.kind);
  });
  const response = await steady.fetch(url);
  const reader = (response.body as ReadableStream).getReader();
  const reading = reader.read();
  await reader.cancel('seen enough');
  expect([await reading, wire.cancelledWith()]).toEqual([
    { done: true, value: undefined },
    'seen enough',
  ]);
  await new Promise((passed) => void setImmediate(passed));
  expect(ends).toEqual(['ok']);
});

test('leaving a for await loop cancels the body', async () => {
  const cancel = vi.fn<() => void>();
  const stream = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel,
  });
  const response = await create(() => new Response(stream))(url);
  for await (const chunk of response.body ?? []) {
    expect(chunk).toEqual(new Uint8Array(1));
    break;
  }
  expect(cancel).toHaveBeenCalledOnce();
});

test('a body that nobody reads is not pulled from the server', async () => {
  let pulls = 0;
  const stream = new ReadableStream(
    {
      pull(controller) {
        pulls += 1;
        controller.enqueue(new Uint8Array(1));
      },
    },
    { highWaterMark: 0 },
  );
  const response = await create(() => new Response(stream))(url);
  const reader = response.body?.getReader();
  expect(pulls).toBe(0);
  await reader?.read();
  expect(pulls).toBe(1);
});

test('a Response that the transport gives twice belongs to the request that had it last', async () => {
  const broken = new TypeError('Failed to fetch');
  const stream = new ReadableStream({ pull: (controller) => controller.error(broken) });
  const same = new Response(stream);
  const steady = createSteadfetch({ fetch: async () => same });
  const prototype = Object.getPrototypeOf(await steady.fetch(`${url}/first`)) as object;
  const response = await steady.fetch(`${url}/second`);
  expect(response).toBe(same);
  expect(Object.getPrototypeOf(response)).toBe(prototype);
  await expect(response.text()).rejects.toMatchObject({
    name: 'NetworkError',
    operation: { url: `${url}/second` },
    cause: broken,
  });
});

test('a reader with a buffer of its own reads our body, and that of a clone, as it reads the native one', async () => {
  for (const timeout of [1000, { headersMs: 1000, bodyIdleMs: 1000 }]) {
    for (const isClone of [false, true]) {
      const { handler, wire } = streaming();
      const response = await createSteadfetch({ fetch: fakeServer(handler).fetch }).fetch(url, {
        timeout,
      });
      const reader = (isClone ? response.clone() : response).body?.getReader({ mode: 'byob' });
      wire.push('content');
      const first = await reader?.read(new Uint8Array(3));
      const rest = await reader?.read(new Uint8Array(100));
      wire.end();
      const last = await reader?.read(new Uint8Array(8));
      const text = [first, rest].map((part) => new TextDecoder().decode(part?.value));
      expect([text, last?.done, last?.value?.byteLength]).toEqual([['con', 'tent'], true, 0]);
    }
  }
});

test('a body that is no byte stream stays one: its chunks are what they are', async () => {
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue('a text');
      controller.close();
    },
  });
  const { fetch } = createSteadfetch({ fetch: async () => new Response(stream) });
  const reader = (await fetch(url)).body?.getReader();
  expect(await reader?.read()).toEqual({ done: false, value: 'a text' });
});
