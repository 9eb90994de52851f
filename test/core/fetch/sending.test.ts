import { QueryClient, QueryObserver } from '@tanstack/react-query';
import {
  createSteadfetch,
  limitConcurrency,
  outcomeOf,
  retry,
  type Steadfetch,
  watchConnectivity,
} from 'steadfetch';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Sending } from '../../../src/core/fetch/attempt/sending.ts';
import { fakeTime, observe, rejectionOf } from './observe.ts';

beforeEach(fakeTime);

const base = 'http://api.example';

type Answer = (path: string, count: number, init: RequestInit) => Response | Promise<Response>;

/** An instance, and what it has sent: the path, and when. */
function setUp(answer: Answer, options: Parameters<typeof createSteadfetch>[0] = {}) {
  const sent: [atMs: number, path: string][] = [];
  const startedAt = Date.now();
  const steady = createSteadfetch({
    random: () => 0.5,
    fetch: async (input, init = {}) => {
      const path = (input as string).slice(base.length);
      sent.push([Date.now() - startedAt, path]);
      return answer(path, sent.filter(([, other]) => other === path).length, init);
    },
    ...options,
  });
  onTestFinished(() => steady.dispose());
  return { steady, sent };
}

const down = (): Response => new Response('', { status: 503 });

/** Takes an endpoint down by two failures. */
async function takeDown({ fetch }: Steadfetch, path: string, method = 'GET'): Promise<void> {
  for (let index = 0; index < 2; index++) await rejectionOf(fetch(base + path, { method }));
}

const types = ['application/json', 'application/problem+json', 'text/plain'];

describe.each(types)('a refusal of type %s', (type) => {
  const refusal = (status: number, headers: Record<string, string> = {}): Response =>
    new Response('{"title":"no"}', { status, headers: { 'content-type': type, ...headers } });

  test('teaches the limit that its headers tell', async () => {
    const { steady, sent } = setUp((_, count) =>
      count === 1 ? refusal(429, { 'retry-after': '2' }) : new Response('good'),
    );
    await rejectionOf(steady.fetch(`${base}/a`));
    const next = observe(steady.fetch(`${base}/a`));
    await vi.advanceTimersByTimeAsync(1999);
    expect(next.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(200);
    expect([next.state, sent.length]).toEqual(['resolved', 2]);
  });

  test('is the cause of what is not sent for it', async () => {
    const { steady } = setUp(() => refusal(503));
    await takeDown(steady, '/a');
    const paused = observe(steady.fetch(`${base}/a`, { policy: { maxPauseMs: 100 } }));
    await vi.advanceTimersByTimeAsync(100);
    expect(paused.error).toMatchObject({ name: 'NotSentError', cause: { status: 503 } });
  });

  test('whose body never comes has the limit of a silence, and holds no connection of others', async () => {
    const never = (): Response =>
      new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(1)) }), {
        status: 409,
        headers: { 'content-type': type },
      });
    const signals: (AbortSignal | null | undefined)[] = [];
    const { steady } = setUp((path, _, { signal }) => {
      signals.push(signal);
      return path === '/hang' ? new Promise<never>(() => {}) : never();
    });
    const timeout = { headersMs: 1000, bodyIdleMs: 1000 };
    const refused = Array.from({ length: 6 }, (_, index) =>
      observe(steady.fetch(`${base}/${index}`, { timeout })),
    );
    await vi.advanceTimersByTimeAsync(500);
    expect(refused.map(({ error }) => (error as Error).name)).toEqual(Array(6).fill('HttpError'));
    const behind = observe(steady.fetch(`${base}/hang`, { timeout }));
    await vi.advanceTimersByTimeAsync(499);
    expect(signals.map((signal) => signal?.aborted)).toEqual(Array(7).fill(false));
    await vi.advanceTimersByTimeAsync(1);
    expect(signals.slice(0, 6).map((signal) => signal?.aborted)).toEqual(Array(6).fill(true));
    await vi.advanceTimersByTimeAsync(1000);
    expect(behind.error).toMatchObject({ name: 'TimeoutError' });
  });
});

