import { isDeepStrictEqual } from 'node:util';
import {
  type DefaultOptions,
  MutationObserver,
  QueryClient,
  QueryObserver,
} from '@tanstack/react-query';
import {
  classifyOutcomes,
  createSteadfetch,
  mutationOptions,
  observeOnly,
  profiles,
  type Steadfetch,
  type SteadfetchConfig,
} from 'steadfetch';
import { virtualTime } from 'steadfetch/testing';
import { describe, expect, test, vi } from 'vitest';

const origin = 'http://api.example';

interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
  /** How long each answer takes. @default 0 */
  readonly latencyMs?: number;
  /** It answers nothing until its end. @default false */
  readonly isHanging?: boolean;
  /** @default 503 */
  readonly status?: number;
  readonly retryAfter?: string;
}

/** An app of a few queries that poll, and a server that is down for a while. */
function open(outage: Outage, config: SteadfetchConfig | undefined) {
  const time = virtualTime(vi);
  const startedAt = time.now();
  const seen: [number, string, string | null][] = [];
  const send: typeof fetch = (input, init) => {
    const path = (input as string).slice(origin.length);
    const at = time.now() - startedAt;
    seen.push([
      at,
      `${init?.method ?? 'GET'} ${path}`,
      new Headers(init?.headers).get('idempotency-key'),
    ]);
    const isDown = at >= outage.fromMs && at < outage.toMs;
    const { status = 503, retryAfter } = outage;
    const headers = new Headers(isDown && retryAfter ? { 'retry-after': retryAfter } : {});
    const response = new Response('{}', { status: isDown ? status : 200, headers });
    const hangsMs = isDown && outage.isHanging ? outage.toMs - at : 0;
    const latencyMs = hangsMs + (outage.latencyMs ?? 0);
    if (latencyMs === 0) return Promise.resolve(response);
    return new Promise((resolve) => setTimeout(() => resolve(response), latencyMs));
  };
  vi.stubGlobal('fetch', send);
  const steady = config && createSteadfetch({ random: () => 0.5, ...config });
  const defaultOptions: DefaultOptions = steady ? { ...steady.defaultOptions } : {};
  const client = new QueryClient({ defaultOptions });
  client.mount();
  const ends: (() => void)[] = [];
  const close = (): void => {
    for (const end of ends) end();
    client.unmount();
    client.clear();
    steady?.dispose();
    vi.unstubAllGlobals();
    time.restore();
  };
  const log: unknown[] = [];
  let failed = 0;
  const paused = new Set<number>();
  steady?.subscribe(({ type, operation: { id } }) => {
    if (type === 'pause:start') paused.add(id);
  });
  client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated') return;
    const { queryHash, state } = event.query;
    log.push([
      time.now() - startedAt,
      queryHash,
      event.action.type,
      state.status,
      state.fetchStatus,
      state.fetchFailureCount,
    ]);
    if (event.action.type === 'error') failed++;
  });
  const load = steady
    ? (path: string) => steady.json(origin + path)
    : async (path: string) => {
        const response = await fetch(origin + path);
        if (!response.ok) throw new Error('failed');
        return response.json();
      };
  const poll = (path: string, everyMs: number, own: object = {}): void => {
    const observer = new QueryObserver(client, {
      queryKey: [path],
      queryFn: () => load(path),
      refetchInterval: everyMs,
      ...own,
    });
    ends.push(observer.subscribe(() => {}));
  };
  return {
    time,
    client,
    steady,
    seen,
    log,
    poll,
    close,
    failed: () => failed,
    pauses: () => paused.size,
  };
}

async function run(outage: Outage, config: SteadfetchConfig | undefined, liveMs = 250) {
  const app = open(outage, config);
  for (let index = 0; index < 5; index++) {
    app.poll(`/a?${index}`, 1000);
    await app.time.advance(130);
  }
  app.poll('/a?live', liveMs, { retry: false });
  await app.time.advance(outage.toMs + 6000);
  const report = app.steady?.report?.();
  app.close();
  return { ...app, report, failed: app.failed(), pauses: app.pauses() };
}

