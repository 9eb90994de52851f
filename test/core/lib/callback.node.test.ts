import {
  createSteadfetch,
  defineIdempotency,
  fallback,
  retry,
  type SteadfetchConfig,
} from 'steadfetch';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { answer, fakeServer, type Handler, origin } from '../fetch/fake-server.ts';
import { fakeTime, observe } from '../fetch/observe.ts';
import { noOrigin } from '../../setup/no-origin.ts';
import { catchUnhandled, toldByNow } from '../origin/unhandled.ts';

const warn = vi.spyOn(console, 'warn');

beforeEach(() => {
  fakeTime();
  warn.mockReset().mockReturnValue();
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

const url = `${origin}/orders`;
const said = (): string[] => warn.mock.calls.map((call) => call.join(' '));

/** What an app can write where a yes or no is wanted, and should not. */
const mistakes: readonly (readonly [string, () => unknown, string])[] = [
  [
    'throws',
    () => {
      throw new Error('a mistake');
    },
    'threw Error: a mistake',
  ],
  [
    'throws what cannot be written',
    () => {
      throw Object.create(null);
    },
    'threw an object',
  ],
  ['is asynchronous', () => Promise.resolve(true), 'returned a promise'],
  [
    'is asynchronous and rejects',
    () => Promise.reject(new Error('a mistake')),
    'returned a promise',
  ],
  ['returns an object', () => ({ yes: true }), 'returned object'],
  ['returns null', () => null, 'returned null'],
  ['returns an empty text', () => '', 'returned string'],
];

/** Sends three orders, each with its retries, and gives what each of them has become. */
async function order(config: SteadfetchConfig, handler: Handler) {
  const server = fakeServer(handler, handler, answer(200, 'done'));
  const steady = createSteadfetch({ fetch: server.fetch, ...noOrigin, ...config });
  onTestFinished(() => steady.dispose());
  const results = [];
  for (let count = 0; count < 3; count++) {
    results.push(
      observe(
        retry(steady, async ({ signal }) => {
          const init = { method: 'POST', body: 'order', idempotencyKey: 'k-1', signal };
          return (await steady.fetch(url, init)).text();
        }),
      ),
    );
    await vi.runAllTimersAsync();
  }
  return { requests: server.requests.length, values: results.map(({ value }) => value) };
}

const idempotency = { header: 'Idempotency-Key' };
const keyed = { match: origin, idempotency: defineIdempotency(idempotency) };

/** Each function of an app that is asked something for a request, and the option that a mistake in it names. */
const questions: [string, string, (mistake: () => never) => SteadfetchConfig, Handler][] = [
  ['apis: match', 'apis: match', (match) => ({ apis: [{ match }, keyed] }), answer(503)],
  [
    'apis: endpoint',
    'apis: endpoint',
    (endpoint) => ({ apis: [{ ...keyed, endpoint }] }),
    answer(503),
  ],
  [
    'a profile: inProgress',
    'idempotency: inProgress',
    (inProgress) => ({
      apis: [{ ...keyed, idempotency: defineIdempotency({ ...idempotency, inProgress }) }],
    }),
    answer(409),
  ],
  [
    'a profile: shouldRetry',
    'idempotency: shouldRetry',
    (shouldRetry) => ({
      apis: [{ ...keyed, idempotency: defineIdempotency({ ...idempotency, shouldRetry }) }],
    }),
    answer(503),
  ],
  [
    'shouldRetry',
    'shouldRetry',
    (shouldRetry) => ({ apis: [keyed], policy: { shouldRetry } }),
    answer(503),
  ],
  ['random', 'random', (random) => ({ apis: [keyed], random }), answer(503)],
];

describe.each(questions)('%s', (_name, option, configure, handler) => {
  test.each(mistakes)(
    'that %s counts as not given, and is reported once',
    async (_, mistake, what) => {
      const unhandled = catchUnhandled();
      const told = await order(configure(mistake as () => never), handler);
      await toldByNow();
      expect(told).toEqual({ requests: 5, values: ['done', 'done', 'done'] });
      expect(
        said().filter((line) => line.startsWith(`[steadfetch] ${option} ${what}; `)),
      ).toHaveLength(1);
      expect(said()).toHaveLength(1);
      expect(unhandled).not.toHaveBeenCalled();
    },
  );

  test('in production a mistake is reported once, by the name of the option', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const mistake = (): never => {
      throw new Error('a mistake');
    };
    expect(await order(configure(mistake), handler)).toEqual({
      requests: 5,
      values: ['done', 'done', 'done'],
    });
    expect(said()).toEqual([`[steadfetch] wrong option: ${option}`]);
  });
});

describe('a profile: alreadyDone', () => {
  const run = (alreadyDone: () => never) =>
    order(
      { apis: [{ ...keyed, idempotency: defineIdempotency({ ...idempotency, alreadyDone }) }] },
      answer(503, '<h1>Bad gateway</h1>'),
    );

  test.each([
    [
      'throws',
      () => {
        throw new Error('no JSON');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no JSON'))],
  ])(
    'that %s, as on a body that it cannot read, has not said that it was done',
    async (_, alreadyDone) => {
      expect((await run(alreadyDone as () => never)).values).toEqual(['done', 'done', 'done']);
      expect(said()).toEqual([]);
    },
  );

  test('that resolves with anything but true has not said so, and is reported once', async () => {
    const told = await run((() => Promise.resolve({ code: 'duplicate' })) as () => never);
    expect(told).toEqual({ requests: 5, values: ['done', 'done', 'done'] });
    expect(said()).toEqual([
      '[steadfetch] idempotency: alreadyDone returned object; it counts as not set. See node_modules/steadfetch/docs/idempotency.md#answers.',
    ]);
  });
});

test.each(mistakes.slice(0, 4).filter(([name]) => name !== 'is asynchronous'))(
  'a fallback that %s leaves the failure as it is, and is reported once',
  async (_, mistake) => {
    const unhandled = catchUnhandled();
    const steady = createSteadfetch({ fetch: fakeServer(answer(404)).fetch, ...noOrigin });
    onTestFinished(() => steady.dispose());
    const instead = fallback(mistake);
    for (let count = 0; count < 2; count++) {
      const result = observe(
        retry(steady, async () => (await steady.fetch(url)).text(), { fallback: instead as never }),
      );
      await vi.runAllTimersAsync();
      expect(result.error).toMatchObject({ status: 404 });
    }
    await toldByNow();
    expect(said()).toHaveLength(1);
    expect(said()[0]).toMatch(/^\[steadfetch\] fallback threw /);
    expect(unhandled).not.toHaveBeenCalled();
  },
);

test.each(mistakes)(
  'a listener that %s disturbs nothing, and ends no process',
  async (name, mistake) => {
    const unhandled = catchUnhandled();
    const report = vi.fn<(error: unknown) => void>();
    vi.stubGlobal('reportError', report);
    const steady = createSteadfetch({ fetch: fakeServer(answer(200, 'done')).fetch });
    onTestFinished(() => steady.dispose());
    const heard: string[] = [];
    steady.subscribe(mistake);
    steady.subscribe(({ type }) => void heard.push(type));
    expect(await (await steady.fetch(url)).text()).toBe('done');
    await toldByNow();
    expect(heard).toEqual(['request:start', 'request:end']);
    expect(report).toHaveBeenCalledTimes(/throws|rejects/.test(name) ? 2 : 0);
    expect(unhandled).not.toHaveBeenCalled();
  },
);

test('a listener that throws where nobody takes errors, as on a server, is reported on the console', async () => {
  vi.stubGlobal('reportError', undefined);
  const steady = createSteadfetch({ fetch: fakeServer(answer()).fetch });
  onTestFinished(() => steady.dispose());
  const mistake = new Error('a mistake');
  steady.subscribe(() => {
    throw mistake;
  });
  await steady.fetch(url);
  expect(warn.mock.calls).toEqual([[mistake], [mistake]]);
});
