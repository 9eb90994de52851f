import { http, HttpResponse } from 'msw';
import {
  cutBody,
  type CutBodyOptions,
  hang,
  networkError,
  slow,
  virtualTime,
  type VirtualTime,
} from 'steadfetch/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createWaits } from '../../src/testing/faults/connection-faults.ts';
import { startServer } from './start-server.ts';

describe('networkError', () => {
  const server = startServer();
  const url = 'http://api.test/products';

  test('fetch rejects with a TypeError, for the first requests or for all', async () => {
    const once = networkError({ times: 1 });
    server.use(
      http.get(url, once),
      http.get(url, () => HttpResponse.text('fine')),
    );
    await expect(fetch(url)).rejects.toBeInstanceOf(TypeError);
    expect(await (await fetch(url)).text()).toBe('fine');
    // One rejection is one request: nothing below it sends it again.
    expect(once.requestCount).toBe(2);

    server.use(http.get(url, networkError()));
    await expect(fetch(url)).rejects.toBeInstanceOf(TypeError);
    await expect(fetch(url)).rejects.toBeInstanceOf(TypeError);
  });

  test('its description says whose connection breaks', () => {
    expect(networkError().description).toBe('breaks the connection of every request');
    expect(networkError({ times: 2 }).description).toBe(
      'breaks the connection of the first 2 requests, then lets them through',
    );
  });
});

describe('cutBody', () => {
  const server = startServer();
  const url = 'http://api.test/products';

  /** What the reader of a body gets: its text up to the error, and the error. */
  async function readUntilError(response: Response): Promise<{ text: string; error: unknown }> {
    const decoder = new TextDecoder();
    const reader = response.body?.getReader();
    let text = '';
    try {
      for (;;) {
        const chunk = await reader?.read();
        if (!chunk || chunk.done) return { text, error: 'The body came to its end.' };
        text += decoder.decode(chunk.value, { stream: true });
      }
    } catch (error) {
      return { text, error };
    }
  }

  async function answerOf(options?: CutBodyOptions): Promise<Response> {
    server.use(http.get(url, cutBody(options)));
    return fetch(url);
  }

  test('headers and a part of the body arrive, then reading fails', async () => {
    const response = await answerOf({ body: '[{"id":1},{"id":2}]', afterBytes: 10 });
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Length')).toBe('19');
    expect(response.headers.get('Content-Type')).toBe('application/json');
    expect(await readUntilError(response)).toEqual({
      text: '[{"id":1},',
      error: expect.any(TypeError),
    });
  });

  test('all ways to read the body fail alike', async () => {
    server.use(http.get(url, cutBody()));
    for (const read of ['text', 'json', 'blob', 'arrayBuffer'] as const) {
      const response = await fetch(url);
      await expect(response[read]()).rejects.toBeInstanceOf(TypeError);
    }
  });

  test('bytes are counted, not characters, and a half of them is the default', async () => {
    const { text } = await readUntilError(await answerOf({ body: 'äöüß', afterBytes: 6 }));
    expect(text).toBe('äöü');
    expect((await readUntilError(await answerOf({ body: 'äöüß' }))).text).toBe('äö');
  });

  test('it can break off before the first byte, with the headers sent', async () => {
    const response = await answerOf({ afterBytes: 0 });
    expect(response.status).toBe(200);
    expect(await readUntilError(response)).toEqual({ text: '', error: expect.any(TypeError) });
  });

  test('a big body is cut at the same byte', async () => {
    const response = await answerOf({ body: 'x'.repeat(3_000_000), afterBytes: 2_999_999 });
    const { text, error } = await readUntilError(response);
    expect(text.length).toBe(2_999_999);
    expect(error).toBeInstanceOf(TypeError);
  });

  test('status and headers are the ones that it is given', async () => {
    const response = await answerOf({ status: 503, headers: { 'Retry-After': '5' }, body: 'busy' });
    expect(response.status).toBe(503);
    expect(response.headers.get('Retry-After')).toBe('5');
    expect(response.headers.get('Content-Type')).toBeNull();
    expect((await readUntilError(response)).text).toBe('bu');
  });

  test('it lets the requests after the first ones through, and is asked once for each', async () => {
    const fault = cutBody({ times: 2 });
    server.use(
      http.get(url, fault),
      http.get(url, () => HttpResponse.text('fine')),
    );
    await expect((await fetch(url)).text()).rejects.toBeInstanceOf(TypeError);
    await expect((await fetch(url)).text()).rejects.toBeInstanceOf(TypeError);
    expect(await (await fetch(url)).text()).toBe('fine');
    expect(fault.requestCount).toBe(3);
  });

  test('its description says where the cut is', () => {
    expect(cutBody({ body: 'abcd', times: 1 }).description).toBe(
      'answers 200 and cuts the body after 2 of 4 bytes, for the first request, then lets them through',
    );
  });
});