describe('createSteadfetch({ observe: observeOnly() })', () => {
  const outages: Outage[] = [
    { fromMs: 2500, toMs: 4000 },
    { fromMs: 2500, toMs: 22_500 },
    { fromMs: 2500, toMs: 62_500 },
  ];

  test.each(outages)(
    'changes nothing of React Query in an outage from $fromMs to $toMs ms',
    async (outage) => {
      const alone = await run(outage, undefined);
      const observed = await run(outage, { observe: observeOnly() });
      expect(observed.log).toEqual(alone.log);
      expect(observed.seen).toEqual(alone.seen);
    },
  );

  test.each([
    [429, '4'],
    [429, '90'],
    [429, undefined],
    [503, '4'],
    [529, '4'],
    [500, '4'],
    [404, undefined],
  ])('nor where each answer is a %i with a Retry-After of %s', async (status, retryAfter) => {
    const outage = { fromMs: 2500, toMs: 12_500, status, ...(retryAfter && { retryAfter }) };
    const alone = await run(outage, undefined);
    const observed = await run(outage, { observe: observeOnly() });
    expect(observed.log).toEqual(alone.log);
    expect(observed.seen).toEqual(alone.seen);
  });

  test.each([
    [false, undefined],
    [true, undefined],
    [true, 2],
  ])(
    'nor of a query that is disabled within its wait: observed %s, with a retry of its own: %s',
    async (isObserved, retry) => {
      const time = virtualTime(vi);
      const startedAt = time.now();
      const steady = isObserved && createSteadfetch({ observe: observeOnly() });
      const client = new QueryClient(steady ? { defaultOptions: steady.defaultOptions } : {});
      const times: number[] = [];
      const options = (enabled: boolean) => ({
        queryKey: ['it'],
        enabled,
        ...(retry !== undefined && { retry }),
        queryFn: () => {
          times.push(time.now() - startedAt);
          throw new Error('no');
        },
      });
      const observer = new QueryObserver(client, options(true));
      observer.subscribe(() => {});
      await time.advance(100);
      observer.setOptions(options(false));
      await time.advance(60_000);
      expect(times).toEqual([0, 1000, 3000, 7000].slice(0, (retry ?? 3) + 1));
      expect(observer.getCurrentResult().status).toBe('error');
      client.clear();
      if (steady) steady.dispose();
      time.restore();
    },
  );

  /** What it reports, what then happens when it is switched on, and when either sees the end of the outage. */
  const compare = async (outage: Outage, liveMs: number) => {
    const observed = await run(outage, { observe: observeOnly() }, liveMs);
    const on = await run(outage, {}, liveMs);
    expect(on.report).toBeUndefined();
    const endSeenAt = ({ seen }: typeof on) => seen.find(([at]) => at >= outage.toMs)?.[0] ?? NaN;
    return {
      report: observed.report,
      happens: {
        pauses: on.pauses,
        requestsSaved: observed.seen.length - on.seen.length,
        queriesAnswered: observed.failed - on.failed,
      },
      isSeenFirst: endSeenAt(observed) <= endSeenAt(on),
    };
  };

  const lives = [100, 200, 250, 300, 500, 1000];
  const lengths = [6640, 12_640, 22_640, 32_640];
  test.each(
    lives.flatMap((liveMs) => [0, 50, 300].map((latencyMs) => [liveMs, latencyMs] as const)),
  )(
    'reports what then happens when it is switched on, beside a poll every %i ms and with answers that take %i ms',
    async (liveMs, latencyMs) => {
      for (const toMs of lengths) {
        const { report, happens, isSeenFirst } = await compare(
          { fromMs: 2500, toMs, latencyMs },
          liveMs,
        );
        // A request that the app does not make cannot show it that the outage is over.
        expect([toMs, isDeepStrictEqual(report, happens)]).toEqual([toMs, isSeenFirst]);
        expect(report?.pauses).toBeGreaterThan(4);
      }
    },
  );

  test('takes a probe between two requests of the app to fail as the first of them, so it finds the end one probe later', async () => {
    const outage = { fromMs: 2500, toMs: 22_640 };
    expect(await compare(outage, 300)).toEqual({
      report: { pauses: 39, requestsSaved: 57, queriesAnswered: 40 },
      happens: { pauses: 38, requestsSaved: 55, queriesAnswered: 40 },
      isSeenFirst: false,
    });
  });

  test('takes a request to hang while one of the app does, and counts about as many pauses', async () => {
    const outage = { fromMs: 2500, toMs: 22_640, latencyMs: 50, isHanging: true };
    const { report, happens } = await compare(outage, 1000);
    expect([report?.pauses, happens.pauses]).toEqual([4, 5]);
  });

  test('sends a write once, without a key, and retries nothing of its own', async () => {
    const app = open(
      { fromMs: 0, toMs: 60_000 },
      { observe: observeOnly(), apis: [{ match: origin, idempotency: profiles.draft }] },
    );
    const options = mutationOptions(app.steady as Steadfetch, {
      mutationKey: ['order'],
      mutationFn: (_: undefined, { json }) => json(`${origin}/orders`, { method: 'POST' }),
    });
    const mutation = new MutationObserver(app.client, options)
      .mutate(undefined)
      .catch(() => 'failed');
    await app.time.advance(60_000);
    expect(await mutation).toBe('failed');
    expect(app.seen).toEqual([[0, 'POST /orders', null]]);
    app.close();
  });

  test('counts the requests of another client, too', async () => {
    const app = open({ fromMs: 0, toMs: 60_000 }, { observe: observeOnly() });
    const queryFn = () => Promise.reject(new Error('of another client'));
    const observer = new QueryObserver(app.client, { queryKey: ['other'], queryFn });
    const stop = observer.subscribe(() => {});
    await app.time.advance(30_000);
    expect(app.steady?.report?.()).toEqual({ pauses: 0, requestsSaved: 0, queriesAnswered: 0 });
    stop();
    app.close();
  });

  test.each([
    ['unmounts, and keeps for ever', Infinity, () => {}],
    ['unmounts, and removes', 1000, (client: QueryClient) => client.clear()],
  ])('leaves no timer behind for a query that the app %s', async (_, gcTime, end) => {
    const app = open({ fromMs: 60_000, toMs: 60_000 }, { observe: observeOnly() });
    await app.time.settle();
    const before = vi.getTimerCount();
    const observer = new QueryObserver(app.client, {
      queryKey: ['one'],
      queryFn: () => app.steady?.json(`${origin}/one`),
      gcTime,
    });
    const stop = observer.subscribe(() => {});
    await app.time.settle();
    stop();
    end(app.client);
    await app.time.settle();
    expect(vi.getTimerCount()).toBe(before);
    app.close();
  });

  const boom = (): never => {
    throw new Error('boom');
  };
  const answer503: typeof fetch = async () => new Response(null, { status: 503 });
  test.each<[string, SteadfetchConfig]>([
    ['no answer of another origin', { fetch: async () => Promise.reject(new TypeError('failed')) }],
    ['a 503 of another origin without a readable Retry-After', { fetch: answer503 }],
    ['a shouldRetry that throws', { fetch: answer503, policy: { shouldRetry: boom } }],
    ['a match that throws', { apis: [{ match: boom }] }],
    ['an endpoint that throws', { apis: [{ match: origin, endpoint: boom }] }],
    ['a random that throws', { fetch: answer503, random: boom }],
    [
      'outcomes that throw',
      {
        fetch: answer503,
        apis: [{ match: origin, outcomes: classifyOutcomes({ classifyResponse: boom }) }],
      },
    ],
  ])('warns once of %s, as an instance that is switched on', async (_name, config) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const app = open({ fromMs: 60_000, toMs: 60_000 }, { observe: observeOnly(), ...config });
    app.poll('/one', 10_000);
    app.poll('/two', 10_000);
    await app.time.advance(60_000);
    app.close();
    const warnings = warn.mock.calls.map(([text]) => String(text));
    warn.mockRestore();
    expect(warnings).not.toEqual([]);
    expect(warnings).toEqual([...new Set(warnings)]);
  });

  test('refuses what observeOnly() did not make', () => {
    expect(() => createSteadfetch({ observe: true as never })).toThrow(
      'createSteadfetch: observe is true, and must be what observeOnly() returns.',
    );
  });
});
