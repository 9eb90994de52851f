import { http, HttpResponse } from 'msw';
import {
  compose,
  duplicateDelivery,
  duplicates,
  failTimes,
  keysSeen,
  loseAnswer,
  withoutCors,
} from 'steadfetch/testing';
import { describe, expect, test } from 'vitest';
import { startServer } from './start-server.ts';

const server = startServer();
const url = 'http://api.test/orders/7';

const post = (key: string, body: string): Promise<string> =>
  fetch(url, { method: 'POST', headers: { 'Idempotency-Key': key }, body }).then(
    (response) => response.text(),
    (error: unknown) => (error instanceof TypeError ? 'TypeError' : 'another error'),
  );

/** A server that notes what it does, and answers with how much that is. */
function createShop() {
  const done: string[] = [];
  const take = async ({
    request,
    params,
  }: {
    readonly request: Request;
    readonly params: { readonly id?: string | readonly string[] };
  }) => {
    done.push(`${String(params.id)} ${await request.text()}`);
    return HttpResponse.text(`${done.length} done`);
  };
  return { done, take };
}

describe('loseAnswer', () => {
  test('the server does it, and the page sees a broken connection', async () => {
    const { done, take } = createShop();
    const fault = loseAnswer(take, { times: 1 });
    server.use(http.post('http://api.test/orders/:id', fault));
    expect([await post('"a"', 'lamp'), await post('"a"', 'lamp')]).toEqual(['TypeError', '2 done']);
    expect(done).toEqual(['7 lamp', '7 lamp']);
    expect(fault.requestCount).toBe(2);
    fault.reset();
    expect(await post('"a"', 'lamp')).toBe('TypeError');
  });

  test('a resolver without an answer is an error that says so', async () => {
    const fault = loseAnswer(() => undefined);
    await expect(fault({ request: new Request(url) })).rejects.toThrow(
      'loseAnswer: its resolver gave no answer to GET http://api.test/orders/7.',
    );
  });

  test('its description says what it does', () => {
    const { take } = createShop();
    expect(loseAnswer(take, { times: 1 }).description).toBe(
      'loses the answer to the first request, then lets them through',
    );
  });
});

describe('duplicateDelivery', () => {
  test('the server gets a request twice, the page the second answer', async () => {
    const { done, take } = createShop();
    const fault = duplicateDelivery(take, { times: 1 });
    server.use(http.post('http://api.test/orders/:id', fault));
    expect([await post('"a"', 'lamp'), await post('"b"', 'sofa')]).toEqual(['2 done', '3 done']);
    expect(done).toEqual(['7 lamp', '7 lamp', '7 sofa']);
    expect(keysSeen(fault)).toEqual(['a', 'b']);
    expect(duplicates(fault)).toEqual([fault.requests[1]]);
    fault.reset();
    expect(await post('"c"', 'desk')).toBe('5 done');
  });
});

describe('withoutCors', () => {
  test('the answers of a fault cannot be read, and what it lets through can', async () => {
    const fault = failTimes(1, 503);
    const hidden = withoutCors(fault);
    const { done, take } = createShop();
    server.use(
      http.post('http://api.test/orders/:id', hidden),
      http.post('http://api.test/orders/:id', take),
    );
    expect([await post('"a"', 'lamp'), await post('"a"', 'lamp')]).toEqual(['TypeError', '1 done']);
    expect(done).toEqual(['7 lamp']);
    hidden.reset();
    expect([fault.requestCount, hidden.requestCount]).toEqual([0, 0]);
    expect(hidden.description).toBe(
      'answers 503 to the first request, then lets them through, in answers that the page may not read',
    );
  });

  test('a request that asks for no CORS gets an answer', async () => {
    const request = new Request(url, { mode: 'no-cors' });
    expect((await withoutCors(failTimes(1, 503))({ request }))?.status).toBe(503);
  });
});

test('keysSeen and duplicates read keys with and without quotes, from any header', async () => {
  const fault = compose(failTimes(Infinity, 503));
  const send = (path: string, headers: HeadersInit) =>
    fault({ request: new Request(`http://api.test${path}`, { method: 'POST', headers }) });
  await send('/a', { 'Idempotency-Key': 'raw' });
  await send('/a', { 'Idempotency-Key': String.raw`"say \"hi\""` });
  await send('/b', { 'Idempotency-Key': 'raw' });
  await send('/a', {});
  await send('/a', {});
  await send('/a', { 'Idempotency-Key': 'raw', 'PayPal-Request-Id': 'p' });
  expect(keysSeen(fault)).toEqual(['raw', 'say "hi"']);
  expect(duplicates(fault)).toEqual([fault.requests[5]]);
  expect(keysSeen(fault, { header: 'PayPal-Request-Id' })).toEqual(['p']);
  expect(duplicates(fault, { header: 'PayPal-Request-Id' })).toEqual([]);
});
