import { http, HttpResponse } from 'msw';
import { cutBody, type CutBodyOptions } from 'steadfetch/testing';
import { expect, test } from 'vitest';
import { startServer } from './start-server.ts';

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
