import { createSteadfetch, retry, watchConnectivity } from 'steadfetch';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { sleep as wait } from '../../../src/core/lib/timer.ts';
import { systemClock } from '../../../src/core/lib/clock.ts';
import {
  answer,
  fakeServer,
  type Handler,
  hang,
  origin,
  refuse,
  streaming,
} from '../fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../fetch/observe.ts';

beforeEach(fakeTime);

/** The wall clock goes on, and nothing else: a frozen tab, a laptop that is shut. */
const sleep = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
function setVisibility(value: DocumentVisibilityState): void {
  Object.defineProperty(document, 'visibilityState', { value, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(document, 'visibilityState'));
}
const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const start = (handler: Handler) =>
  createSteadfetch({ fetch: fakeServer(handler).fetch, connectivity: watchConnectivity() });

test('an answer that came while the tab was frozen is no time-out, though its timer is overdue', async () => {
  let respond = (): void => {};
  const steady = start(() => new Promise((resolve) => (respond = () => resolve(new Response()))));
  const call = observe(steady.fetch(`${origin}/a`, { timeout: 5000 }));
  await advance(4000);
  sleep(60_000);
  // The overdue timer is the first to run, and then comes the answer.
  vi.advanceTimersByTime(1000);
  respond();
  await settled();
  expect(call.state).toBe('resolved');
});

test('time that the tab was frozen does not count: the limit starts anew, once', async () => {
  const steady = start(hang);
  const call = observe(steady.fetch(`${origin}/a`, { timeout: 5000 }));
  await advance(4000);
  sleep(60_000);
  await advance(1000 + 4999);
  expect(call.state).toBe('pending');
  await advance(1);
  expect(call.error).toMatchObject({ code: 'timeout' });
});

test('timers that are late each time, as those of a hidden tab, still end it', async () => {
  setVisibility('hidden');
  const steady = start(hang);
  const call = observe(steady.fetch(`${origin}/a`, { timeout: 5000 }));
  for (const state of ['pending', 'rejected']) {
    await advance(4000);
    sleep(60_000);
    await advance(1000);
    expect(call.state).toBe(state);
  }
  expect(call.error).toMatchObject({ code: 'timeout' });
});

describe('time that it was frozen never counts, however often that was within one request', () => {
  const freeze = (ms: number): void => {
    document.dispatchEvent(new Event('freeze'));
    sleep(ms);
    document.dispatchEvent(new Event('resume'));
  };
  test.each<[string, DocumentVisibilityState, () => void]>([
    ['a hidden tab that is frozen for a while', 'hidden', () => freeze(20_000)],
    ['a laptop that is shut for a while', 'visible', () => sleep(20_000)],
    ['a hidden tab on a laptop that is shut for an hour', 'hidden', () => sleep(3_600_000)],
  ])('%s', async (_name, visibility, rest) => {
    setVisibility(visibility);
    const steady = start(hang);
    const call = observe(steady.fetch(`${origin}/a`, { timeout: 5000 }));
    for (let times = 0; times < 5; times++) {
      await advance(4000);
      rest();
      await advance(1000);
    }
    await advance(4999);
    expect(call.state).toBe('pending');
    await advance(1);
    expect(call.error).toMatchObject({ code: 'timeout' });
    steady.dispose();
  });
});

describe('sleep during an attempt does not use up the deadline of its operation', () => {
  type Cut = (error: TypeError) => void;
  /** The first request stays under way until it is cut, the next ones are answered. */
  function stage(next: readonly Handler[] = [answer()], deadlineMs = 30_000) {
    let cut: Cut = () => {};
    const first: Handler = () => new Promise((_resolve, reject) => (cut = reject));
    const server = fakeServer(first, ...next);
    const origins = { health: false } as const;
    const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, ...origins });
    onTestFinished(() => steady.dispose());
    const run = () =>
      observe(
        retry(steady, ({ signal }) => steady.fetch(`${origin}/a`, { signal }), {
          timeout: 5000,
          deadlineMs,
        }),
      );
    return { server, run, cut: () => cut(new TypeError('Failed to fetch')) };
  }

  test('the connection is gone on waking: it is sent again', async () => {
    const { server, run, cut } = stage();
    const call = run();
    await advance(1000);
    sleep(3_600_000);
    cut();
    await advance(500);
    expect([call.state, server.requests.length]).toEqual(['resolved', 2]);
  });

  test('it runs into its time limit after waking: it is sent again', async () => {
    const { server, run } = stage();
    const call = run();
    await advance(1000);
    sleep(3_600_000);
    await advance(4000 + 5000 + 500);
    expect([call.state, server.requests.length]).toEqual(['resolved', 2]);
  });

  test.each([
    [6500, 2],
    [6499, 1],
  ])(
    'what an attempt takes within its limit and a second more counts: %i ms are %i requests',
    async (deadlineMs, count) => {
      const { server, run, cut } = stage([answer()], deadlineMs);
      run();
      await settled();
      sleep(3_600_000);
      cut();
      await advance(500);
      expect(server.requests.length).toBe(count);
    },
  );

  test('of two requests at once it is counted once', async () => {
    const cuts: Cut[] = [];
    const pending: Handler = () => new Promise((_resolve, reject) => cuts.push(reject));
    const server = fakeServer(pending, pending, answer());
    const origins = { health: false } as const;
    const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, ...origins });
    const both = ({ signal }: { readonly signal: AbortSignal }) =>
      Promise.all(['a', 'b'].map((path) => steady.fetch(`${origin}/${path}`, { signal })));
    const call = observe(retry(steady, both, { timeout: 5000, deadlineMs: 6499 }));
    await settled();
    sleep(3_600_000);
    for (const cut of cuts) cut(new TypeError('Failed to fetch'));
    await advance(500);
    expect([call.state, server.requests.length]).toEqual(['rejected', 2]);
  });

  test('a page that was in the back-forward cache for an hour: it is sent again, and once more', async () => {
    const { server, run, cut } = stage([refuse, answer()]);
    const call = run();
    window.dispatchEvent(new Event('pagehide'));
    cut();
    await settled();
    sleep(3_600_000);
    window.dispatchEvent(new Event('pageshow'));
    await advance(1500 + 500);
    expect([call.state, server.requests.length]).toEqual(['resolved', 3]);
  });
});

