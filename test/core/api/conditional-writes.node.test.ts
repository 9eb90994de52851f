import { MutationObserver, QueryClient } from '@tanstack/react-query';
import {
  conditionalWrites,
  type ConditionalWritesOptions,
  createSteadfetch,
  isHttpError,
  mutationOptions,
  outcomeOf,
  profiles,
  retry,
  type SteadyInit,
  type WasOursContext,
} from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { answer, fakeServer, type Handler, hang, origin, refuse } from '../fetch/fake-server.ts';
import { fakeTime, observe, rejectionOf } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/notes/1`;
const patch: SteadyInit = { method: 'PATCH', body: '{"text":"b"}', headers: { 'if-match': '"1"' } };
const lost = refuse;
const conflict = answer(412, 'no');

function rig(
  options: ConditionalWritesOptions | undefined,
  handlers: readonly [Handler, ...Handler[]],
  own = {},
) {
  const server = fakeServer(...handlers);
  const apis = [{ match: origin, conditional: conditionalWrites(options), ...own }];
  const steady = createSteadfetch({ fetch: server.fetch, apis, random: () => 0.5 });
  return { server, steady };
}

/** What a write comes to that is retried. */
async function write(
  options: ConditionalWritesOptions | undefined,
  handlers: readonly [Handler, ...Handler[]],
  init: SteadyInit = patch,
  own = {},
) {
  const { steady, server } = rig(options, handlers, own);
  const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { ...init, signal })));
  await vi.runAllTimersAsync();
  const methods = server.requests.map(({ method }) => method);
  return { ...result, methods, outcome: result.error && outcomeOf(result.error) };
}

describe('what may be sent again', () => {
  test.each<readonly [string, SteadyInit, number]>([
    ['a PATCH with If-Match', patch, 2],
    ['a POST with If-Match', { ...patch, method: 'POST' }, 2],
    [
      'a POST with If-None-Match: *',
      { ...patch, method: 'POST', headers: { 'if-none-match': '*' } },
      2,
    ],
    ['a list of tags', { ...patch, headers: { 'if-match': 'W/"0", "1"' } }, 2],
    ['no condition', { ...patch, headers: {} }, 1],
    ['a weak tag, which matches nothing', { ...patch, headers: { 'if-match': 'W/"1"' } }, 1],
    ['If-Match: *, which matches what it has made', { ...patch, headers: { 'if-match': '*' } }, 1],
    ['If-None-Match with a tag', { ...patch, headers: { 'if-none-match': '"1"' } }, 1],
    ['what is declared not to be', { ...patch, idempotent: false }, 1],
  ])('%s', async (_, init, sent) => {
    expect((await write(undefined, [lost, answer()], init)).methods).toHaveLength(sent);
  });

  test('a Request with If-Match', async () => {
    const { steady, server } = rig(undefined, [lost, answer()]);
    const request = new Request(url, patch);
    const result = observe(
      retry(steady, ({ signal }) => steady.fetch(request.clone(), { signal })),
    );
    await vi.runAllTimersAsync();
    expect(result.state).toBe('resolved');
    expect(server.requests).toHaveLength(2);
  });

  test('what isConditional says', async () => {
    const asked: unknown[] = [];
    const isConditional = ({ method, url: its, headers, body }: WasOursContext['request']) => {
      asked.push([method, its, headers.get('x-from'), body]);
      return its.endsWith('/1');
    };
    const init = { method: 'POST', body: 'pay', headers: { 'x-from': 'open' } };
    const { methods } = await write({ isConditional }, [lost, answer()], init);
    expect(methods).toEqual(['POST', 'POST']);
    expect(asked[0]).toEqual(['POST', url, 'open', 'pay']);
  });

  test('nothing of an isConditional that throws', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const isConditional = () => {
      throw new Error('no');
    };
    const init = { method: 'POST', body: 'pay' };
    expect((await write({ isConditional }, [lost, answer()], init)).methods).toEqual(['POST']);
    expect(warn.mock.calls.join()).toContain('conditional: isConditional threw Error: no');
  });
});

describe('without wasOurs', () => {
  test('a 412 after a lost answer is no plain failure: the outcome is unknown', async () => {
    const { outcome, methods } = await write(undefined, [lost, conflict]);
    expect(outcome).toMatchObject({ kind: 'http', status: 412, processed: 'unknown' });
    expect(methods).toEqual(['PATCH', 'PATCH']);
  });

  test('so is a 409', async () => {
    const { outcome } = await write(undefined, [lost, answer(409)]);
    expect(outcome).toMatchObject({ status: 409, processed: 'unknown' });
  });

  test('a 412 to the first attempt is a plain conflict', async () => {
    const { outcome } = await write(undefined, [conflict]);
    expect(outcome).toMatchObject({ status: 412, processed: 'no' });
  });

  test('a 412 after an attempt that was surely not done is a plain conflict', async () => {
    const { outcome, methods } = await write(undefined, [answer(429), conflict]);
    expect(methods).toEqual(['PATCH', 'PATCH']);
    expect(outcome).toMatchObject({ status: 412, processed: 'no' });
  });

  test('another refusal is told as ever', async () => {
    const { error } = await write(undefined, [lost, answer(403)]);
    expect(isHttpError(error) && error.status).toBe(403);
  });
});

describe('wasOurs', () => {
  test('true makes a success of a 412', async () => {
    const { value } = await write({ wasOurs: () => true }, [lost, conflict]);
    expect((value as Response).status).toBe(204);
  });

  test('an answer is handed on', async () => {
    const wasOurs = () => new Response('{"text":"b"}', { headers: { etag: '"2"' } });
    const { value } = await write({ wasOurs }, [lost, conflict]);
    expect((value as Response).headers.get('etag')).toBe('"2"');
    expect(await (value as Response).json()).toEqual({ text: 'b' });
  });

  test('false is a plain conflict, and surely not done', async () => {
    const { outcome } = await write({ wasOurs: () => false }, [lost, lost, conflict]);
    expect(outcome).toMatchObject({ status: 412, processed: 'no' });
  });

  test('is given the write, its refusal, and a signal', async () => {
    const given: WasOursContext[] = [];
    await write(
      {
        wasOurs: (context) => {
          given.push(context);
          return false;
        },
      },
      [lost, conflict],
    );
    const [{ request, response, signal } = {}] = given;
    expect(given).toHaveLength(1);
    expect([request?.method, request?.url, request?.body]).toEqual(['PATCH', url, patch.body]);
    expect(request?.headers.get('if-match')).toBe('"1"');
    expect(await response?.text()).toBe('no');
    expect(signal).toBeInstanceOf(AbortSignal);
  });

  test('reads with the same instance, and its read is part of the operation', async () => {
    const read = answer(200, 'b', { etag: '"2"' });
    const server = fakeServer(lost, conflict, read);
    const steady = createSteadfetch({
      fetch: server.fetch,
      random: () => 0.5,
      apis: [
        {
          match: origin,
          conditional: conditionalWrites({
            wasOurs: ({ request, signal }) => steady.fetch(request.url, { signal }),
          }),
        },
      ],
    });
    const told: string[] = [];
    steady.subscribe((event) => {
      const { type, operation } = event;
      const more = type === 'request:end' ? ` ${event.method} ${event.outcome.kind}` : '';
      told.push(`${operation.id} ${type}${more}`);
    });
    const load = async (signal: AbortSignal): Promise<string> =>
      (await steady.fetch(url, { ...patch, signal })).text();
    const result = observe(retry(steady, ({ signal }) => load(signal)));
    await vi.runAllTimersAsync();
    expect(result.value).toBe('b');
    expect(told).toEqual([
      '1 operation:start',
      '1 attempt:start',
      '1 request:start',
      '1 request:end PATCH network',
      '1 attempt:end',
      '1 decision',
      '1 attempt:start',
      '1 request:start',
      '1 request:start',
      '1 request:end GET ok',
      '1 request:end PATCH http',
      '1 attempt:end',
      '1 operation:end',
    ]);
  });

  test('is asked at the first 412, too: a browser may have sent it twice', async () => {
    const { value, methods } = await write({ wasOurs: () => true }, [conflict]);
    expect((value as Response).status).toBe(204);
    expect(methods).toEqual(['PATCH']);
  });

  test('is asked about a PUT and a DELETE', async () => {
    for (const method of ['PUT', 'DELETE']) {
      const { value } = await write({ wasOurs: () => true }, [lost, conflict], {
        ...patch,
        method,
      });
      expect((value as Response).status).toBe(204);
    }
  });

  test('is not asked about a write without a condition, or another refusal', async () => {
    const wasOurs = vi.fn<() => boolean>(() => true);
    await write({ wasOurs }, [conflict], { ...patch, headers: {} });
    await write({ wasOurs }, [answer(404)]);
    await write({ wasOurs }, [answer(200)]);
    expect(wasOurs).not.toHaveBeenCalled();
  });

  test.each<readonly [string, ConditionalWritesOptions['wasOurs'], string]>([
    ['fails', () => Promise.reject(new Error('no')), 'threw Error: no'],
    ['returns anything else', () => 'yes' as never, 'returned string'],
    ['returns an object that is no Response', () => ({ status: 5 }) as never, 'returned object'],
    ['returns null', () => null as never, 'returned null'],
    ['hangs', () => new Promise<never>(() => {}), 'threw AbortError'],
  ])('that %s leaves the outcome unknown', async (_, wasOurs, said) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const { outcome, methods } = await write({ wasOurs }, [lost, conflict]);
    expect(outcome).toMatchObject({ status: 412, processed: 'unknown' });
    expect(methods).toEqual(['PATCH', 'PATCH']);
    expect(warn.mock.calls.join()).toContain(`conditional: wasOurs ${said}`);
  });

  test.each([301, 401, 404, 410, 500, 503])(
    'that finds a %i leaves the outcome unknown, and after one attempt a plain conflict',
    async (status) => {
      const wasOurs = () => new Response(null, { status });
      const twice = await write({ wasOurs }, [lost, conflict]);
      expect(twice.outcome).toMatchObject({ status: 412, processed: 'unknown' });
      const once = await write({ wasOurs }, [conflict]);
      expect(once.outcome).toMatchObject({ status: 412, processed: 'no' });
    },
  );

  test('that fails at the first 412 leaves it a plain conflict', async () => {
    vi.spyOn(console, 'warn').mockReturnValue(undefined);
    const { outcome } = await write({ wasOurs: () => Promise.reject(new Error('no')) }, [conflict]);
    expect(outcome).toMatchObject({ status: 412, processed: 'no' });
  });

  test('that the caller aborts ends with its reason', async () => {
    const { steady } = rig({ wasOurs: () => new Promise<never>(() => {}) }, [conflict]);
    const controller = new AbortController();
    const result = observe(steady.fetch(url, { ...patch, signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(100);
    controller.abort('enough');
    await vi.advanceTimersByTimeAsync(0);
    expect(result.error).toBe('enough');
  });

  test('leaves the place of the write to others meanwhile', async () => {
    let done: (isOurs: boolean) => void = () => {};
    const { steady, server } = rig({ wasOurs: () => new Promise((resolve) => (done = resolve)) }, [
      conflict,
      answer(),
    ]);
    const result = observe(steady.fetch(url, patch));
    await vi.advanceTimersByTimeAsync(0);
    await steady.fetch(url);
    expect(server.requests).toHaveLength(2);
    done(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(result.state).toBe('resolved');
  });
});

describe('a mutation', () => {
  /** How a mutation ends. */
  async function mutate(
    options: ConditionalWritesOptions | undefined,
    handlers: readonly [Handler, ...Handler[]],
    second?: string,
  ) {
    const { steady } = rig(options, handlers);
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const observer = new MutationObserver(
      client,
      mutationOptions(steady, {
        async mutationFn(_: undefined, { fetch }) {
          if (second) await fetch(second, { ...patch, method: 'PUT' });
          return (await fetch(url, patch)).status;
        },
      }),
    );
    const result = observe(observer.mutate(undefined));
    await vi.runAllTimersAsync();
    return result;
  }

  test('with a condition is sent again without a key, and succeeds by its read', async () => {
    expect(await mutate({ wasOurs: () => true }, [lost, conflict])).toMatchObject({ value: 204 });
  });

  test('with a condition gets no key, also where its API takes them', async () => {
    const { steady, server } = rig(undefined, [lost, answer()], { idempotency: profiles.draft });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const options = mutationOptions(steady, {
      mutationFn: async (_: undefined, { fetch }) => (await fetch(url, patch)).status,
    });
    const result = observe(new MutationObserver(client, options).mutate(undefined));
    await vi.runAllTimersAsync();
    expect(result.value).toBe(200);
    expect(server.requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual([
      null,
      null,
    ]);
  });

  test('that another has won is surely not done', async () => {
    const { error } = await mutate({ wasOurs: () => false }, [lost, conflict]);
    expect(outcomeOf(error)).toMatchObject({ status: 412, processed: 'no' });
  });

  test('that another has won is unknown where another request of it was done', async () => {
    const handlers = [answer(), lost, conflict, conflict] as const;
    const { error } = await mutate({ wasOurs: () => false }, handlers, `${origin}/notes/2`);
    expect(outcomeOf(error)).toMatchObject({ status: 412, processed: 'unknown' });
  });

  test('of which nobody knows is unknown', async () => {
    const { error } = await mutate(undefined, [lost, conflict]);
    expect(outcomeOf(error)).toMatchObject({ status: 412, processed: 'unknown' });
  });
});

test('a time limit is no plain failure either', async () => {
  const init = { ...patch, timeout: 1000 };
  const { outcome } = await write(undefined, [hang, conflict], init);
  expect(outcome).toMatchObject({ status: 412, processed: 'unknown' });
});

test('wrong options are refused', async () => {
  expect(() => conditionalWrites({ wasOurs: true } as never)).toThrow('wasOurs is true');
  expect(() => conditionalWrites({ read: () => true } as never)).toThrow('wasOurs, isConditional');
  const error = await rejectionOf(
    (async () => createSteadfetch({ apis: [{ match: '/', conditional: true as never }] }))(),
  );
  expect(`${error as Error}`).toContain('what conditionalWrites() returns');
});
