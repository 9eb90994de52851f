import { QueryClient } from '@tanstack/react-query';
import { createIdempotencyKey, createSteadfetch, outcomeOf, profiles, retry } from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import { fakeServer, hang, type Handler, origin } from './fake-server.ts';
import { fakeTime, observe } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/report`;
const after =
  (ms: number): Handler =>
  () =>
    new Promise((resolve) => {
      setTimeout(() => resolve(Response.json('done')), ms);
    });
const create = (fetch: ReturnType<typeof fakeServer>['fetch'], config = {}) =>
  createSteadfetch({ fetch, random: () => 0.5, ...config });

describe('an endpoint that takes long to its headers', () => {
  test.each([
    [9000, 9000, 1],
    [12_000, 22_500, 2],
    [14_000, 24_500, 2],
    [19_000, 29_500, 2],
    [25_000, 56_500, 3],
    [39_000, 70_500, 3],
  ])(
    'of %i ms is answered after %i ms, with the limit of each attempt twice the one before',
    async (latencyMs, endMs, requests) => {
      const server = fakeServer(after(latencyMs));
      const steady = create(server.fetch, noOrigin);
      const result = observe(retry(steady, ({ signal }) => steady.json(url, { signal })));
      await vi.advanceTimersByTimeAsync(endMs - 1);
      expect(result.state).toBe('pending');
      await vi.advanceTimersByTimeAsync(1);
      expect(result).toMatchObject({ state: 'resolved', value: 'done' });
      expect(server.requests).toHaveLength(requests);
    },
  );

  test('is asked once by the operations that follow, which know how long it takes', async () => {
    const server = fakeServer(after(12_000));
    const steady = create(server.fetch);
    const ask = () => retry(steady, ({ signal }) => steady.json(url, { signal }));
    const first = observe(ask());
    await vi.advanceTimersByTimeAsync(22_500);
    expect(first.state).toBe('resolved');
    const second = observe(ask());
    await vi.advanceTimersByTimeAsync(12_000);
    expect(second.state).toBe('resolved');
    expect(server.requests).toHaveLength(3);
  });

  test.each([12_000, 25_000, 39_000])(
    'of %i ms is answered where there are many retries, too',
    async (latencyMs) => {
      const server = fakeServer(after(latencyMs));
      const steady = create(server.fetch, noOrigin);
      const ask = () =>
        retry(steady, ({ signal }) => steady.json(url, { signal }), { preset: 'critical' });
      const result = observe(ask());
      await vi.advanceTimersByTimeAsync(120_000);
      expect(result).toMatchObject({ state: 'resolved', value: 'done' });
    },
  );

  test('which never answers is waited for 10, 20 and 40 s, and then for 10 s again, which leaves time for more retries', async () => {
    const server = fakeServer(hang);
    const steady = create(server.fetch, noOrigin);
    observe(retry(steady, ({ signal }) => steady.json(url, { signal }), { preset: 'critical' }));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(server.timesMs).toEqual([0, 10_500, 31_500, 73_500, 87_500, 102_500, 117_500]);
  });

  test('has the limit of the app, and then twice that', async () => {
    const server = fakeServer(hang);
    const steady = create(server.fetch, { ...noOrigin, policy: { timeout: 1000 } });
    observe(retry(steady, ({ signal }) => steady.json(url, { signal }), { maxRetries: 2 }));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(server.timesMs).toEqual([0, 1500, 4500]);
  });
});

describe('a write that hangs', () => {
  const apis = [{ match: `${origin}/keyed`, idempotency: profiles.draft }];

  test.each<[string, string, RequestInit & { idempotent?: boolean; timeout?: number }, number]>([
    ['a POST without a key', url, { method: 'POST' }, 60_000],
    ['a PATCH without a key', url, { method: 'PATCH' }, 60_000],
    ['a POST without a key with a time limit', url, { method: 'POST', timeout: 500 }, 500],
    ['a POST that may be sent twice', url, { method: 'POST', idempotent: true }, 10_000],
    ['a PUT', url, { method: 'PUT' }, 10_000],
    ['a DELETE', url, { method: 'DELETE' }, 10_000],
    ['a GET', url, {}, 10_000],
  ])('%s is waited for as long as that does no harm', async (_, to, init, limitMs) => {
    const server = fakeServer(hang);
    const result = observe(create(server.fetch, { ...noOrigin, apis }).fetch(to, init));
    await vi.advanceTimersByTimeAsync(limitMs - 1);
    expect(result.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(result).toMatchObject({ state: 'rejected', error: { code: 'timeout' } });
  });

  test.each([
    ['PUT', 15_000, 2],
    ['PUT', 25_000, 3],
    ['PUT', 39_000, 3],
    ['DELETE', 39_000, 3],
    ['POST', 39_000, 3],
  ])(
    'and is only slow is done, on a page that sends nothing else: a %s that takes %i ms',
    async (method, latencyMs, requests) => {
      const server = fakeServer(after(latencyMs));
      const steady = create(server.fetch, { apis });
      const to = `${origin}/keyed`;
      const init =
        method === 'POST' ? { method, idempotencyKey: createIdempotencyKey() } : { method };
      const result = observe(retry(steady, ({ signal }) => steady.json(to, { ...init, signal })));
      await vi.advanceTimersByTimeAsync(600_000);
      expect(result).toMatchObject({ state: 'resolved', value: 'done' });
      expect(server.requests).toHaveLength(requests);
    },
  );

  test('and takes 15 s is done', async () => {
    const server = fakeServer(after(15_000));
    const result = observe(create(server.fetch).json(url, { method: 'POST' }));
    await vi.advanceTimersByTimeAsync(15_000);
    expect(result).toMatchObject({ state: 'resolved', value: 'done' });
  });
});

describe('a write with a key at a server that says 409 while its first request runs', () => {
  const apis = [{ match: origin, idempotency: profiles.draft }];

  /** Runs it once, for so long. Until then its key is answered 409, with these headers. */
  const running =
    (ms: number, headers: HeadersInit): Handler =>
    () => {
      const untilMs = (doneAt ??= Date.now() + ms);
      if (isBegun && Date.now() < untilMs) return new Response(null, { status: 409, headers });
      isBegun = true;
      return after(untilMs - Date.now())(new Request(origin));
    };
  let doneAt: number | undefined;
  let isBegun = false;
  beforeEach(() => {
    doneAt = undefined;
    isBegun = false;
  });

  /** Sends it once, with the given number of retries, until it has ended. */
  async function send(handler: Handler, maxRetries = 3, deadlineMs = 90_000) {
    const server = fakeServer(handler);
    const steady = create(server.fetch, { ...noOrigin, apis });
    const idempotencyKey = createIdempotencyKey();
    const result = observe(
      retry(steady, ({ signal }) => steady.json(url, { method: 'POST', idempotencyKey, signal }), {
        maxRetries,
        deadlineMs,
      }),
    );
    await vi.advanceTimersByTimeAsync(600_000);
    return { result, times: server.timesMs };
  }

  test.each<[number, Record<string, string>, number]>([
    [9000, { 'retry-after': '1' }, 1],
    [12_000, { 'retry-after': '1' }, 4],
    [15_000, { 'retry-after': '1' }, 5],
    [25_000, { 'retry-after': '1' }, 6],
    [60_000, { 'retry-after': '1' }, 9],
    [60_000, { 'retry-after': '20' }, 5],
    [60_000, { 'x-should-retry': 'true' }, 9],
  ])('for %i ms, with %j, has its answer after %i requests', async (ms, headers, requests) => {
    const { result, times } = await send(running(ms, headers));
    expect(result).toMatchObject({ state: 'resolved', value: 'done' });
    expect(times).toHaveLength(requests);
  });

  test('for longer than its deadline ends there, and it is not known whether it was done', async () => {
    const { result, times } = await send(running(500_000, { 'retry-after': '30' }));
    expect(times).toEqual([0, 10_500, 42_000, 73_500]);
    expect(result).toMatchObject({
      state: 'rejected',
      error: { status: 409, outcome: { processed: 'unknown' }, decision: { reason: 'deadline' } },
    });
  });

  test.each<[string, Record<string, string>, number, number]>([
    ['and not when to ask again, is asked as often as the policy says', {}, 3, 4],
    ['and must not be asked again, is not', { 'retry-after': '1' }, 0, 1],
  ])('for 15 s, %s', async (_, headers, maxRetries, requests) => {
    const { result, times } = await send(running(15_000, headers), maxRetries);
    expect(result).toMatchObject({ state: 'rejected' });
    expect(times).toHaveLength(requests);
  });

  test('and fails then, is not run again once its retries are used up', async () => {
    let count = 0;
    const waits = running(20_000, { 'retry-after': '1' });
    const { result, times } = await send((request) => {
      count += 1;
      return count < 6 ? waits(request) : new Response(null, { status: 503 });
    });
    expect(times).toHaveLength(6);
    expect(result).toMatchObject({ error: { status: 503, decision: { reason: 'max-retries' } } });
  });
});

describe('a write that is late, and would not be sent again, is waited for as one that must not be sent twice', () => {
  /** Begins a write after so long, whose server takes so long. @returns how it ended, and when. */
  function open(config = {}) {
    const latencies = new Map<string, Handler>();
    const server = fakeServer(async (request) => {
      const handler = latencies.get(await request.clone().text()) ?? hang;
      return handler(request);
    });
    const steady = create(server.fetch, { ...noOrigin, ...config });
    const startedAt = Date.now();
    const write = async (method: string, latencyMs: number, own = {}): Promise<string> => {
      const body = `${method} ${latencies.size}`;
      latencies.set(body, latencyMs === Infinity ? hang : after(latencyMs));
      const sent = retry(steady, ({ signal }) =>
        steady.json(url, { method, body, signal, ...own }),
      );
      return sent.then(
        () => `done ${Date.now() - startedAt}`,
        (error: unknown) => `${outcomeOf(error).processed} ${Date.now() - startedAt}`,
      );
    };
    return { server, steady, write };
  }

  test.each<[string, readonly [string, number][], readonly string[], number]>([
    [
      'a later one was done',
      [
        ['PUT', 15_000],
        ['PUT', 20],
      ],
      ['done 15000', 'done 2020'],
      2,
    ],
    [
      'a later one is under way',
      [
        ['PUT', 12_000],
        ['PUT', 12_000],
      ],
      ['done 12000', 'done 24500'],
      3,
    ],
    [
      'each draft takes 12 s, and there are three',
      [
        ['PUT', 12_000],
        ['PUT', 12_000],
        ['PUT', 12_000],
      ],
      ['done 12000', 'done 14000', 'done 26500'],
      4,
    ],
    [
      'its URL was deleted since',
      [
        ['PUT', 30_000],
        ['DELETE', 20],
      ],
      ['done 30000', 'done 2020'],
      2,
    ],
    [
      'it hangs',
      [
        ['PUT', Infinity],
        ['PUT', 20],
      ],
      ['unknown 60000', 'done 2020'],
      2,
    ],
  ])('because %s', async (_, writes, ends, requests) => {
    const { server, write } = open();
    const results: Promise<string>[] = [];
    for (const [method, latencyMs] of writes) {
      results.push(write(method, latencyMs));
      await vi.advanceTimersByTimeAsync(2000);
    }
    await vi.advanceTimersByTimeAsync(300_000);
    expect(await Promise.all(results)).toEqual(ends);
    expect(server.requests).toHaveLength(requests);
  });

  test('but no longer than the app allows', async () => {
    const { write } = open();
    const first = write('PUT', 15_000, { timeout: 3000 });
    await vi.advanceTimersByTimeAsync(2000);
    void write('PUT', 20);
    await vi.advanceTimersByTimeAsync(300_000);
    expect(await first).toBe('unknown 3000');
  });

  test.each([
    ['is under way', 12_000],
    ['was sent since', 20],
  ])('because it is plain, and a POST %s that may be a part of it', async (_, postMs) => {
    const server = fakeServer((request) =>
      after(request.method === 'POST' ? postMs : 12_000)(request),
    );
    const steady = create(server.fetch, noOrigin);
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const mutate = (method: string) => {
      const options = client.defaultMutationOptions({
        mutationFn: () => steady.json(`${origin}/${method}`, { method }),
      });
      return observe(client.getMutationCache().build(client, options).execute(undefined));
    };
    const put = mutate('PUT');
    const post = mutate('POST');
    await vi.advanceTimersByTimeAsync(12_000);
    expect([put.state, post.state]).toEqual(['resolved', 'resolved']);
    expect(server.requests).toHaveLength(2);
  });
});
