import {
  CancelledError,
  environmentManager,
  QueryClient,
  type QueryFunction,
  QueryObserver,
} from '@tanstack/react-query';
import { decide, type Failure, type OperationFacts, presets } from 'steadfetch';
import { retryPolicy, type RetryPolicyOptions } from 'steadfetch/policy';
import { virtualTime } from 'steadfetch/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

const headersOf = (headers: Record<string, string>) => ({
  ...headers,
  get: (name: string) => headers[name],
});

/** Errors of clients, with this status and these headers. */
const clients: Readonly<
  Record<string, (status: number, headers?: Record<string, string>) => unknown>
> = {
  'a thrown Response': (status, headers = {}) => new Response(null, { status, headers }),
  axios: (status, headers = {}) =>
    Object.assign(new Error('axios'), { response: { status, headers: headersOf(headers) } }),
  ky: (status, headers = {}) =>
    Object.assign(new Error('ky'), { response: new Response(null, { status, headers }) }),
  ofetch: (status, headers = {}) =>
    Object.assign(new Error('ofetch'), {
      statusCode: status,
      response: new Response(null, { status, headers }),
    }),
  'a cause': (status, headers = {}) =>
    new Error('outer', { cause: new Response(null, { status, headers }) }),
};

/** Queries with this policy, on virtual time. */
function open(options: RetryPolicyOptions = {}) {
  const time = virtualTime(vi);
  onTestFinished(() => time.restore());
  const startedAt = time.now();
  const client = new QueryClient({
    defaultOptions: { queries: retryPolicy({ random: () => 0.5, ...options }) },
  });
  return {
    time,
    client,
    /** When it is asked, where these are thrown one after the other. */
    async timesOf(thrown: readonly unknown[], key = 'it', forMs = 300_000): Promise<number[]> {
      const times: number[] = [];
      const observer = new QueryObserver(client, {
        queryKey: [key],
        queryFn: () => {
          times.push(time.now() - startedAt);
          if (times.length <= thrown.length) throw thrown[times.length - 1];
          return 'fine';
        },
      });
      onTestFinished(observer.subscribe(() => {}));
      await time.advance(forMs);
      return times;
    },
  };
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('with retryPolicy()', () => {
  test('is nothing else set than retry and retryDelay', () => {
    expect(Object.keys(retryPolicy()).toSorted()).toEqual(['retry', 'retryDelay']);
  });

  test('an unknown failure is retried as far as React Query would, with jitter on top', async () => {
    expect(await open().timesOf(times(9, new Error('no')))).toEqual([0, 1025, 3075, 7175]);
  });

  describe.each(Object.entries(clients))('%s', (_, fail) => {
    test.each([408, 429, 500, 502, 503, 504])('with a %i is retried', async (status) => {
      expect(await open().timesOf([fail(status)])).toEqual([0, 1025]);
    });

    test.each([400, 401, 403, 404, 409, 410, 422, 501])('with a %i is not', async (status) => {
      expect(await open().timesOf([fail(status)])).toEqual([0]);
    });

    test('is retried no earlier than its Retry-After', async () => {
      expect(await open().timesOf([fail(503, { 'retry-after': '5' })])).toEqual([0, 5250]);
    });

    test('is not retried after a Retry-After beyond maxRetryAfterMs', async () => {
      expect(await open().timesOf([fail(429, { 'retry-after': '61' })])).toEqual([0]);
    });
  });

  test.each([
    ["axios' error of a cancelled request", Object.assign(new Error(), { code: 'ERR_CANCELED' })],
    ['one with that as its cause', new Error('it', { cause: { code: 'ERR_CANCELED' } })],
    ['an AbortError', new DOMException('it', 'AbortError')],
    ["axios' error of a broken request", Object.assign(new Error(), { code: 'ECONNABORTED' })],
    ['the reason of an abort', 'replaced'],
  ])(
    '%s is retried as by React Query: the app has aborted a request, and not the query',
    async (_, error) => {
      const shouldRetry = vi.fn<() => undefined>();
      const opened = open({ shouldRetry });
      expect(await opened.timesOf(times(9, error))).toEqual([0, 1025, 3075, 7175]);
      expect(shouldRetry).toHaveBeenCalledTimes(4);
    },
  );

  test('a query that is cancelled in its request, or in its wait, is not asked for again', async () => {
    const opened = open();
    const cancelled = async (key: string, queryFn: QueryFunction, afterMs: number) => {
      const asked = vi.fn<QueryFunction>(queryFn);
      const fetching = opened.client.fetchQuery({ queryKey: [key], queryFn: asked });
      const ended = fetching.catch((error: unknown) => error);
      await opened.time.advance(afterMs);
      await opened.client.cancelQueries({ queryKey: [key] });
      await opened.time.advance(60_000);
      expect(await ended).toBeInstanceOf(CancelledError);
      return asked.mock.calls.length;
    };
    const hang: QueryFunction = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    expect(await cancelled('request', hang, 100)).toBe(1);
    expect(await cancelled('wait', () => Promise.reject(new Error('no')), 100)).toBe(1);
  });

  test('it decides as decide() does for a query of another client', () => {
    const random = (): number => 0.5;
    const statuses = [0, 301, 400, 404, 408, 409, 413, 425, 429, 500, 501, 502, 503, 504, 511, 529];
    const answers = [undefined, true, false];
    const policies = [{}, { maxRetries: 0 }, { maxRetries: 9, deadlineMs: 40_000 }, { factor: 1 }];
    let compared = 0;
    for (const own of policies)
      for (const status of statuses)
        for (const retryAfter of [undefined, '0', '7', '61'])
          for (const answer of answers) {
            const policy = { ...presets.interactive, ...own, shouldRetry: () => answer };
            const { retry, retryDelay } = retryPolicy({
              ...own,
              random,
              now: () => 0,
              shouldRetry: () => answer,
            });
            const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
            const error = status === 0 ? new Error('it') : { status, headers };
            const retryAfterMs = retryAfter === undefined ? undefined : Number(retryAfter) * 1000;
            const failure: Failure =
              status === 0
                ? { kind: 'error', processed: 'unknown' }
                : { kind: 'http', status, retryAfterMs, inProgress: false, processed: 'unknown' };
            const operation: OperationFacts = {
              id: 0,
              kind: 'query',
              method: 'GET',
              url: undefined,
              keyed: false,
              idempotent: true,
              attempt: 1,
              startedAt: 0,
              pausedMs: 0,
              retriedFor: [],
              previousBackoffMs: undefined,
            };
            const expected = decide(failure, operation, policy, {
              nowMs: 0,
              random,
              isUnpaused: true,
            });
            const delayMs = retryDelay(0, error);
            const isRetried = retry(0, error);
            const told = [own, status, retryAfter, answer];
            expect([told, isRetried]).toEqual([told, expected.kind === 'retry']);
            if (expected.kind !== 'retry') continue;
            expect([told, delayMs]).toEqual([told, expected.delayMs]);
            compared++;
          }
    expect(compared).toBeGreaterThan(100);
  });

  const untouchable = (): object =>
    new Proxy(
      {},
      {
        get() {
          throw new Error('do not touch');
        },
      },
    );

  test.each<readonly [string, () => unknown]>([
    ['text', () => 'text'],
    ['number', () => 0],
    ['null', () => null],
    ['undefined', () => undefined],
    ['symbol', () => Symbol('it')],
    ['object that throws', untouchable],
  ])('a thrown %s hangs nothing', async (_, make) => {
    expect(await open().timesOf(times(9, make()))).toHaveLength(4);
  });

  test('no attempt starts after the deadline, of each query its own', async () => {
    const { timesOf, time } = open({ maxRetries: Infinity, deadlineMs: 20_000 });
    const first = timesOf(times(99, new Error('one')), 'one', 60_000);
    await time.advance(4000);
    const second = timesOf(times(99, new Error('other')), 'other', 60_000);
    expect([(await first).length, (await second).length]).toEqual([5, 5]);
  });

  test.each<readonly [string, unknown]>([
    ['an unknown failure', new Error('no')],
    ['a 404', new Response(null, { status: 404 })],
  ])(
    'a query whose own retry goes on is retried at the pace of React Query: %s',
    async (_, error) => {
      const { retry: _ours, ...own } = retryPolicy({ random: () => 0 });
      const alone = Array.from({ length: 40 }, (__, n) => Math.min(1000 * 2 ** n, 30_000));
      expect(alone.map((___, n) => own.retryDelay(n, error))).toEqual(alone);
    },
  );

  test('what is retried once is counted for each query', async () => {
    expect(await open().timesOf(times(9, new Response(null, { status: 425 })))).toHaveLength(2);
  });

  test('shouldRetry comes before the status', async () => {
    const shouldRetry = () => false;
    expect(await open({ shouldRetry }).timesOf([new Error('no')])).toEqual([0]);
  });

  // The floor of React Query has none.
  test.skipIf(!environmentManager)('nothing is retried on a server', async () => {
    environmentManager.setIsServer(() => true);
    onTestFinished(() => environmentManager.setIsServer(() => typeof window === 'undefined'));
    expect(await open().timesOf([new Error('no')])).toEqual([0]);
  });

  test('a wrong option is refused', () => {
    expect(() => retryPolicy({ maxRetries: -1 })).toThrow(
      'retryPolicy: maxRetries is -1, and must be a number from 0 to Infinity.',
    );
    expect(() => retryPolicy({ timeout: 1 } as never)).toThrow('retryPolicy: timeout');
    expect(() => retryPolicy({ capMs: 10 })).toThrow('retryPolicy: capMs is 10');
  });

  test.each([NaN, -1, 'soon', undefined])(
    'in production baseMs: %s counts as not given',
    (baseMs) => {
      vi.stubEnv('NODE_ENV', 'production');
      onTestFinished(() => void vi.unstubAllEnvs());
      const { retryDelay } = retryPolicy({ baseMs, random: () => 0 } as RetryPolicyOptions);
      expect(retryDelay(0, new Error('it'))).toBe(1000);
    },
  );
});
