import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import {
  duplicateDelivery,
  duplicates,
  keysSeen,
  loseAnswer,
  outage,
  virtualTime,
  withoutCors,
} from 'steadfetch/testing';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';

// npm run matrix runs it under every runner and with every MSW. It is not about what a fault does, which
// has tests of its own, but that it does so everywhere.

// Of the page's own origin: happy-dom asks another one whether it may send (CORS).
const url = new URL('/api/orders', location.href).href;
const server = setupServer();
beforeAll(() => server.listen());
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

const send = (key: string) =>
  fetch(url, { method: 'POST', headers: { 'Idempotency-Key': key }, body: 'lamp' }).then(
    (response) => response.text(),
    () => 'no answer',
  );

/** A server that notes what it does, and answers with how much that is. */
function createShop() {
  const done: string[] = [];
  const take = async ({ request }: { readonly request: Request }) => {
    done.push(await request.text());
    return HttpResponse.text(`${done.length} done`);
  };
  return { done, take };
}

test('loseAnswer: the server does it, and the page sees a broken connection', async () => {
  const { done, take } = createShop();
  server.use(http.post(url, loseAnswer(take, { times: 1 })));
  expect([await send('"a"'), await send('"a"')]).toEqual(['no answer', '2 done']);
  expect(done).toEqual(['lamp', 'lamp']);
});

test('duplicateDelivery: the server gets a request twice, and its key is seen twice', async () => {
  const { done, take } = createShop();
  const fault = duplicateDelivery(take, { times: 1 });
  server.use(http.post(url, fault));
  expect([await send('"a"'), await send('"b"')]).toEqual(['2 done', '3 done']);
  expect(done).toEqual(['lamp', 'lamp', 'lamp']);
  expect(keysSeen(fault)).toEqual(['a', 'b']);
  expect(duplicates(fault).length).toBe(1);
});

test('withoutCors: what has been done cannot be read', async () => {
  const { done, take } = createShop();
  server.use(http.post(url, withoutCors(take)));
  expect(await send('"a"')).toBe('no answer');
  expect(done).toEqual(['lamp']);
});

test('outage: requests within it fail', async () => {
  const time = virtualTime(vi, {});
  try {
    const { take } = createShop();
    server.use(http.post(url, outage({ fromMs: 1000, toMs: 2000 })), http.post(url, take));
    const answers: string[] = [];
    for (const waitMs of [0, 999, 1, 999, 1]) {
      await time.advance(waitMs);
      const answer = send('"a"');
      await time.settle();
      answers.push(await answer);
    }
    expect(answers).toEqual(['1 done', '2 done', '', '', '3 done']);
  } finally {
    time.restore();
  }
});