test('a timer of a hidden tab, up to a second late, is in time', async () => {
  const steady = start(hang);
  const call = observe(steady.fetch(`${origin}/a`, { timeout: 5000 }));
  sleep(1000);
  await advance(5000);
  expect(call.error).toMatchObject({ code: 'timeout' });
});

test('a wait that was over while the machine slept goes on within two seconds of waking', async () => {
  const server = fakeServer(answer(503, '', { 'retry-after': '50' }), answer());
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5 });
  const call = observe(retry(steady, ({ signal }) => steady.fetch(`${origin}/a`, { signal })));
  await advance(1000);
  sleep(3_600_000);
  await advance(999);
  expect(server.requests.length).toBe(1);
  await advance(1);
  expect(call.state).toBe('resolved');
});

test('a wall clock that is set back does not prolong a wait', async () => {
  const waited = observe(wait(systemClock, 5000, new AbortController().signal));
  await advance(1000);
  sleep(-3_600_000);
  await advance(3999);
  expect(waited.state).toBe('pending');
  await advance(1);
  expect(waited.state).toBe('resolved');
});

test('a silence within a body is not one while the tab is frozen', async () => {
  const { handler, wire } = streaming();
  const steady = start(handler);
  const response = await steady.fetch(`${origin}/a`, {
    timeout: { headersMs: 5000, bodyIdleMs: 2000 },
  });
  const body = observe(response.text());
  await advance(1000);
  sleep(60_000);
  vi.advanceTimersByTime(1000);
  wire.push('tea');
  wire.end();
  await settled();
  expect(body.value).toBe('tea');
});

test('an answer in time is one, whatever the wall clock does', async () => {
  const steady = start(answer());
  const call = observe(steady.fetch(`${origin}/a`, { timeout: 5000 }));
  sleep(-3_600_000);
  await settled();
  expect(call.state).toBe('resolved');
});
