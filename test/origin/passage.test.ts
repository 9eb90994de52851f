import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  NotSentError,
  type Steadfetch,
  type SteadfetchConfig,
  type SteadfetchEvent,
} from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  answer,
  type FakeServer,
  fakeServer,
  type Handler,
  hang,
  origin,
  refuse,
} from '../fetch/fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from '../fetch/observe.ts';
import { firstMs, nextMs } from './open-gate.ts';

beforeEach(fakeTime);

interface Rig {
  readonly steady: Steadfetch;
  readonly server: FakeServer;
  readonly events: SteadfetchEvent[];
  /** The paths that were asked for, and when. */
  readonly log: () => readonly string[];
}

/** A server that answers each path by a handler of its own; and chance in the middle. */
function rig(handlers: Record<string, Handler>, config: SteadfetchConfig = {}): Rig {
  const server = fakeServer((request) => {
    const { pathname } = new URL(request.url);
    return (handlers[pathname] ?? answer())(request);
  });
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, ...config });
  const events: SteadfetchEvent[] = [];
  steady.subscribe((event) => void events.push(event));
  return {
    steady,
    server,
    events,
    log: () =>
      server.requests.map(({ url }, index) => `${server.timesMs[index]} ${new URL(url).pathname}`),
  };
}

const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** Two failures in a row: enough for an origin that has always been well. */
const trip = async ({ steady }: Rig): Promise<void> => {
  await rejectionOf(steady.fetch(`${origin}/down`));
  await rejectionOf(steady.fetch(`${origin}/down`));
};

const down: Record<string, Handler> = { '/down': refuse };

describe('a hold', () => {
  test('while all is well the request is sent before the call returns', () => {
    const { steady, server } = rig({});
    void steady.fetch(`${origin}/a`);
    expect(server.requests).toHaveLength(1);
  });

  test('once the origin is down nothing is sent but one canary, whose answer lets the rest go', async () => {
    const one = rig(down);
    await trip(one);
    const results = ['/a', '/b', '/c'].map((path) => observe(one.steady.fetch(origin + path)));
    await advance(firstMs - 1);
    expect(one.server.requests).toHaveLength(2);
    await advance(60_000);
    expect(results.map(({ state }) => state)).toEqual(['resolved', 'resolved', 'resolved']);
    expect(one.log()[2]).toBe(`${firstMs} /c`);
  });

  test('it does not count against the deadline', async () => {
    const one = rig(down);
    await trip(one);
    let failures = 1;
    const result = observe(
      one.steady.retry(
        async ({ signal }) => {
          const response = await one.steady.fetch(`${origin}/a`, { signal });
          if (failures-- > 0) throw new Error('something that may pass');
          return response.status;
        },
        { deadlineMs: 1000, idempotent: true },
      ),
    );
    await advance(firstMs);
    await advance(500);
    expect(result).toMatchObject({ state: 'resolved', value: 200 });
  });

  test('it is bounded by holdMs, and then says why, with the failure behind it', async () => {
    const one = rig({ ...down, '/a': hang });
    await trip(one);
    void one.steady.fetch(`${origin}/a`, { timeout: Infinity }).catch(() => {});
    await advance(firstMs);
    const error = observe(
      one.steady.fetch(`${origin}/b?token=secret`, { policy: { holdMs: 5000 } }),
    );
    await advance(4999);
    expect(error.state).toBe('pending');
    await advance(1);
    expect(error.error).toBeInstanceOf(NotSentError);
    expect(error.error).toMatchObject({
      message: `GET ${origin}/b: not sent, its server is down.`,
      outcome: {
        kind: 'held-too-long',
        reason: 'server-down',
        retryAt: undefined,
        processed: 'no',
      },
      operation: { attempt: 1, method: 'GET', heldMs: 5000 },
      cause: { outcome: { kind: 'network' } },
    });
    expect(one.server.requests).toHaveLength(3);
  });

  test('where the call would rather fail it fails at once, and when the canary is due it is that', async () => {
    const one = rig(down, { policy: { whenDown: 'fail' } });
    await trip(one);
    const error = await rejectionOf(one.steady.fetch(`${origin}/a`));
    expect(error).toMatchObject({
      outcome: { kind: 'held-too-long', retryAt: Date.now() + firstMs, processed: 'no' },
    });
    await advance(firstMs);
    await expect(one.steady.fetch(`${origin}/a`)).resolves.toMatchObject({ status: 200 });
    expect(one.log()).toEqual(['0 /down', '0 /down', `${firstMs} /a`]);
  });

  test('what an earlier attempt may have done, the hold does not undo', async () => {
    const one = rig({ '/a': refuse });
    const result = observe(
      one.steady.retry(({ signal }) => one.steady.fetch(`${origin}/a`, { signal }), {
        holdMs: 100,
        maxRetries: 5,
      }),
    );
    await advance(30_000);
    expect(result.error).toMatchObject({ outcome: { processed: 'unknown' } });
  });

  test('another origin, and a declared partition of the same, are not held', async () => {
    const one = rig(down, { apis: [{ match: `${origin}/own/`, partition: 'own' }] });
    await trip(one);
    await expect(one.steady.fetch(`${origin}/own/a`)).resolves.toMatchObject({ status: 200 });
    await expect(one.steady.fetch('https://other.test/a')).resolves.toMatchObject({ status: 200 });
    const held = observe(one.steady.fetch(`${origin}/a`));
    await settled();
    expect(held.state).toBe('pending');
  });
});