describe('hang', () => {
  const server = startServer();
  const url = 'http://api.test/products';
  const healthy = vi.fn<() => Response>(() => HttpResponse.text('fine'));
  let time: VirtualTime;
  beforeEach(() => {
    time = virtualTime(vi);
    healthy.mockClear();
  });
  afterEach(() => time.restore());

  test('no answer comes, however long one waits', async () => {
    const fault = hang();
    server.use(http.get(url, fault), http.get(url, healthy));
    const settled = vi.fn<() => void>();
    const controller = new AbortController();
    fetch(url, { signal: controller.signal }).then(settled, settled);
    // Not longer: after 300 s Node's own fetch gives up.
    await time.advance(299_000);
    expect(fault.requestCount).toBe(1);
    expect(settled).not.toHaveBeenCalled();
    controller.abort();
    await time.settle();
  });

  test('an abort ends the request with its own reason, and the next handler is not asked', async () => {
    const fault = hang();
    server.use(http.get(url, fault), http.get(url, healthy));
    const controller = new AbortController();
    const reason = new Error('The user went away.');
    const answer = fetch(url, { signal: controller.signal });
    await time.settle();
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await time.settle();
    expect(fault.requestCount).toBe(1);
    expect(healthy).not.toHaveBeenCalled();
  });

  test('a reset ends the requests that hang with a network error', async () => {
    const fault = hang();
    server.use(http.get(url, fault), http.get(url, healthy));
    const answers = Promise.allSettled([fetch(url), fetch(url)]);
    await time.settle();
    fault.reset();
    expect(await answers).toEqual([
      { status: 'rejected', reason: expect.any(TypeError) },
      { status: 'rejected', reason: expect.any(TypeError) },
    ]);
    expect(healthy).not.toHaveBeenCalled();
  });

  test('it lets the requests after the first ones through', async () => {
    const fault = hang({ times: 1 });
    server.use(http.get(url, fault), http.get(url, healthy));
    const first = fetch(url);
    await time.settle();
    expect(await (await fetch(url)).text()).toBe('fine');
    fault.reset();
    await expect(first).rejects.toBeInstanceOf(TypeError);
  });

  test('its description says which requests get no answer', () => {
    expect(hang().description).toBe('leaves every request without an answer');
    expect(hang({ times: 1 }).description).toBe(
      'leaves the first request without an answer, then lets them through',
    );
  });
});

describe('slow', () => {
  const server = startServer();
  const url = 'http://api.test/products';
  const healthy = vi.fn<() => Response>(() => HttpResponse.text('fine'));
  let time: VirtualTime;
  beforeEach(() => {
    time = virtualTime(vi);
    healthy.mockClear();
  });
  afterEach(() => time.restore());

  test('the next handler answers, exactly that much later', async () => {
    server.use(http.get(url, slow({ delayMs: 300 })), http.get(url, healthy));
    const start = time.now();
    const answered = fetch(url).then(async (response) => [
      time.now() - start,
      await response.text(),
    ]);
    await time.advance(299);
    expect(healthy).not.toHaveBeenCalled();
    await time.advance(1);
    expect(await answered).toEqual([300, 'fine']);
  });

  test('a request that is aborted meanwhile goes no further', async () => {
    server.use(http.get(url, slow({ delayMs: 300 })), http.get(url, healthy));
    const controller = new AbortController();
    const answer = fetch(url, { signal: controller.signal });
    await time.settle();
    controller.abort('enough');
    await expect(answer).rejects.toBe('enough');
    await time.advance(1000);
    expect(healthy).not.toHaveBeenCalled();
  });

  test('a reset ends the requests that still wait with a network error', async () => {
    const fault = slow({ delayMs: 300 });
    server.use(http.get(url, fault), http.get(url, healthy));
    const answer = fetch(url);
    await time.settle();
    fault.reset();
    await expect(answer).rejects.toBeInstanceOf(TypeError);
    await time.advance(1000);
    expect(healthy).not.toHaveBeenCalled();
  });

  test('its description names the delay', () => {
    expect(slow({ delayMs: 300 }).description).toBe(
      'delays every request by 300 ms, then lets it through',
    );
  });
});

describe('the waits of a fault', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = virtualTime(vi);
  });
  afterEach(() => time.restore());

  /** A signal, and how many listeners it has. */
  function countedSignal() {
    const controller = new AbortController();
    const { signal } = controller;
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    return {
      controller,
      signal,
      listenerCount: () => added.mock.calls.length - removed.mock.calls.length,
    };
  }

  test('a wait without a delay sets no timer', () => {
    void createWaits().wait(new AbortController().signal);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('nothing is left of a wait that is over, aborted or ended', async () => {
    const waits = createWaits();
    const [over, aborted, ended] = [countedSignal(), countedSignal(), countedSignal()];

    const first = waits.wait(over.signal, 100);
    expect(over.listenerCount()).toBe(1);
    expect(vi.getTimerCount()).toBe(1);
    await time.advance(100);
    expect(await first).toBe(true);

    const second = waits.wait(aborted.signal, 100);
    aborted.controller.abort();
    expect(await second).toBe(false);

    const third = waits.wait(ended.signal, 100);
    waits.endAll();
    expect(await third).toBe(false);

    expect([over, aborted, ended].map(({ listenerCount }) => listenerCount())).toEqual([0, 0, 0]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a request that was aborted before does not wait', async () => {
    expect(await createWaits().wait(AbortSignal.abort(), 100)).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
