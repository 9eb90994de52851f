import {
  createSteadfetch,
  profiles,
  type Steadfetch,
  type SteadfetchConfig,
  type Transport,
  retry,
  limitConcurrency,
} from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { bodyReaderEntries } from './body-readers.ts';
import { answer, fakeServer, origin, streaming } from './fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;
const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** Never answers, and does not heed its signal. */
const deaf: Transport = () => new Promise(() => {});

/** Answers with headers and never with all of the body, and does not heed its signal. */
const deafBody: Transport = async () => {
  const { handler } = streaming();
  return handler(new Request(url));
};

const create = (fetch: Transport, config: SteadfetchConfig = {}): Steadfetch =>
  createSteadfetch({ fetch, random: () => 0.5, ...config });

describe('a transport that does not heed its signal', () => {
  test('is a TimeoutError at its time limit', async () => {
    const call = observe(create(deaf).fetch(url));
    await advance(9999);
    expect(call.state).toBe('pending');
    await advance(1);
    expect(call.error).toMatchObject({ code: 'timeout', outcome: { phase: 'headers' } });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("ends with the caller's abort, at once", async () => {
    const caller = new AbortController();
    const call = observe(create(deaf).fetch(url, { signal: caller.signal }));
    await settled();
    caller.abort('enough');
    await settled();
    expect(call.error).toBe('enough');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is retried as any time-out is', async () => {
    const server = fakeServer(answer(200, 'late but good'));
    let calls = 0;
    const steady = create((...given) => (calls++ === 0 ? deaf(...given) : server.fetch(...given)));
    const result = observe(retry(steady, () => steady.fetch(url).then((got) => got.text())));
    await advance(30_000);
    expect([result.value, calls]).toEqual(['late but good', 2]);
  });

  test('an answer that it gives too late is let go of', async () => {
    const { handler, wire } = streaming();
    let resolve: (response: Response) => void = () => {};
    const steady = create(() => new Promise((give) => (resolve = give)));
    const call = observe(steady.fetch(url, { timeout: 100 }));
    await advance(100);
    resolve(await handler(new Request(url)));
    await settled();
    expect(call.error).toMatchObject({ code: 'timeout' });
    expect(wire.isCancelled()).toBe(true);
  });

  test('what it resolves with too late harms nobody, also where that is no answer', async () => {
    for (const late of [undefined, null, 5, { body: 'text' }]) {
      let resolve: (value: never) => void = () => {};
      const steady = create(() => new Promise((give) => (resolve = give)));
      const call = observe(steady.fetch(url, { timeout: 100 }));
      await advance(100);
      // A rejection that nobody handles would fail this test.
      resolve(late as never);
      await settled();
      expect(call.error).toMatchObject({ code: 'timeout' });
    }
  });

  test.each(bodyReaderEntries)(
    'a body that it never ends is a TimeoutError of %s',
    async (_, read) => {
      for (const timeout of [1000, { headersMs: 5000, bodyIdleMs: 1000 }]) {
        const response = await create(deafBody).fetch(url, { timeout });
        const text = observe(read(response));
        await advance(999);
        expect(text.state).toBe('pending');
        await advance(1);
        expect(text.error).toMatchObject({ code: 'timeout', outcome: { phase: 'body' } });
      }
    },
  );

  test.each(bodyReaderEntries)("the caller's abort ends %s of such a body", async (_, read) => {
    for (const timeout of [1000, { headersMs: 5000, bodyIdleMs: 1000 }]) {
      const caller = new AbortController();
      const { signal } = caller;
      const text = observe(read(await create(deafBody).fetch(url, { timeout, signal })));
      await settled();
      caller.abort('enough');
      await settled();
      expect(text.error).toBe('enough');
      expect(vi.getTimerCount()).toBe(0);
    }
  });
});

describe('a transport that is none', () => {
  const oneSlot: SteadfetchConfig = {
    health: {},
    concurrency: limitConcurrency({ maxInFlight: 1 }),
  };

  test.each<[string, Transport]>([
    ['resolves with nothing', async () => undefined as never],
    ['resolves with a text', async () => 'content' as never],
    ['returns a text', () => 'content' as never],
    [
      'throws',
      () => {
        throw new TypeError('no fetch here');
      },
    ],
  ])('one that %s rejects, leaves no timer, and keeps no place', async (_, fetch) => {
    const steady = create(fetch, oneSlot);
    for (const call of [steady.fetch(url), steady.fetch(url)]) {
      expect(await rejectionOf(call)).toBeInstanceOf(Error);
    }
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a function that does not heed its signal, in retry', () => {
  test("ends with the caller's abort, at once, and runs no more", async () => {
    const caller = new AbortController();
    const run = vi.fn<() => Promise<never>>(() => new Promise(() => {}));
    const result = observe(retry(create(deaf), run, { signal: caller.signal }));
    await settled();
    caller.abort('enough');
    await settled();
    expect(result.error).toBe('enough');
    await advance(3_600_000);
    expect(run).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is a TimeoutError at the time limit of an attempt, and its signal says so', async () => {
    const signals: AbortSignal[] = [];
    const run = ({ signal }: { readonly signal: AbortSignal }): Promise<never> => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const result = observe(retry(create(deaf), run, { timeout: 2000 }));
    await advance(1999);
    expect(result.state).toBe('pending');
    await advance(1);
    expect(result.error).toMatchObject({
      code: 'timeout',
      outcome: { kind: 'timeout', processed: 'unknown' },
      decision: { kind: 'stop', reason: 'not-idempotent' },
    });
    expect(signals.map(({ aborted, reason }) => [aborted, reason as unknown])).toEqual([
      [true, result.error],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is retried where it may be, with a signal of its own for each attempt', async () => {
    const signals: AbortSignal[] = [];
    const steady = create(fakeServer(answer(200, 'good')).fetch);
    const result = observe(
      retry(
        steady,
        async ({ attempt, signal }) => {
          signals.push(signal);
          if (attempt === 1) await new Promise(() => {});
          return (await steady.fetch(url, { signal })).text();
        },
        { idempotent: true },
      ),
    );
    await advance(10_500);
    expect(result.value).toBe('good');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test('what it returns too late changes nothing', async () => {
    const steady = create(deaf);
    const ends: string[] = [];
    steady.subscribe((event) => void ends.push(event.type));
    let finish: (value: string) => void = () => {};
    const result = observe(
      retry(
        steady,
        ({ attempt }) =>
          new Promise<string>((resolve) => {
            if (attempt === 1) finish = resolve;
          }),
        { idempotent: true, timeout: 1000, maxRetries: 1 },
      ),
    );
    await advance(1600);
    finish('late');
    await settled();
    expect(result.state).toBe('pending');
    await advance(1000);
    expect(result.error).toMatchObject({ code: 'timeout' });
    expect(ends.filter((type) => type === 'operation:end')).toHaveLength(1);
  });

  test('the limit does not run while a request of ours is under way, or paused', async () => {
    const { handler, wire } = streaming();
    const steady = create(fakeServer(answer(503, null, { 'retry-after': '8' }), handler).fetch);
    observe(steady.fetch(url));
    await settled();
    const result = observe(
      retry(
        steady,
        async ({ signal }) => {
          const response = await steady.fetch(url, { signal, timeout: Infinity });
          const text = await response.text();
          await new Promise((resolve) => setTimeout(resolve, 999));
          return text;
        },
        { timeout: 1000 },
      ),
    );
    await advance(60_000);
    wire.push('all of it');
    wire.end();
    await advance(998);
    expect(result.state).toBe('pending');
    await advance(1);
    expect(result.value).toBe('all of it');
  });

  test('what takes its time after an answer of ours is a TimeoutError, too', async () => {
    const steady = create(fakeServer(answer(200, 'good')).fetch);
    const result = observe(
      retry(steady, async ({ signal }) => {
        await (await steady.fetch(url, { signal })).text();
        await new Promise(() => {});
      }),
    );
    await advance(9999);
    expect(result.state).toBe('pending');
    await advance(1);
    expect(result.error).toMatchObject({ code: 'timeout' });
  });

  test.each([Infinity, { headersMs: 1000, bodyIdleMs: 1000 }])(
    'a limit of %j is none for all of an attempt',
    async (timeout) => {
      const result = observe(retry(create(deaf), () => new Promise(() => {}), { timeout }));
      await advance(3_600_000);
      expect(result.state).toBe('pending');
      expect(vi.getTimerCount()).toBe(0);
    },
  );
});

describe('what a request waits for before it is sent', () => {
  const apis = [{ match: origin, idempotency: profiles.draft }];
  const endless = (): Request =>
    new Request(url, { method: 'POST', body: new ReadableStream(), duplex: 'half' } as RequestInit);

  test("the caller's abort ends the reading of a body that never ends", async () => {
    const server = fakeServer(answer());
    const caller = new AbortController();
    const { signal } = caller;
    const call = observe(
      create(server.fetch, { apis }).fetch(endless(), { signal, idempotencyKey: 'one' }),
    );
    await settled();
    caller.abort('enough');
    await settled();
    expect(call.error).toBe('enough');
    expect(server.requests).toHaveLength(0);
  });

  test('and its time limit does', async () => {
    const server = fakeServer(answer());
    const call = observe(
      create(server.fetch, { apis }).fetch(endless(), { idempotencyKey: 'one' }),
    );
    await advance(9999);
    expect(call.state).toBe('pending');
    await advance(1);
    expect(call.error).toMatchObject({ code: 'timeout', outcome: { processed: 'no' } });
    expect(server.requests).toHaveLength(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
