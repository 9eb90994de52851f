import { createSteadfetch } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { sleep as wait } from '../../src/fetch/sleep.ts';
import { systemClock } from '../../src/policy/clock.ts';
import { answer, fakeServer, type Handler, hang, origin, streaming } from './fake-server.ts';
import { fakeTime, observe, settled } from './observe.ts';

beforeEach(fakeTime);

/** The wall clock goes on, and nothing else: a frozen tab, a laptop that is shut. */
const sleep = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const start = (handler: Handler) => createSteadfetch({ fetch: fakeServer(handler).fetch });

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
  const call = observe(steady.retry(({ signal }) => steady.fetch(`${origin}/a`, { signal })));
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
