import { createSteadfetch, NetworkError, retry } from 'steadfetch';
import { beforeEach, expect, inject, test, vi } from 'vitest';
import { bodyReaderEntries } from '../core/fetch/body-readers.ts';
import { rejectionOf } from '../core/fetch/observe.ts';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

test.each(['reset', 'close', 'garbage'] as const)(
  'a connection that ends in "%s" before any header is a NetworkError, after one request',
  async (answer) => {
    const talk = openTalk(origin, answer);
    const error = await rejectionOf(createSteadfetch().fetch(talk.url));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({
      code: 'network',
      outcome: { kind: 'network', processed: 'unknown' },
      operation: { method: 'GET', url: talk.url, attempt: 1 },
    });
    expect((error as NetworkError).cause).toBeInstanceOf(TypeError);
    expect((await talk.log()).requests).toHaveLength(1);
  },
);

test('a POST whose connection is reset may have been done: the server has all of it', async () => {
  const talk = openTalk(origin, 'reset');
  const init = { method: 'POST', body: 'order', headers: { 'content-type': 'text/plain' } };
  const error = await rejectionOf(createSteadfetch().fetch(talk.url, init));
  expect(error).toMatchObject({ code: 'network', outcome: { processed: 'unknown' } });
  expect((await talk.log()).requests).toMatchObject([{ method: 'POST', body: 'order' }]);
});

test.each([
  ['reset', 'open'],
  ['reset', 'open-with-length'],
  ['cut', 'open'],
  ['cut', 'open-with-length'],
] as const)(
  'a body broken off by "%s" (%s) is a NetworkError of every reader',
  async (how, answer) => {
    for (const [name, read] of bodyReaderEntries) {
      const talk = openTalk(origin, answer);
      const response = await createSteadfetch().fetch(talk.url);
      const thrown = rejectionOf(read(response));
      await talk.tell(how);
      const error = await thrown;
      expect(error, name).toBeInstanceOf(NetworkError);
      expect(error, name).toMatchObject({
        code: 'network',
        outcome: { kind: 'body', status: 200, processed: 'yes' },
      });
      expect((error as NetworkError).response, name).toBe(response);
    }
  },
);

test('a body broken off before anybody reads it is a NetworkError of the late reader', async () => {
  const talk = openTalk(origin, 'open-with-length');
  const response = await createSteadfetch().fetch(talk.url);
  await talk.tell('reset');
  await talk.closed(1);
  expect(await rejectionOf(response.text())).toMatchObject({ code: 'network' });
});

test('with limits on silence a broken body is a NetworkError of every reader, too', async () => {
  const timeout = { headersMs: 60_000, bodyIdleMs: 60_000 };
  for (const [name, read] of bodyReaderEntries) {
    const talk = openTalk(origin, 'open');
    const response = await createSteadfetch().fetch(talk.url, { timeout });
    const thrown = rejectionOf(read(response));
    await talk.tell('cut');
    expect(await thrown, name).toMatchObject({ code: 'network', outcome: { kind: 'body' } });
  }
});

test('the broken body of a 503 is a NetworkError with the outcome of the status', async () => {
  const talk = openTalk(origin, 'open-unavailable');
  const error = await rejectionOf(createSteadfetch().fetch(talk.url));
  const text = rejectionOf((error as { response: Response }).response.text());
  await talk.tell('cut');
  expect(await text).toMatchObject({ code: 'network', outcome: { kind: 'http', status: 503 } });
});

test('retry sends a GET again after a reset, and a cut body, until it has all of it', async () => {
  const talk = openTalk(origin, 'reset', 'unavailable', 'not-json', 'ok');
  const steady = createSteadfetch({ policy: { baseMs: 0 } });
  expect(await retry(steady, (context) => steady.json(talk.url, context))).toEqual({ id: 1 });
  expect((await talk.log()).requests).toHaveLength(4);
});
