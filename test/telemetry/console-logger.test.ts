import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  profiles,
  retry,
  type Steadfetch,
  type SteadfetchConfig,
} from 'steadfetch';
import { consoleLogger, type ConsoleLoggerOptions, type LogRecord } from 'steadfetch/telemetry';
import { beforeEach, expect, test, vi } from 'vitest';
import { noOrigin } from '../setup/no-origin.ts';
import { answer, fakeServer, type Handler, origin, refuse } from '../core/fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../core/fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;
const startedAt = 1_800_000_000_000;

/** An instance with a logger, and all that it writes: the level and the line, and the record. */
function record(
  handlers: readonly [Handler, ...Handler[]],
  options: ConsoleLoggerOptions = {},
  config: SteadfetchConfig = {},
) {
  const server = fakeServer(...handlers);
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    ...noOrigin,
    ...config,
  });
  const lines: string[] = [];
  const records: LogRecord[] = [];
  const write = (level: string) => (line: string, entry: LogRecord) => {
    lines.push(`${level} ${line}`);
    records.push(entry);
  };
  const console = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
  steady.subscribe(consoleLogger({ console, ...options }));
  return { steady, lines, records };
}

const load = (steady: Steadfetch, address = url): Promise<Response> =>
  retry(steady, (context) => steady.fetch(address, context));

test('a retry is a warning that says what failed, when the next attempt is made, and why', async () => {
  const { steady, lines, records } = record([answer(503, null, { 'retry-after': '2' }), answer()]);
  observe(load(steady));
  await vi.runAllTimersAsync();
  expect(lines).toEqual([
    `warn [steadfetch] call 1, attempt 1: GET ${url} failed: 503, Retry-After 2000 ms. ` +
      'Next attempt in 2100 ms (at most 3 retries): the server is unavailable.',
  ]);
  expect(records).toEqual([
    {
      event: 'decision',
      at: startedAt,
      operation: 1,
      kind: 'call',
      attempt: 1,
      method: 'GET',
      url,
      origin,
      outcome: 'http',
      status: 503,
      retryAfterMs: 2000,
      reason: 'unavailable',
      maxRetries: 3,
      delayMs: 2100,
      retryAt: startedAt + 2100,
    },
  ]);
});

test('an operation that fails for good is an error, also after its retries', async () => {
  const { steady, lines } = record([refuse], {}, { policy: { maxRetries: 1 } });
  observe(load(steady));
  await vi.runAllTimersAsync();
  expect(lines).toEqual([
    `warn [steadfetch] call 1, attempt 1: GET ${url} failed: no answer. ` +
      'Next attempt in 500 ms (at most 1 retries): no answer came.',
    `error [steadfetch] call 1, attempt 2: GET ${url} failed: no answer. ` +
      'No further attempt: all retries were made.',
  ]);
});

test('at debug, an operation is logged from its begin to its end', async () => {
  const { steady, lines } = record([answer(404)], { level: 'debug' });
  observe(load(steady));
  await settled();
  expect(lines).toEqual([
    'debug [steadfetch] call 1, attempt 1: begins.',
    `debug [steadfetch] call 1, attempt 1: GET ${url}.`,
    `debug [steadfetch] call 1, attempt 1: GET ${url}: 404.`,
    `error [steadfetch] call 1, attempt 1: GET ${url} failed: 404. ` +
      'No further attempt: another attempt would get the same answer.',
    'debug [steadfetch] call 1, attempt 1: failed.',
  ]);
});

test('what the user has cancelled is no error', async () => {
  const { steady, lines } = record([answer(503)]);
  const controller = new AbortController();
  const result = retry(
    steady,
    async ({ signal }) => {
      controller.abort();
      await steady.fetch(url, { signal });
    },
    { signal: controller.signal },
  );
  observe(result);
  await vi.runAllTimersAsync();
  expect(lines).toEqual([]);
});

test('a level leaves out what is below it', async () => {
  const { steady, lines } = record([refuse], { level: 'error' }, { policy: { maxRetries: 1 } });
  observe(load(steady));
  await vi.runAllTimersAsync();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^error /);
});

test('a pause is logged once though its time changes, and so is its end', async () => {
  const { steady, lines } = record([refuse, refuse, refuse, answer()], {}, { health: {} });
  observe(steady.fetch(url));
  observe(steady.fetch(url));
  await settled();
  observe(steady.fetch(url));
  await vi.runAllTimersAsync();
  expect(lines).toEqual([
    'info [steadfetch] call 3, attempt 1: paused: the server is down; next attempt in 1200 ms.',
    'info [steadfetch] call 3, attempt 1: the pause is over: probe.',
  ]);
});

