import { environmentManager, MutationObserver, QueryClient } from '@tanstack/react-query';
import axios from 'axios';
import {
  createSteadfetch,
  limitConcurrency,
  mutationOptions,
  outcomeOf,
  profiles,
  retry,
  type Steadfetch,
  type SteadfetchEvent,
} from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import {
  answer,
  fakeServer,
  hang,
  type Handler,
  origin,
  refuse,
  streaming,
} from '../fetch/fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from '../fetch/observe.ts';

beforeAll(() => environmentManager.setIsServer(() => false));
afterAll(() => environmentManager.setIsServer(() => true));
beforeEach(fakeTime);

const url = `${origin}/items`;
const good = answer(200, '{"name":"kite"}', { 'content-type': 'application/json' });

/** What `AbortSignal.timeout(50)` is, on the clock of the test. */
function timeLimit(): AbortSignal {
  return abortIn50(new DOMException('signal timed out', 'TimeoutError'));
}
function abortIn50(reason: unknown): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 50);
  return controller.signal;
}

/** The signal that an attempt gives its request, made of that of its operation. */
type MakeSignal = (own: AbortSignal | undefined) => AbortSignal;

const together = (own: AbortSignal | undefined, other: AbortSignal): AbortSignal =>
  own ? AbortSignal.any([own, other]) : other;

const timeLimits: readonly (readonly [string, MakeSignal])[] = [
  ['AbortSignal.timeout', timeLimit],
  ['any([own, AbortSignal.timeout])', (own) => together(own, timeLimit())],
  [
    'any([own, a limit that is no DOMException])',
    (own) => together(own, abortIn50(Object.assign(new Error('late'), { name: 'TimeoutError' }))),
  ],
];
const cancels: readonly (readonly [string, MakeSignal])[] = [
  ['a controller, an Error', () => abortIn50(new Error('superseded'))],
  ['a controller, a text', () => abortIn50('superseded')],
  ['a controller, nothing', () => abortIn50(undefined)],
  ['a controller, null', () => abortIn50(null)],
  ['any([own, a controller])', (own) => together(own, abortIn50('superseded'))],
];

/** One request of an attempt. */
type Send = (steady: Steadfetch, signal: AbortSignal, method: string) => Promise<unknown>;

const sends: readonly (readonly [string, Send])[] = [
  ['json', (steady, signal, method) => steady.json(url, { method, signal })],
  ['fetch', async (steady, signal, method) => (await steady.fetch(url, { method, signal })).json()],
  [
    'rawFetch',
    async (steady, signal, method) => (await steady.rawFetch(url, { method, signal })).json(),
  ],
  [
    'the axios adapter',
    async (steady, signal, method) => {
      const api = axios.create({ adapter: steadyAdapter(steady, axios) });
      return (await api.request<unknown>({ url, method, signal })).data;
    },
  ],
];

interface World {
  readonly steady: Steadfetch;
  readonly client: QueryClient;
  readonly requests: readonly Request[];
  readonly events: readonly SteadfetchEvent[];
}

