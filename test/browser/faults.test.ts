import { http, HttpResponse } from 'msw';
import { setupWorker } from 'msw/browser';
import { createSteadfetch } from 'steadfetch';
import {
  compose,
  cutBody,
  failTimes,
  type Fault,
  flaky,
  hang,
  networkError,
  rateLimited,
  slow,
} from 'steadfetch/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';

const worker = setupWorker();
const url = '/api/products';
let healthyCount = 0;

beforeAll(async () => {
  await worker.start({ quiet: true, onUnhandledFrame: 'bypass' });
});
beforeEach(() => {
  healthyCount = 0;
});
afterEach(() => {
  worker.resetHandlers();
  vi.useRealTimers();
});
afterAll(async () => {
  await worker.stop();
  // It would answer for the files that run in this browser after this one.
  for (const registration of await navigator.serviceWorker.getRegistrations())
    await registration.unregister();
});

/**
 * Puts a fault before a healthy handler. The promise resolves when the fault has been asked: a
 * request takes its way through the service worker first.
 */
function serve(fault: Fault): Promise<void> {
  return new Promise((resolve) => {
    worker.use(
      http.all(url, (info) => {
        const answer = fault(info);
        resolve();
        return answer;
      }),
      http.all(url, () => {
        healthyCount += 1;
        return HttpResponse.text('fine');
      }),
    );
  });
}

/** The statuses of requests that are sent one after the other; 0 for a network error. */
async function statuses(count: number): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i += 1) {
    seen.push(
      await fetch(url).then(
        ({ status }) => status,
        (error: unknown) => (error instanceof TypeError ? 0 : -1),
      ),
    );
  }
  return seen;
}

test('failTimes fails the first requests with its headers and body, and sees them as sent', async () => {
  const headers = { 'Retry-After': '5', 'Content-Type': 'application/problem+json' };
  const fault = failTimes(2, 503, { headers, body: '{"title":"Busy"}' });
  void serve(fault);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Idempotency-Key': '"k1"' },
    body: '{}',
  });
  expect(response.status).toBe(503);
  // As over HTTP/2, which has no reason phrase.
  expect(response.statusText).toBe('');
  expect(response.headers.get('Retry-After')).toBe('5');
  expect(await response.json()).toEqual({ title: 'Busy' });
  expect(await statuses(3)).toEqual([503, 200, 200]);

  expect(fault.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET']);
  expect(fault.requests[0]?.url).toBe(new URL(url, location.href).href);
  expect(fault.requests[0]?.headers.get('Idempotency-Key')).toBe('"k1"');
});

test('networkError makes fetch reject with a TypeError, and is asked once for each request', async () => {
  const fault = networkError({ times: 2 });
  void serve(fault);
  expect(await statuses(3)).toEqual([0, 0, 200]);
  expect(fault.requestCount).toBe(3);
});

test('flaky fails the requests that its seed chooses', async () => {
  void serve(flaky({ ratio: 0.3, seed: 7 }));
  const failed = (await statuses(12)).map((status) => (status === 503 ? 'x' : '.'));
  expect(failed.join('')).toBe('xx.....x..xx');
});

test('compose asks its faults in order', async () => {
  void serve(compose(failTimes(1, 500), networkError({ times: 1 })));
  expect(await statuses(3)).toEqual([500, 0, 200]);
});

test.each([
  ['seconds', '90'],
  ['date', 'Fri, 01 Jan 2027 00:00:30 GMT'],
] as const)(
  'rateLimited shows Retry-After as %s, and the Date header, to the page',
  async (as, retryAfter) => {
    const start = Date.UTC(2026, 11, 31, 23, 59);
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    void serve(rateLimited({ retryAfterSeconds: 90, as }));
    const response = await fetch(url);
    expect(response.status).toBe(429);
    expect(response.headers.get('Retry-After')).toBe(retryAfter);
    expect(response.headers.get('Date')).toBe('Thu, 31 Dec 2026 23:59:00 GMT');

    vi.setSystemTime(start + 89_999);
    expect(await statuses(1)).toEqual([429]);
    vi.setSystemTime(start + 90_000);
    expect(await statuses(1)).toEqual([200]);
  },
);

test('slow lets the next handler answer after its delay', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked = serve(slow({ delayMs: 300 }));
  const answer = fetch(url);
  await asked;
  vi.advanceTimersByTime(299);
  expect(vi.getTimerCount()).toBe(1);
  expect(healthyCount).toBe(0);
  vi.advanceTimersByTime(1);
  expect(await (await answer).text()).toBe('fine');
});

test('a request that hangs is ended by its abort at once, with the reason of the abort', async () => {
  const fault = hang();
  const asked = serve(fault);
  const controller = new AbortController();
  const reason = new Error('The user went away.');
  const answer = fetch(url, { signal: controller.signal });
  await asked;
  controller.abort(reason);
  await expect(answer).rejects.toBe(reason);

  // The service worker tells the page nothing of the abort. A reset ends what MSW still has.
  fault.reset();
  void serve(failTimes(Infinity, 503));
  expect(await statuses(2)).toEqual([503, 503]);
  expect(healthyCount).toBe(0);
});

test('a reset ends requests that hang with a network error, and the next one hangs again', async () => {
  const fault = hang({ times: 1 });
  for (let i = 0; i < 2; i += 1) {
    const asked = serve(fault);
    const answer = fetch(url);
    await asked;
    expect(fault.requestCount).toBe(1);
    expect(await statuses(1)).toEqual([200]);
    fault.reset();
    await expect(answer).rejects.toBeInstanceOf(TypeError);
    expect(fault.requestCount).toBe(0);
  }
});

test.each([0, 1, 10, 18])(
  'cutBody sends status and headers, and at most %i bytes, before reading fails',
  async (afterBytes) => {
    const body = '[{"id":1},{"id":2}]';
    void serve(cutBody({ body, afterBytes }));
    // Often, because what could go wrong is a race: the error overtaking the headers.
    for (let i = 0; i < 25; i += 1) {
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(response.headers.get('Content-Length')).toBe('19');
      expect(response.headers.get('Content-Type')).toBe('application/json');

      const received: string[] = [];
      const reading = response.body
        ?.pipeThrough(new TextDecoderStream())
        .pipeTo(new WritableStream({ write: (text) => void received.push(text) }));
      await expect(reading).rejects.toBeInstanceOf(TypeError);
      // How many of the bytes arrive is up to Chromium: an error discards what is not yet read.
      expect(body.slice(0, afterBytes).startsWith(received.join(''))).toBe(true);
    }
  },
);

test('a cut body is a broken one for steady.fetch, whatever the browser rejects with', async () => {
  void serve(cutBody());
  const error = await rejectionOf(createSteadfetch().json(url));
  expect(error).toMatchObject({ code: 'network', outcome: { kind: 'body', status: 200 } });
});

test.each(['text', 'json', 'blob', 'arrayBuffer'] as const)(
  'a cut body fails %s()',
  async (read) => {
    void serve(cutBody());
    const response = await fetch(url);
    await expect(response[read]()).rejects.toBeInstanceOf(TypeError);
  },
);