test('times are whole milliseconds, in lines and records, whatever the jitter', async () => {
  const config = { health: {}, random: () => 0.123_456_789 };
  const { steady, lines, records } = record(
    [refuse, refuse, refuse, answer()],
    { level: 'debug' },
    config,
  );
  observe(load(steady));
  await vi.runAllTimersAsync();
  expect(lines.filter((line) => /in \d+\.\d/.test(line))).toEqual([]);
  const times = records.flatMap(({ delayMs, retryAt, at }) => [delayMs, retryAt, at]);
  expect(times.filter((ms) => ms !== undefined && !Number.isInteger(ms))).toEqual([]);
  expect(times.filter((ms) => ms !== undefined).length).toBeGreaterThan(8);
});

test('a retry of something down is made when that allows it, not in 0 ms', async () => {
  const { steady, lines } = record([refuse, refuse, answer()], { level: 'warn' }, { health: {} });
  observe(load(steady));
  await vi.runAllTimersAsync();
  expect(lines).toEqual([
    `warn [steadfetch] call 1, attempt 1: GET ${url} failed: no answer. Next attempt in 500 ms (at most 3 retries): no answer came.`,
    `warn [steadfetch] call 1, attempt 2: GET ${url} failed: no answer. Next attempt when its origin allows it (at most 3 retries): no answer came.`,
  ]);
});

const secret = 'c0ffee';

test('no query string, credential, fragment, body, header, key or query key is logged unless asked for', async () => {
  const handlers = [answer(500, secret, { 'x-token': secret }), answer(404, secret)] as const;
  const { steady, lines, records } = record(
    handlers,
    { level: 'debug' },
    { apis: [{ match: () => true, idempotency: profiles.draft }] },
  );
  observe(
    retry(steady, (context) =>
      steady.fetch(`${url}?token=${secret}#${secret}`, {
        ...context,
        method: 'POST',
        body: secret,
        headers: { authorization: secret },
        idempotencyKey: `${secret}-key-long-enough-for-all`,
      }),
    ),
  );
  observe(steady.fetch(`data:text/plain,${secret}`));
  observe(steady.fetch(`//user:${secret}@localhost:3000/`));
  await vi.runAllTimersAsync();
  expect(lines.length).toBeGreaterThan(6);
  expect(JSON.stringify([lines, records])).not.toContain(secret);
});

test('query strings are logged when asked for, without what comes after them', async () => {
  const { steady, lines, records } = record([answer(404)], { showQueryStrings: true });
  observe(load(steady, `${url}?page=2#top`));
  await settled();
  expect(records[0]?.url).toBe(`${url}?page=2`);
  expect(lines[0]).toContain(`GET ${url}?page=2 failed: 404.`);
});

test('query keys are logged when asked for, as JSON has them', async () => {
  const { steady, records } = record([answer(404)], { showQueryKeys: true });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const query = { queryKey: ['items', 7n], queryKeyHashFn: () => 'items 7' };
  observe(client.fetchQuery({ ...query, queryFn: () => steady.fetch(url) }));
  await settled();
  expect(records).toMatchObject([{ event: 'decision', kind: 'query', queryKey: ['items', '7'] }]);
});

test('without a console of its own it writes to that of the environment', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  const steady = createSteadfetch({ fetch: fakeServer(answer(404)).fetch });
  steady.subscribe(consoleLogger());
  observe(load(steady));
  await settled();
  expect(error.mock.calls).toMatchObject([[expect.stringContaining('404'), { status: 404 }]]);
});

test('a console that throws costs no request', async () => {
  vi.stubGlobal('reportError', () => {});
  const fail = (): never => {
    throw new Error('the disk is full');
  };
  const { steady } = record([refuse, answer(200, 'content')], {
    level: 'debug',
    console: { debug: fail, info: fail, warn: fail, error: fail },
  });
  const result = observe(load(steady).then((response) => response.text()));
  await vi.runAllTimersAsync();
  expect(result.value).toBe('content');
  vi.unstubAllGlobals();
});

test.each([
  [
    { level: 'trace' },
    "consoleLogger: level is 'trace', and must be one of debug, info, warn, error.",
  ],
  [
    { console: { warn() {} } },
    'consoleLogger: console is {}, and must be an object with the functions debug, info, warn and error.',
  ],
  [{ showQueryKeys: 1 }, 'consoleLogger: showQueryKeys is 1, and must be true or false.'],
])('a wrong option is a clear error: %o', (options, message) => {
  expect(() => consoleLogger(options as ConsoleLoggerOptions)).toThrow(new TypeError(message));
});

test('a name that is no option is a clear error', () => {
  expect(() => consoleLogger({ levels: 'warn' } as ConsoleLoggerOptions)).toThrow(
    'did you mean level?',
  );
});
