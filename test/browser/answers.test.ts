import { createSteadfetch, retry } from 'steadfetch';
import { expect, inject, test, vi } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');
const steady = createSteadfetch();

test('this page and the server are two origins, and no service worker stands between', () => {
  expect(origin).not.toBe(location.origin);
  expect(navigator.serviceWorker.controller).toBeNull();
});

test('a good answer is a Response with its status, headers, URL and body', async () => {
  const talk = openTalk(origin, 'ok');
  const response = await steady.fetch(talk.url);
  expect(response).toBeInstanceOf(Response);
  expect(response).toMatchObject({ ok: true, status: 200, type: 'cors', url: talk.url });
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.clone().text()).toBe('{"id":1}');
  expect(await response.json()).toEqual({ id: 1 });
  expect((await talk.log()).requests).toHaveLength(1);
});

test('what the browser does with a Response works with this one', async () => {
  const talk = openTalk(origin, 'ok');
  const response = await steady.fetch(talk.url);
  const cache = await caches.open('test');
  await cache.put(talk.url, response.clone());
  expect(await (await cache.match(talk.url))?.json()).toEqual({ id: 1 });
  await caches.delete('test');
  expect(await new Response(response.body, response).json()).toEqual({ id: 1 });
});

test('a redirect is followed by the browser: one attempt, two requests', async () => {
  const talk = openTalk(origin, 'redirect-to-next', 'ok');
  const response = await steady.fetch(talk.url);
  expect(response).toMatchObject({ status: 200, redirected: true });
  expect(await response.json()).toEqual({ id: 1 });
  expect((await talk.log()).requests).toHaveLength(2);
});

test('a redirect that is not to be followed passes through, with status 0', async () => {
  const talk = openTalk(origin, 'redirect-to-next', 'ok');
  const response = await steady.fetch(talk.url, { redirect: 'manual' });
  expect(response).toMatchObject({ type: 'opaqueredirect', status: 0 });
  expect((await talk.log()).requests).toHaveLength(1);
});

test('an opaque answer passes through, even one that is a failure', async () => {
  const talk = openTalk(origin, 'unavailable-without-cors');
  const response = await steady.fetch(talk.url, { mode: 'no-cors' });
  expect(response).toMatchObject({ type: 'opaque', status: 0 });
});

test('204 and HEAD have no body, and leave no timer', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  try {
    const noContent = await steady.fetch(openTalk(origin, 'no-content').url);
    expect(noContent.status).toBe(204);
    const head = await steady.fetch(openTalk(origin, 'ok').url, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    expect(await steady.json(openTalk(origin, 'no-content').url)).toBeNull();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('an HttpError carries the answer, and its body can be read', async () => {
  const talk = openTalk(origin, 'not-found');
  const error = await rejectionOf(steady.fetch(talk.url));
  expect(error).toMatchObject({ code: 'http', status: 404 });
  expect(await (error as { response: Response }).response.json()).toEqual({ problem: 'unknown' });
});

test('half of the JSON stays a SyntaxError', async () => {
  const error = await rejectionOf(steady.json(openTalk(origin, 'not-json').url));
  expect(error).toBeInstanceOf(SyntaxError);
});

test('a form with a file comes down whole, under both kinds of time limit', async () => {
  for (const timeout of [10_000, { headersMs: 10_000, bodyIdleMs: 10_000 }]) {
    const response = await steady.fetch(openTalk(origin, 'form').url, { timeout });
    const file = (await response.formData()).get('f') as File;
    expect(file).toMatchObject({ name: 'f.txt', type: 'text/plain' });
    expect(await file.text()).toBe('file');
  }
});

test('a FormData with a file goes up whole, once', async () => {
  const talk = openTalk(origin, 'ok');
  const form = new FormData();
  form.append('name', 'Ærø');
  form.append('file', new File(['content'], 'a.txt', { type: 'text/plain' }));
  await steady.fetch(talk.url, { method: 'POST', body: form });
  const { requests } = await talk.log();
  expect(requests).toMatchObject([
    { method: 'POST', headers: { 'content-type': expect.stringContaining('multipart/form-data') } },
  ]);
  expect(requests[0]?.body).toContain('Ærø');
  expect(requests[0]?.body).toContain('filename="a.txt"');
  expect(requests[0]?.body).toContain('content');
});

test.each([
  ['a bad URL', 'http://[', {}],
  ['credentials in the URL', 'http://name:secret@127.0.0.1/', {}],
  ['a GET with a body', origin, { body: 'content' }],
  ['a header that is none', origin, { headers: { 'no header': '1' } }],
])('%s stays the TypeError of the browser, and is not retried', async (_, url, init) => {
  const run = vi.fn<() => Promise<Response>>(() => steady.fetch(url, init));
  const error = await rejectionOf(retry(steady, run, { idempotent: true }));
  expect(error).toBeInstanceOf(TypeError);
  expect(run).toHaveBeenCalledTimes(1);
});