test('a function of retry has its time limit also after an answer whose body never came', async () => {
  const { steady } = setUp(
    () =>
      new Response(new ReadableStream({ start() {} }), {
        status: 409,
        headers: { 'content-type': 'application/problem+json' },
      }),
  );
  const run = observe(
    retry(
      steady,
      async ({ signal }) => {
        await rejectionOf(steady.fetch(`${base}/a`, { signal }));
        return new Promise<never>(() => {});
      },
      { timeout: 1000, maxRetries: 0 },
    ),
  );
  await vi.advanceTimersByTimeAsync(1999);
  expect(run.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(run.error).toMatchObject({ name: 'TimeoutError' });
});

/** What ends a POST between its turn and its sending. */
const unsent: Record<string, (steady: Steadfetch, abort: () => void) => void> = {
  'aborted when its pause ends': (steady, abort) =>
    steady.subscribe(({ type }) => type === 'pause:end' && abort()),
  'aborted while paused': (steady, abort) =>
    steady.subscribe(({ type }) => type === 'pause:start' && abort()),
};

test.each(Object.entries(unsent))('a POST that is %s is told as not done', async (_, listen) => {
  const { steady, sent } = setUp(
    () => new Promise<Response>((done) => void setTimeout(() => done(new Response('good')), 100)),
    { concurrency: limitConcurrency({ maxInFlight: 1 }) },
  );
  const controller = new AbortController();
  listen(steady, () => controller.abort());
  void steady.fetch(`${base}/a`);
  const post = observe(steady.fetch(`${base}/b`, { method: 'POST', signal: controller.signal }));
  await vi.advanceTimersByTimeAsync(300);
  expect(sent).toHaveLength(1);
  expect(outcomeOf(post.error)).toEqual({ kind: 'aborted', processed: 'no' });
});

test('a PUT that was paused, and overtaken by a later one, is told as not done', async () => {
  let isDown = true;
  const { steady, sent } = setUp(() => (isDown ? down() : new Response('good')));
  await takeDown(steady, '/a', 'PUT');
  const put = (priority: 'background' | 'user-blocking') =>
    observe(steady.fetch(`${base}/a`, { method: 'PUT', policy: { priority } }));
  const [first, later] = [put('background'), put('user-blocking')];
  await vi.advanceTimersByTimeAsync(100);
  isDown = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(sent.slice(2)).toHaveLength(1);
  expect([first.state, later.state]).toEqual(['rejected', 'resolved']);
  expect(outcomeOf(first.error)).toEqual({ kind: 'superseded', processed: 'no' });
});

test('a query that reads two endpoints sends each as its own: the probe of one is not spent on the other', async () => {
  let isDown = false;
  const { steady, sent } = setUp((path) => (path === '/b' && isDown ? down() : new Response('1')));
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const observer = new QueryObserver(client, {
    queryKey: ['both'],
    async queryFn({ signal }) {
      await steady.fetch(`${base}/a`, { signal });
      await steady.fetch(`${base}/b`, { signal });
      return true;
    },
  });
  onTestFinished(observer.subscribe(() => {}));
  await vi.advanceTimersByTimeAsync(100);
  isDown = true;
  void observer.refetch();
  await vi.advanceTimersByTimeAsync(20_000);
  const timesOf = (wanted: string) =>
    sent.filter(([, path]) => path === wanted).map(([atMs]) => atMs);
  expect(timesOf('/b')).toEqual([0, 100, 125, 1150, 2350, 3200, 4737, 7249, 14_374]);
  expect(timesOf('/a')).toEqual(timesOf('/b'));
});

test('what an origin that is down lets go all the same is retried at the pace of React Query', async () => {
  const page = () => new Response('<p>closed', { headers: { 'content-type': 'text/html' } });
  const { steady, sent } = setUp((path) => (path === '/c' ? page() : down()));
  await Promise.all(['/a', '/b', '/a', '/b'].map((path) => rejectionOf(steady.fetch(base + path))));
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const asking = observe(
    client.fetchQuery({
      queryKey: ['c'],
      queryFn: ({ signal }) => steady.json(`${base}/c`, { signal }),
    }),
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asking.state).toBe('rejected');
  expect(sent.filter(([, path]) => path === '/c').map(([atMs]) => atMs)).toEqual([
    0, 1025, 3075, 7175,
  ]);
});

describe('with one place at a time', () => {
  const concurrency = limitConcurrency({ maxInFlight: 1 });
  const after100Ms = (): Promise<Response> =>
    new Promise((resolve) => setTimeout(() => resolve(new Response('good')), 100));

  test('each goes when the one before it has its answer', async () => {
    const { steady, sent } = setUp(after100Ms, { concurrency });
    for (const path of ['/a', '/b', '/c']) void steady.fetch(base + path);
    await vi.advanceTimersByTimeAsync(500);
    expect(sent).toEqual([
      [0, '/a'],
      [100, '/b'],
      [200, '/c'],
    ]);
  });

  test('the next goes while it is still found out whether there is a network at all', async () => {
    const { steady, sent } = setUp(
      (path) => {
        if (path === '/check') return new Promise<never>(() => {});
        return path === '/a' ? Promise.reject(new TypeError('failed')) : new Response('good');
      },
      { concurrency, connectivity: watchConnectivity({ check: `${base}/check` }) },
    );
    const first = observe(steady.fetch(`${base}/a`));
    void steady.fetch(`${base}/b`);
    await vi.advanceTimersByTimeAsync(1);
    expect(first.state).toBe('rejected');
    expect(sent.map(([, path]) => path).toSorted()).toEqual(['/a', '/b', '/check']);
  });

  test('an attempt that is aborted as it gets its place leaves that to the next one', async () => {
    const { steady, sent } = setUp(after100Ms, { concurrency });
    const controller = new AbortController();
    steady.subscribe(({ type }) => type === 'pause:end' && controller.abort());
    void steady.fetch(`${base}/a`);
    const aborted = observe(steady.fetch(`${base}/b`, { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(300);
    expect(aborted.state).toBe('rejected');
    void steady.fetch(`${base}/c`);
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual([
      [0, '/a'],
      [300, '/c'],
    ]);
  });
});

test('an attempt has one outcome: what is told of it later is not recorded', () => {
  const recorded: unknown[] = [];
  const resolved: unknown[] = [];
  const ended: unknown[] = [];
  const request = {
    name: 'GET /a',
    isRepeatable: true,
    operation: {
      effects: {
        begin: () => 'effect',
        resolve: (effect: unknown, processed: unknown) => resolved.push([effect, processed]),
      },
      route: { recordEnd: (_: unknown, isAnswered: boolean) => ended.push(isAnswered) },
    },
  };
  const sending = new Sending(request as never, {} as never, (_, outcome) =>
    recorded.push(outcome),
  );
  const ok = { kind: 'ok', status: 200, processed: 'yes' } as const;
  sending.send(1000);
  sending.end(ok);
  sending.end({ kind: 'aborted', processed: 'unknown' });
  expect([sending.sentAt, recorded, resolved, ended]).toEqual([
    1000,
    [ok],
    [['effect', 'yes']],
    [true],
  ]);
});