function createWorld(...handlers: readonly [Handler, ...Handler[]]): World {
  const server = fakeServer(...handlers);
  // What axios' own adapter sends with.
  vi.stubGlobal('fetch', server.fetch);
  const { adapter } = axios.defaults;
  Object.assign(axios.defaults, { adapter: 'fetch' });
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    concurrency: limitConcurrency({ maxInFlight: 1 }),
    apis: [{ match: origin, idempotency: profiles.draft }],
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const events: SteadfetchEvent[] = [];
  steady.subscribe((event) => void events.push(event));
  onTestFinished(() => {
    client.clear();
    steady.dispose();
    Object.assign(axios.defaults, { adapter });
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
  return { steady, client, requests: server.requests, events };
}

/** An operation whose attempts are that. */
type Run = (world: World, attempt: (own: AbortSignal) => Promise<unknown>) => Promise<unknown>;

const query: Run = ({ client }, attempt) =>
  client.fetchQuery({ queryKey: ['items'], queryFn: ({ signal }) => attempt(signal) });
const loop: Run = ({ steady }, attempt) => retry(steady, ({ signal }) => attempt(signal));
const mutation: Run = ({ steady, client }, attempt) =>
  new MutationObserver(
    client,
    mutationOptions(steady, { mutationFn: (_: void, { signal }) => attempt(signal) }),
  ).mutate();

const operations: readonly (readonly [string, Run, string])[] = [
  ['a query', query, 'GET'],
  ['retry', loop, 'GET'],
  ['a mutation', mutation, 'POST'],
];

describe.each(sends)('%s', (transport, send) => {
  describe.each(operations)('in %s', (kind, run, method) => {
    test.each(timeLimits)(
      '%s before the headers is a time-out, and is retried',
      async (_, make) => {
        const world = createWorld(hang, good);
        const result = observe(run(world, (own) => send(world.steady, make(own), method)));
        await vi.advanceTimersByTimeAsync(10_000);
        expect(result.value).toEqual({ name: 'kite' });
        expect(world.requests).toHaveLength(2);
      },
    );

    test.each(timeLimits)('%s within the body is a time-out, and is retried', async (_, make) => {
      const { handler, wire } = streaming({ headers: { 'content-type': 'application/json' } });
      const world = createWorld(handler, good);
      const result = observe(run(world, (own) => send(world.steady, make(own), method)));
      await settled();
      wire.push('{');
      await vi.advanceTimersByTimeAsync(10_000);
      expect(result.value).toEqual({ name: 'kite' });
      expect(world.requests).toHaveLength(2);
    });

    test.each(timeLimits)('%s in the backoff ends nothing', async (_, make) => {
      const world = createWorld(refuse, good);
      const result = observe(run(world, (own) => send(world.steady, make(own), method)));
      await vi.advanceTimersByTimeAsync(10_000);
      expect(result.value).toEqual({ name: 'kite' });
      expect(world.requests).toHaveLength(2);
    });

    test.each(cancels)('%s is no cancel of the operation', async (_, make) => {
      const world = createWorld(hang, good);
      const result = observe(run(world, (own) => send(world.steady, make(own), method)));
      await vi.advanceTimersByTimeAsync(10_000);
      // React Query would send a query again, and no mutation.
      const isAgain = kind !== 'a mutation';
      expect([result.state, world.requests.length]).toEqual(
        isAgain ? ['resolved', 2] : ['rejected', 1],
      );
    });
  });

  test('alone, a time limit rejects as fetch does, and is a time-out', async () => {
    const { steady } = createWorld(hang);
    const signal = timeLimit();
    const failing = rejectionOf(send(steady, signal, 'GET'));
    await vi.advanceTimersByTimeAsync(50);
    const error = await failing;
    // axios has an error of its own for every abort.
    const isAxios = transport === 'the axios adapter';
    expect(isAxios ? axios.isCancel(error) : error === signal.reason).toBe(true);
    expect(outcomeOf(error)).toEqual({ kind: 'timeout', phase: 'headers', processed: 'unknown' });
  });
});

test.each(operations)(
  '%s: its own abort is final, whatever the reason',
  async (kind, run, method) => {
    const world = createWorld(hang, good);
    const { steady, client } = world;
    const controller = new AbortController();
    const attempt = (signal: AbortSignal): Promise<unknown> => steady.json(url, { method, signal });
    const result = observe(
      kind === 'retry'
        ? retry(steady, (context) => attempt(context.signal), { signal: controller.signal })
        : run(world, attempt),
    );
    await settled();
    controller.abort(new DOMException('signal timed out', 'TimeoutError'));
    await client.cancelQueries();
    await vi.advanceTimersByTimeAsync(5000);
    expect(world.requests).toHaveLength(1);
    expect(kind !== 'retry' || result.error === controller.signal.reason).toBe(true);
  },
);

test('the real AbortSignal.timeout is known by its reason', async () => {
  vi.useRealTimers();
  const server = fakeServer(hang);
  const steady = createSteadfetch({ fetch: server.fetch });
  onTestFinished(() => steady.dispose());
  const error = await rejectionOf(steady.fetch(url, { signal: AbortSignal.timeout(1) }));
  expect([(error as Error).name, outcomeOf(error).kind]).toEqual(['TimeoutError', 'timeout']);
});

test('a time limit of the app says nothing of the server: nothing else is paused by it', async () => {
  const world = createWorld(hang, hang, hang, hang, good);
  const { steady, client } = world;
  const failing = client
    .fetchQuery({ queryKey: ['slow'], queryFn: () => steady.json(url, { signal: timeLimit() }) })
    .catch(() => {});
  await vi.advanceTimersByTimeAsync(20_000);
  await failing;
  expect(world.requests).toHaveLength(4);
  expect(world.events.filter(({ type }) => type === 'pause:start')).toEqual([]);
  expect(await steady.json(url)).toEqual({ name: 'kite' });
});

describe('while its request is paused', () => {
  /** The only place is taken until that is let go. */
  const occupy = (...handlers: readonly Handler[]) => {
    const world = createWorld(hang, ...handlers);
    const controller = new AbortController();
    observe(world.steady.fetch(`${origin}/first`, { signal: controller.signal }));
    return { ...world, leave: () => controller.abort() };
  };

  test('a time limit is a time-out of what was surely not done', async () => {
    const { steady } = occupy(good);
    const signal = timeLimit();
    const failing = rejectionOf(steady.json(url, { method: 'POST', signal }));
    await vi.advanceTimersByTimeAsync(50);
    const error = await failing;
    expect(error).toBe(signal.reason);
    expect(outcomeOf(error)).toEqual({ kind: 'timeout', phase: 'headers', processed: 'no' });
  });

  test.each(operations)('%s goes on after a time limit', async (_, run, method) => {
    const world = occupy(good);
    const result = observe(
      run(world, () => world.steady.json(url, { method, signal: timeLimit() })),
    );
    await vi.advanceTimersByTimeAsync(60);
    expect(world.requests).toHaveLength(1);
    world.leave();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(result.value).toEqual({ name: 'kite' });
    expect(world.requests).toHaveLength(2);
  });
});

test('one limit for all attempts ends them: what it has ended once is not sent again', async () => {
  const world = createWorld(hang, good);
  const limit = timeLimit();
  const result = observe(retry(world.steady, () => world.steady.json(url, { signal: limit })));
  await vi.advanceTimersByTimeAsync(500 + 50);
  expect(result.error).toBe(limit.reason);
  expect(world.requests).toHaveLength(1);
});

test('within a mutation, also of its own json: a time limit is a time-out', async () => {
  const world = createWorld(hang, good);
  const options = mutationOptions(world.steady, {
    mutationFn: (_: void, { json }) => json(url, { method: 'POST', signal: timeLimit() }),
  });
  const result = observe(new MutationObserver(world.client, options).mutate());
  await vi.advanceTimersByTimeAsync(10_000);
  expect(result.value).toEqual({ name: 'kite' });
  const keys = world.requests.map(({ headers }) => headers.get('idempotency-key'));
  expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
});