describe('an abort', () => {
  test('while it is held ends it with its own reason, and nothing is sent', async () => {
    const one = rig(down);
    await trip(one);
    const controller = new AbortController();
    const error = rejectionOf(one.steady.fetch(`${origin}/a`, { signal: controller.signal }));
    await advance(1000);
    controller.abort('enough');
    await expect(error).resolves.toBe('enough');
    await advance(100_000);
    expect(one.server.requests).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('in answer to the news that it is held does the same', async () => {
    const one = rig(down);
    await trip(one);
    const controller = new AbortController();
    one.steady.subscribe(({ type }) => {
      if (type === 'hold') controller.abort('enough');
    });
    const error = rejectionOf(one.steady.fetch(`${origin}/a`, { signal: controller.signal }));
    await expect(error).resolves.toBe('enough');
    // Nobody is left who waits: no canary is due.
    expect(vi.getTimerCount()).toBe(0);
  });

  test('in answer to the news that it may go, it does not go', async () => {
    const one = rig(down);
    await trip(one);
    const controller = new AbortController();
    one.steady.subscribe(({ type }) => {
      if (type === 'release') controller.abort('enough');
    });
    const result = observe(one.steady.fetch(`${origin}/a`, { signal: controller.signal }));
    await advance(firstMs);
    expect(one.server.requests).toHaveLength(2);
    expect(result).toMatchObject({ state: 'rejected', error: 'enough' });
  });

  test('of the canary lets another one go', async () => {
    const one = rig({ ...down, '/a': hang });
    await trip(one);
    const controller = new AbortController();
    const a = rejectionOf(one.steady.fetch(`${origin}/a`, { signal: controller.signal }));
    await advance(firstMs);
    const b = observe(one.steady.fetch(`${origin}/b`));
    controller.abort('enough');
    await expect(a).resolves.toBe('enough');
    await advance(nextMs);
    expect(b.state).toBe('resolved');
  });

  test('while it waits for a place gives the place to the next', async () => {
    const one = rig({ '/a': hang }, { origin: { slots: { maxInFlight: 1 } } });
    const first = new AbortController();
    const second = new AbortController();
    const a = rejectionOf(one.steady.fetch(`${origin}/a`, { signal: first.signal }));
    const b = rejectionOf(one.steady.fetch(`${origin}/b`, { signal: second.signal }));
    const c = observe(one.steady.fetch(`${origin}/c`));
    second.abort('enough');
    first.abort('enough');
    await Promise.all([a, b]);
    await settled();
    expect(c.state).toBe('resolved');
    expect(one.log()).toEqual(['0 /a', '0 /c']);
  });
});

describe('the retry budget', () => {
  const busy: Handler = answer(503);
  const config = (maxTokens: number): SteadfetchConfig => ({
    origin: { circuit: false, budget: { maxTokens, tokensPerSuccess: 0 } },
    policy: { baseMs: 0, maxRetries: 20 },
  });

  test('pays for retries and not for first attempts; when it is spent the operation stops', async () => {
    const one = rig({ '/a': busy }, config(3));
    for (let call = 0; call < 3; call++) {
      await rejectionOf(one.steady.fetch(`${origin}/a`));
    }
    const result = observe(
      one.steady.retry(({ signal }) => one.steady.fetch(`${origin}/a`, { signal })),
    );
    await advance(1000);
    expect(result.error).toMatchObject({ outcome: { status: 503 } });
    expect(one.server.requests).toHaveLength(3 + 1 + 3);
  });

  test('is charged once for an attempt, however many requests that makes', async () => {
    const one = rig({ '/c': busy }, config(2));
    const result = observe(
      one.steady.retry(async ({ signal }) => {
        await one.steady.fetch(`${origin}/a`, { signal });
        await one.steady.fetch(`${origin}/b`, { signal });
        await one.steady.fetch(`${origin}/c`, { signal });
      }),
    );
    await advance(1000);
    expect(result.state).toBe('rejected');
    expect(one.server.requests).toHaveLength(3 * (1 + 2));
  });

  test('spent between the decision and the start, it refuses, and hides not what the first attempt may have done', async () => {
    const one = rig({ '/a': busy }, config(1));
    const results = [0, 1].map(() =>
      observe(one.steady.retry(({ signal }) => one.steady.fetch(`${origin}/a`, { signal }))),
    );
    await advance(1000);
    const outcomes = results.map(({ error }) => (error as NotSentError).outcome);
    expect(outcomes).toContainEqual({ kind: 'over-budget', processed: 'unknown' });
    expect(one.server.requests).toHaveLength(3);
  });

  test('never refuses what has an idempotency key', async () => {
    const one = rig(
      { '/a': busy },
      {
        ...config(1),
        policy: { baseMs: 0, maxRetries: 5 },
        apis: [{ match: origin, idempotency: { header: 'Idempotency-Key' } }],
      },
    );
    const result = observe(
      one.steady.retry(({ signal }) =>
        one.steady.fetch(`${origin}/a`, {
          method: 'POST',
          signal,
          headers: { 'Idempotency-Key': '"k"' },
        }),
      ),
    );
    await advance(1000);
    expect(result.state).toBe('rejected');
    expect(one.server.requests).toHaveLength(6);
  });
});

describe('a rate limit', () => {
  const told = (status: number, headers: HeadersInit): Record<string, Handler> => ({
    '/told': answer(status, null, headers),
  });
  /** Whether another request to the origin goes at once, after one answer with these headers. */
  const isHeldAfter = async (
    status: number,
    headers: HeadersInit,
    laterMs = 0,
  ): Promise<boolean> => {
    const one = rig(told(status, headers));
    await one.steady.fetch(`${origin}/told`).catch(() => {});
    await advance(laterMs);
    const next = observe(one.steady.fetch(`${origin}/next`));
    await settled();
    return next.state !== 'resolved';
  };

  test.each([429, 503])('%d with Retry-After holds the whole origin till then', async (status) => {
    expect(await isHeldAfter(status, { 'Retry-After': '10' }, 9999)).toBe(true);
    expect(await isHeldAfter(status, { 'Retry-After': '10' }, 10_000)).toBe(false);
  });

  test.each([200, 301, 400, 500])(
    'Retry-After in an answer of %d holds nothing',
    async (status) => {
      expect(await isHeldAfter(status, { 'Retry-After': '10' })).toBe(false);
    },
  );

  test.each(['0', '-1', '1.5', 'soon', '10, 20', ''])(
    'Retry-After: "%s" holds nothing',
    async (value) => {
      expect(await isHeldAfter(429, { 'Retry-After': value })).toBe(false);
    },
  );

  test('an absurd Retry-After fails at once what it concerns, with nothing sent', async () => {
    const one = rig(told(429, { 'Retry-After': '9'.repeat(30) }));
    await rejectionOf(one.steady.fetch(`${origin}/told`));
    const error = await rejectionOf(one.steady.fetch(`${origin}/next`));
    expect(error).toMatchObject({ outcome: { kind: 'held-too-long', reason: 'rate-limited' } });
    expect(one.server.requests).toHaveLength(1);
  });

  test('RateLimit without anything left holds, in whatever answer it comes', async () => {
    for (const status of [200, 404, 429]) {
      expect(await isHeldAfter(status, { RateLimit: '"a";r=0;t=10' }, 9999)).toBe(true);
      expect(await isHeldAfter(status, { RateLimit: '"a";r=0;t=10' }, 10_000)).toBe(false);
    }
  });

  test('malformed, without time, or from a cache, RateLimit holds nothing', async () => {
    expect(await isHeldAfter(200, { RateLimit: '"a";r=0;t=10, oops=' })).toBe(false);
    expect(await isHeldAfter(200, { RateLimit: '"a";r=0;t=0' })).toBe(false);
    expect(await isHeldAfter(200, { RateLimit: '"a";r=0;t=10', Age: '3' })).toBe(false);
  });

  test('a reset beyond what a Date holds fails at once, and throws nothing else', async () => {
    const one = rig(told(200, { RateLimit: '"a";r=0;t=999999999999999' }));
    await one.steady.fetch(`${origin}/told`);
    await expect(rejectionOf(one.steady.fetch(`${origin}/next`))).resolves.toBeInstanceOf(
      NotSentError,
    );
  });

  test('Retry-After takes precedence over RateLimit, when shorter and when longer', async () => {
    const both = (after: string): HeadersInit => ({
      'Retry-After': after,
      RateLimit: '"a";r=0;t=20',
    });
    expect(await isHeldAfter(429, both('5'), 5000)).toBe(false);
    expect(await isHeldAfter(429, both('5'), 4999)).toBe(true);
    expect(await isHeldAfter(429, both('30'), 29_999)).toBe(true);
  });

  test('what is left is not exceeded before the reset', async () => {
    const one = rig(told(200, { RateLimit: '"a";r=2;t=10' }));
    await one.steady.fetch(`${origin}/told`);
    const results = [0, 1, 2, 3].map(() => observe(one.steady.fetch(`${origin}/next`)));
    await advance(9999);
    expect(results.map(({ state }) => state)).toEqual([
      'resolved',
      'resolved',
      'pending',
      'pending',
    ]);
  });

  test('a 429 with RateLimit alone is heard, also from an origin that never sent it before', async () => {
    const one = rig(told(429, { RateLimit: '"a";r=0;t=10' }));
    for (let call = 0; call < 5; call++) await one.steady.fetch(`${origin}/plain`);
    await rejectionOf(one.steady.fetch(`${origin}/told`));
    const next = observe(one.steady.fetch(`${origin}/next`));
    await settled();
    expect(next.state).toBe('pending');
  });

  test('an answer without RateLimit does not deafen it for the next ones', async () => {
    const one = rig(told(200, { RateLimit: '"a";r=1;t=10' }));
    await one.steady.fetch(`${origin}/told`);
    await one.steady.fetch(`${origin}/plain`);
    await advance(30_000);
    await one.steady.fetch(`${origin}/plain`);
    await one.steady.fetch(`${origin}/told`);
    await one.steady.fetch(`${origin}/plain`);
    const next = observe(one.steady.fetch(`${origin}/next`));
    await settled();
    expect(next.state).toBe('pending');
  });

  test('a canary that is answered with a pause lets nobody else go before its end', async () => {
    const one = rig({ ...down, ...told(429, { 'Retry-After': '10' }) });
    await trip(one);
    await advance(firstMs - 1500);
    for (const path of ['/a', '/b', '/told']) void one.steady.fetch(origin + path).catch(() => {});
    await advance(1500 + 9999);
    expect(one.log()).toEqual(['0 /down', '0 /down', `${firstMs} /told`]);
  });
});

describe('a turn that was given before the attempt began', () => {
  test('is kept for its origin when the query goes elsewhere first', async () => {
    const one = rig({ '/sick': refuse });
    const client = new QueryClient({ defaultOptions: one.steady.defaultOptions });
    let isUp = false;
    const result = observe(
      client.fetchQuery({
        queryKey: ['both'],
        queryFn: async ({ signal }) => {
          await one.steady.fetch('https://other.test/first', { signal });
          const path = isUp ? '/well' : '/sick';
          return (await one.steady.fetch(origin + path, { signal })).status;
        },
      }),
    );
    await advance(1000);
    isUp = true;
    await advance(60_000);
    expect(result).toMatchObject({ state: 'resolved', value: 200 });
    await expect(one.steady.fetch(`${origin}/next`)).resolves.toMatchObject({ status: 200 });
  });

  test('goes back when the query sends nothing, and the next one is the canary', async () => {
    const one = rig({ '/sick': refuse });
    const client = new QueryClient({ defaultOptions: one.steady.defaultOptions });
    let isKnown = false;
    const result = observe(
      client.fetchQuery({
        queryKey: ['maybe'],
        queryFn: async ({ signal }) =>
          isKnown ? 'known' : (await one.steady.fetch(`${origin}/sick`, { signal })).status,
      }),
    );
    await advance(1000);
    isKnown = true;
    const other = observe(one.steady.fetch(`${origin}/other`));
    await advance(60_000);
    expect(result).toMatchObject({ state: 'resolved', value: 'known' });
    expect(other.state).toBe('resolved');
  });
});

test('a canary without a time limit does not shut everybody else out for good', async () => {
  const one = rig({ ...down, '/stream': hang });
  await trip(one);
  const stream = new AbortController();
  const silent = rejectionOf(
    one.steady.fetch(`${origin}/stream`, { timeout: Infinity, signal: stream.signal }),
  );
  await advance(firstMs);
  await advance(300_000);
  const later = observe(one.steady.fetch(`${origin}/a`));
  await advance(60_000);
  expect(later.state).toBe('resolved');
  stream.abort('enough');
  await expect(silent).resolves.toBe('enough');
});
