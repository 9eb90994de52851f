import { expect, test, vi } from 'vitest';
import { api, createBrowser, settle } from './rig.ts';

const url = `${api}/docs/1`;

const handlers = {
  save: {
    mutationFn: (text: string, { fetch }: { readonly fetch: typeof globalThis.fetch }) =>
      fetch(url, { method: 'PUT', body: text }),
  },
} as const;

test('an entry does not undo what was written to its URL while it waited: it is a dead letter, which the user may send again', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { openTab, server, pass } = createBrowser();
  const saved: string[] = [];
  server.rule = (arrival) => {
    const isDown = arrival.body === 'draft 1' && saved.length === 0;
    if (!isDown) saved.push(arrival.body);
    arrival.answer(isDown ? 503 : 200);
  };
  const { outbox, steady } = openTab({ handlers });
  const { delivered, idempotencyKey } = outbox.submit('save', 'draft 1');
  const ended = delivered.catch((error: unknown) => error);
  await pass(200);
  const written = steady.fetch(url, { method: 'PUT', body: 'draft 2' });
  await pass(60_000);
  await written;
  expect(await ended).toMatchObject({ code: 'dead-letter' });
  expect(saved).toEqual(['draft 2']);
  expect(await outbox.find(idempotencyKey)).toMatchObject({
    state: 'dead',
    reason: 'superseded',
    processed: 'unknown',
  });
  await outbox.retry(idempotencyKey);
  await pass(1000);
  expect(saved).toEqual(['draft 2', 'draft 1']);
});

test('an entry that was written before the page was loaded does not undo what this page writes before it is sent', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { openTab, server, pass } = createBrowser();
  const saved: string[] = [];
  server.rule = (arrival) => {
    if (arrival.tab > 1) saved.push(arrival.body);
    arrival.answer(arrival.tab > 1 ? 200 : 503);
  };
  const first = openTab({ handlers });
  const { idempotencyKey } = first.outbox.submit('save', 'draft 1');
  await pass(100);
  first.crash();
  await settle();
  // It is the outbox that waits for its lock: the app writes at once.
  const second = openTab({ handlers });
  const written = second.steady.fetch(url, { method: 'PUT', body: 'draft 2' });
  await pass(60_000);
  await written;
  expect(saved).toEqual(['draft 2']);
  expect(await second.outbox.find(idempotencyKey)).toMatchObject({ reason: 'superseded' });
});

test.each([
  ['on, off and on', ['PUT', 'DELETE', 'PUT']],
  ['off and on', ['DELETE', 'PUT']],
])(
  'a like that was switched %s is as it was left, also after all dead letters are sent again',
  async (_, methods) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { openTab, server, pass } = createBrowser();
    let isUp = false;
    const done: string[] = [];
    server.rule = (arrival) => {
      if (!isUp) return arrival.cut();
      done.push(arrival.method);
      arrival.answer(200);
    };
    const like = {
      mutationFn: (
        method: string,
        { fetch }: { fetch: (url: string, init: RequestInit) => Promise<Response> },
      ) => fetch(`${api}/likes/1`, { method }),
    };
    const { outbox } = openTab({ handlers: { like } });
    for (const method of methods) {
      outbox.submit('like', method);
      await pass(700);
    }
    await pass(15_000);
    isUp = true;
    await pass(60_000, 1000);
    expect(done).toEqual(['PUT']);
    await outbox.retryAll();
    await pass(10_000);
    expect(done).toEqual(['PUT']);
  },
);
