import {
  type ApiProfile,
  classifyOutcomes,
  createSteadfetch,
  defineIdempotency,
  isHttpError,
  type OutcomeReaders,
  outcomeOf,
  retry,
  type RetryOptions,
  type SteadyInit,
} from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { answer, fakeServer, type Handler, hang, origin, streaming } from '../fetch/fake-server.ts';
import { fakeTime, observe } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/api`;
const json = { 'content-type': 'application/json' };
const body = (value: unknown, status = 200, headers: HeadersInit = {}): Handler =>
  answer(status, JSON.stringify(value), { ...json, ...headers });

/** An instance whose API is read so, and its server. */
function rig(readers: OutcomeReaders, handlers: readonly [Handler, ...Handler[]], own?: object) {
  const server = fakeServer(...handlers);
  const apis: ApiProfile[] = [{ match: origin, outcomes: classifyOutcomes(readers), ...own }];
  const steady = createSteadfetch({ fetch: server.fetch, apis, random: () => 0.5 });
  return { server, steady };
}

/** What one request shows. */
async function ask(readers: OutcomeReaders, handler: Handler, init?: SteadyInit, own?: object) {
  const { steady, server } = rig(readers, [handler], own);
  const result = observe(steady.fetch(url, init));
  await vi.runAllTimersAsync();
  return { ...result, server };
}

/** When the requests of a call go out, in milliseconds. */
async function timesOf(
  readers: OutcomeReaders,
  handlers: readonly [Handler, ...Handler[]],
  init?: SteadyInit,
  own?: object,
) {
  const { steady, server } = rig(readers, handlers, own);
  const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { ...init, signal })));
  await vi.runAllTimersAsync();
  return { timesMs: server.timesMs, ...result };
}

const byCode: OutcomeReaders = {
  classifyResponse(_, given) {
    const { code } = (given ?? {}) as { code?: string };
    if (code === 'SLOW_DOWN') return { status: 429, retryAfterMs: 5000 };
    if (code === 'DOWN') return { status: 503 };
    return code === 'NO' ? { status: 422 } : undefined;
  },
};

describe('classifyResponse', () => {
  test('makes an HttpError of a 200, with the status that was read and the body there', async () => {
    const { error } = await ask(byCode, body({ code: 'NO' }));
    expect(isHttpError(error)).toBe(true);
    expect(error).toMatchObject({
      message: 'The server answered 200, classified as 422.',
      status: 422,
      response: { status: 200 },
      outcome: { kind: 'http', status: 422, processed: 'no', retryAfterMs: undefined },
    });
    expect(await (error as { response: Response }).response.json()).toEqual({ code: 'NO' });
  });

  test('undefined leaves an answer as it is, with its body', async () => {
    const { value } = await ask(byCode, body({ code: 'FINE' }));
    expect(await (value as Response).json()).toEqual({ code: 'FINE' });
  });

  test('ok makes a good answer of a failure', async () => {
    const { value } = await ask({ classifyResponse: () => 'ok' }, body({ id: 1 }, 409));
    expect((value as Response).status).toBe(409);
    expect(await (value as Response).json()).toEqual({ id: 1 });
  });

  test('a failure that is read is retried after the pause that is read', async () => {
    const { timesMs, value } = await timesOf(byCode, [body({ code: 'SLOW_DOWN' }), body({})]);
    expect((value as Response).status).toBe(200);
    expect(timesMs).toEqual([0, 5250]);
  });

  test('without a pause of its own, the Retry-After beside it counts', async () => {
    const handlers = [body({ code: 'DOWN' }, 200, { 'retry-after': '20' }), body({})] as const;
    expect((await timesOf(byCode, handlers)).timesMs).toEqual([0, 21_000]);
  });

  test('a pause that is read holds for all requests to the endpoint', async () => {
    const { steady, server } = rig(byCode, [body({ code: 'SLOW_DOWN' }), body({})]);
    const first = observe(steady.fetch(url));
    await vi.advanceTimersByTimeAsync(0);
    expect(first.state).toBe('rejected');
    const second = observe(steady.fetch(url));
    await vi.advanceTimersByTimeAsync(4999);
    expect(server.requests).toHaveLength(1);
    await vi.runAllTimersAsync();
    expect(second.state).toBe('resolved');
    expect(server.timesMs).toEqual([0, 5250]);
  });

  test('failures that are read take the endpoint for down, as those of the status do', async () => {
    const count = async (handler: Handler, readers: OutcomeReaders): Promise<number> => {
      const { steady, server } = rig(readers, [handler]);
      for (let sent = 0; sent < 4; sent++)
        observe(steady.fetch(url, { policy: { maxPauseMs: 500 } }));
      await vi.advanceTimersByTimeAsync(0);
      observe(steady.fetch(url));
      await vi.advanceTimersByTimeAsync(0);
      return server.requests.length;
    };
    expect(await count(body({ code: 'DOWN' }), byCode)).toBe(await count(answer(503), {}));
    expect(await count(body({ code: 'DOWN' }), byCode)).toBe(4);
  });

  test('retryable counts for more than the status, both ways', async () => {
    const times = async (status: number, retryable: boolean) =>
      (await timesOf({ classifyResponse: () => ({ status, retryable }) }, [body({})])).timesMs;
    expect(await times(422, true)).toEqual([0, 500, 1500, 3500]);
    expect(await times(503, false)).toEqual([0]);
  });

  test('a POST that may have been done is not sent again, whatever is read', async () => {
    const post: SteadyInit = { method: 'POST', body: '{}' };
    const times = async (status: number, processed?: 'unknown') => {
      const classifyResponse = () => ({ status, retryable: true, processed });
      return (await timesOf({ classifyResponse }, [body({})], post)).timesMs.length;
    };
    expect(await times(500)).toBe(1);
    expect(await times(422, 'unknown')).toBe(1);
    expect(await times(422)).toBe(4);
  });

  test('a keyed POST is sent again with its key, and retryable false stops it', async () => {
    const idempotency = defineIdempotency({ header: 'Idempotency-Key' });
    const init: SteadyInit = { method: 'POST', body: '{}', idempotencyKey: 'k-1' };
    const { timesMs } = await timesOf(byCode, [body({ code: 'DOWN' }), body({})], init, {
      idempotency,
    });
    expect(timesMs).toEqual([0, 500]);
    const classifyResponse = () => ({ status: 503, retryable: false });
    const stopped = await timesOf({ classifyResponse }, [body({})], init, { idempotency });
    expect(stopped.timesMs).toEqual([0]);
  });

  test('what is no JSON is not waited for, and has no body', async () => {
    const classifyResponse = vi.fn<() => undefined>();
    const { handler, wire } = streaming({ headers: { 'content-type': 'text/event-stream' } });
    const { steady } = rig({ classifyResponse }, [handler]);
    const result = observe(steady.fetch(url));
    await vi.advanceTimersByTimeAsync(0);
    expect(result.state).toBe('resolved');
    expect(classifyResponse).toHaveBeenCalledExactlyOnceWith(expect.any(Response), undefined);
    wire.push('data: 1\n\n');
    wire.end();
    expect(await (result.value as Response).text()).toBe('data: 1\n\n');
  });

  test.each([
    ['cannot be parsed', answer(200, '{"code":', json)],
    ['is empty', answer(200, null, json)],
  ])('JSON that %s is no body', async (_, handler) => {
    const classifyResponse = vi.fn<() => undefined>();
    expect((await ask({ classifyResponse }, handler)).state).toBe('resolved');
    expect(classifyResponse).toHaveBeenCalledExactlyOnceWith(expect.any(Response), undefined);
  });

  test('a body that does not come is a TimeoutError, at the limit of the attempt', async () => {
    const { handler, wire } = streaming({ headers: json });
    const { steady } = rig(byCode, [handler]);
    const result = observe(steady.fetch(url, { timeout: 3000 }));
    await vi.advanceTimersByTimeAsync(0);
    wire.push('{"code"');
    await vi.advanceTimersByTimeAsync(2999);
    expect(result.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(result.error).toMatchObject({ code: 'timeout', outcome: { phase: 'body' } });
  });

  test('a limit for silences within the body holds while it is read', async () => {
    const { handler, wire } = streaming({ headers: json });
    const { steady } = rig(byCode, [handler]);
    const result = observe(steady.fetch(url, { timeout: { headersMs: 1000, bodyIdleMs: 2000 } }));
    await vi.advanceTimersByTimeAsync(0);
    for (const part of ['{"code"', ':"N', 'O"}']) {
      wire.push(part);
      await vi.advanceTimersByTimeAsync(1900);
    }
    expect(result.state).toBe('pending');
    wire.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(result.error).toMatchObject({ status: 422 });
  });

  test('a body that breaks off is a NetworkError', async () => {
    const { handler, wire } = streaming({ headers: json });
    const { steady } = rig(byCode, [handler]);
    const result = observe(steady.fetch(url));
    await vi.advanceTimersByTimeAsync(0);
    wire.cut(new TypeError('terminated'));
    await vi.advanceTimersByTimeAsync(0);
    expect(result.error).toMatchObject({ code: 'network', outcome: { kind: 'body' } });
  });

  test('the abort of the caller ends it at once, with its own reason', async () => {
    const { handler } = streaming({ headers: json });
    const { steady } = rig(byCode, [handler]);
    const caller = new AbortController();
    const result = observe(steady.fetch(url, { signal: caller.signal }));
    await vi.advanceTimersByTimeAsync(0);
    caller.abort('enough');
    await vi.advanceTimersByTimeAsync(0);
    expect(result.error).toBe('enough');
  });

  test('a page where JSON was expected is not asked about: it is not its API that speaks', async () => {
    const classifyResponse = vi.fn<() => 'ok'>(() => 'ok');
    const portal = answer(200, '<html>', { 'content-type': 'text/html' });
    const { error } = await ask({ classifyResponse }, portal, { expect: 'json' });
    expect(error).toMatchObject({ code: 'unexpected-content' });
    expect(classifyResponse).not.toHaveBeenCalled();
  });

  test('another client gets the answer as it is, and its error the failure that was read', async () => {
    const { steady, server } = rig(byCode, [body({ code: 'SLOW_DOWN' }), body({ name: 'kite' })]);
    const result = observe(
      retry(steady, async ({ signal }) => {
        const response = await steady.rawFetch(url, { signal });
        const { code, name } = (await response.json()) as { code?: string; name?: string };
        if (code) throw new Error('no');
        return name;
      }),
    );
    await vi.runAllTimersAsync();
    expect(result.value).toBe('kite');
    expect(server.timesMs).toEqual([0, 5250]);
  });
});

/** When a function runs that throws these, one after the other. */
async function runsOf(readers: OutcomeReaders, thrown: unknown, options?: RetryOptions) {
  const { steady } = rig(readers, [hang]);
  const startedAt = Date.now();
  const runs: number[] = [];
  const result = observe(
    retry(
      steady,
      () => {
        runs.push(Date.now() - startedAt);
        throw thrown;
      },
      { maxRetries: 1, ...options },
    ),
  );
  await vi.runAllTimersAsync();
  return { runs, ...result };
}

class HouseError extends Error {
  readonly kind: string;
  constructor(kind: string, options?: ErrorOptions) {
    super('It did not work.', options);
    this.kind = kind;
  }
}

const byKind: OutcomeReaders = {
  classifyError(error) {
    if (!(error instanceof HouseError)) return undefined;
    if (error.kind === 'quota') return { status: 429, retryAfterMs: 3000 };
    return { status: 403 };
  },
};

describe('classifyError', () => {
  test('an error that says nothing to anybody else is what it is read as', async () => {
    const quota = new HouseError('quota');
    expect((await runsOf(byKind, quota)).runs).toEqual([0, 3150]);
    expect(outcomeOf(quota)).toMatchObject({ kind: 'http', status: 429, processed: 'no' });
    expect((await runsOf(byKind, new HouseError('forbidden'), { idempotent: true })).runs).toEqual([
      0,
    ]);
  });

  test('it counts for more than what the error says by itself, whose Retry-After stays', async () => {
    const cause = new Response(null, { status: 400, headers: { 'retry-after': '20' } });
    const classifyError = () => ({ status: 429 });
    const thrown = new HouseError('quota', { cause });
    expect((await runsOf({ classifyError }, thrown)).runs).toEqual([0, 21_000]);
  });

  test('a text can be thrown, too', async () => {
    const classifyError = (error: unknown) => (error === 'busy' ? { status: 429 } : undefined);
    expect((await runsOf({ classifyError }, 'busy')).runs).toEqual([0, 500]);
    expect((await runsOf({ classifyError }, 'else')).runs).toEqual([0]);
  });

  test('the first profile that says something counts', async () => {
    const said = (status: number) =>
      classifyOutcomes({ classifyError: () => (status ? { status } : undefined) });
    const steady = createSteadfetch({
      apis: [
        { match: '/a', outcomes: said(0) },
        { match: '/b', outcomes: said(422) },
        { match: '/c', outcomes: said(503) },
      ],
    });
    const thrown = new Error('no');
    const fn = vi.fn<() => Promise<never>>(() => Promise.reject(thrown));
    observe(retry(steady, fn, { idempotent: true }));
    await vi.runAllTimersAsync();
    expect(fn).toHaveBeenCalledOnce();
    expect(outcomeOf(thrown)).toMatchObject({ status: 422 });
  });

  test('it is not asked about errors of ours, nor about an abort', async () => {
    const classifyError = vi.fn<() => { status: number }>(() => ({ status: 422 }));
    const { steady, server } = rig({ classifyError }, [answer(503), answer(200)]);
    const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { signal })));
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    expect(server.requests).toHaveLength(2);
    expect(classifyError).not.toHaveBeenCalled();
  });

  test('what a rewritten error is read as leaves the method of its request as it is known', async () => {
    const classifyError = () => ({ status: 503, retryable: true });
    const { steady, server } = rig({ classifyError }, [answer(200)]);
    observe(
      retry(steady, async ({ signal }) => {
        await steady.rawFetch(url, { method: 'POST', signal });
        throw new HouseError('down');
      }),
    );
    await vi.runAllTimersAsync();
    expect(server.requests).toHaveLength(1);
  });
});

describe('a wrong reader costs no request', () => {
  const wrong: readonly (readonly [string, () => unknown, string])[] = [
    ['is asynchronous', () => Promise.reject(new Error('late')), 'returned a promise'],
    ['returns a text', () => 'failed', 'returned string'],
    ['returns null', () => null, 'returned null'],
    ['returns no status', () => ({ retryable: true }), 'returned object'],
    ['returns a status of success', () => ({ status: 200 }), 'returned object'],
    ['returns a status that is none', () => ({ status: 429.5 }), 'returned object'],
    ['returns a wait of no length', () => ({ status: 429, retryAfterMs: NaN }), 'returned object'],
    ['returns an endless wait', () => ({ status: 429, retryAfterMs: Infinity }), 'returned object'],
    ['returns a wait before', () => ({ status: 429, retryAfterMs: -1 }), 'returned object'],
    ['returns a text for yes', () => ({ status: 429, retryable: 'yes' }), 'returned object'],
    ['returns an unknown word', () => ({ status: 429, processed: 'maybe' }), 'returned object'],
    ['misspells', () => ({ status: 429, retryAfter: 5 }), 'returned object'],
  ];

  test.each(wrong)('classifyResponse that %s', async (_, said, what) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const readers = { classifyResponse: said as () => undefined };
    const { steady } = rig(readers, [body({ code: 'NO' })]);
    for (let sent = 0; sent < 2; sent++) {
      const result = observe(steady.fetch(url));
      await vi.runAllTimersAsync();
      expect((result.value as Response).status).toBe(200);
    }
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining(`outcomes: classifyResponse ${what}; it counts as not given.`),
    );
  });

  test.each(wrong)('classifyError that %s', async (_, said, what) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const { runs } = await runsOf(
      { classifyError: said as () => undefined },
      { status: 503 },
      {
        idempotent: true,
      },
    );
    expect(runs).toEqual([0, 500]);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining(`outcomes: classifyError ${what}; it counts as not given.`),
    );
  });

  test('one that throws is told of by its error', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const classifyResponse = (_: Response, given: unknown) => {
      throw new TypeError(`no ${Object.keys(given as object).join()}`);
    };
    expect((await ask({ classifyResponse }, body({ code: 'NO' }))).state).toBe('resolved');
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining('outcomes: classifyResponse threw TypeError: no code; it counts'),
    );
  });

  test('a reader that reads the body itself leaves it to whoever asked', async () => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const classifyResponse = ((response: Response) => response.json()) as () => never;
    const { value } = await ask({ classifyResponse }, body({ code: 'NO' }));
    expect(await (value as Response).json()).toEqual({ code: 'NO' });
  });
});

test('what is no reader is refused by name', () => {
  expect(() => classifyOutcomes({ classifyResponse: 5 as never })).toThrow(
    'classifyOutcomes: classifyResponse is 5, and must be a function.',
  );
  expect(() => classifyOutcomes({ classifyresponse: () => undefined } as never)).toThrow(
    'did you mean classifyResponse?',
  );
  expect(() =>
    createSteadfetch({
      apis: [{ match: '/', outcomes: { classifyError: () => undefined } as never }],
    }),
  ).toThrow('outcomes is {}, and must be what classifyOutcomes() returns.');
  expect(() =>
    createSteadfetch({ apis: [{ match: '/', classifyResponse: () => undefined } as never] }),
  ).toThrow('did you mean outcomes: classifyOutcomes({ classifyResponse })?');
});
