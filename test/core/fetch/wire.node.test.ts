import {
  createSteadfetch,
  NetworkError,
  type SteadfetchEvent,
  TimeoutError,
  retry,
} from 'steadfetch';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { AnswerName } from '../../browser/answers.ts';
import { type HostileServer, startServer } from '../../browser/server.ts';
import { openTalk, type Talk } from '../../browser/talk.ts';
import { bodyReaderEntries } from './body-readers.ts';
import { fakeTime, observe, rejectionOf } from './observe.ts';

let server: HostileServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

beforeEach(fakeTime);
afterEach(() => void vi.useRealTimers());

const talkOf = (...answers: readonly [AnswerName, ...AnswerName[]]): Talk =>
  openTalk(server.origin, ...answers);

test("with Node's fetch, too, a good answer is a Response", async () => {
  const { url, log } = talkOf('ok');
  const response = await createSteadfetch().fetch(url);
  expect(response).toBeInstanceOf(Response);
  expect(await response.clone().text()).toBe('{"id":1}');
  expect(await response.json()).toEqual({ id: 1 });
  expect((await log()).requests).toHaveLength(1);
});

test.each(['reset', 'close', 'garbage'] as const)(
  'a connection that ends in "%s" before any header is a NetworkError, after one request',
  async (answer) => {
    const { url, log } = talkOf(answer);
    const error = await rejectionOf(createSteadfetch().fetch(url));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ outcome: { kind: 'network', processed: 'unknown' } });
    expect((await log()).requests).toHaveLength(1);
  },
);

test.each([
  ['reset', 'open'],
  ['reset', 'open-with-length'],
  ['cut', 'open'],
  ['cut', 'open-with-length'],
] as const)(
  'a body broken off by "%s" (%s) is a NetworkError of every reader',
  async (how, answer) => {
    for (const [name, read] of bodyReaderEntries) {
      const { url, tell } = talkOf(answer);
      const response = await createSteadfetch().fetch(url);
      const error = rejectionOf(read(response));
      await tell(how);
      expect(await error, name).toMatchObject({
        code: 'network',
        outcome: { kind: 'body', status: 200 },
        response,
      });
    }
  },
);

test('a server that never answers is a TimeoutError, and its connection is given up', async () => {
  const { url, arrived, closed } = talkOf('hang');
  const error = rejectionOf(createSteadfetch().fetch(url));
  await arrived(1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await error).toBeInstanceOf(TimeoutError);
  expect((await closed(1)).requests).toHaveLength(1);
});

test('a server that hangs within the body is a TimeoutError of every reader', async () => {
  for (const timeout of [500, { headersMs: 10_000, bodyIdleMs: 500 }]) {
    for (const [name, read] of bodyReaderEntries) {
      const { url, closed } = talkOf('open');
      const response = await createSteadfetch().fetch(url, { timeout });
      const error = rejectionOf(read(response));
      await vi.advanceTimersByTimeAsync(500);
      expect(await error, name).toMatchObject({ code: 'timeout', outcome: { phase: 'body' } });
      await closed(1);
    }
  }
});

test("the caller's abort is thrown as it is, before the headers and within the body", async () => {
  for (const answer of ['hang', 'open'] as const) {
    const controller = new AbortController();
    const { url, arrived, closed } = talkOf(answer);
    const error = rejectionOf(createSteadfetch().json(url, { signal: controller.signal }));
    await arrived(1);
    controller.abort('unmounted');
    expect(await error).toBe('unmounted');
    await closed(1);
  }
});

test('no page, no CORS: Retry-After is readable and obeyed, and no hint is said', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const { url, log, arrived } = talkOf('retry-after-hidden', 'ok');
  const steady = createSteadfetch({ random: () => 0.5 });
  const decided = new Promise<SteadfetchEvent>((resolve) => {
    steady.subscribe((event) => void (event.type === 'decision' && resolve(event)));
  });
  const value = retry(steady, (context) => steady.json(url, context));
  expect(await decided).toMatchObject({ decision: { kind: 'retry', delayMs: 2100 } });
  await vi.advanceTimersByTimeAsync(2099);
  expect((await log()).requests).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  await arrived(2);
  expect(await value).toEqual({ id: 1 });
  expect(warn).not.toHaveBeenCalled();
});

test('a relative URL has no base here: it stays the TypeError, and is not retried', async () => {
  const steady = createSteadfetch();
  const run = vi.fn<() => Promise<Response>>(() => steady.fetch('/items'));
  const result = observe(retry(steady, run, { idempotent: true }));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(result.error).toBeInstanceOf(TypeError);
  expect(run).toHaveBeenCalledTimes(1);
});

test('a body that nobody reads does not keep the process alive', async () => {
  vi.useRealTimers();
  const setTimer = vi.spyOn(globalThis, 'setTimeout');
  await createSteadfetch().fetch(talkOf('open').url);
  const timers = setTimer.mock.results
    .map(({ value }) => value as NodeJS.Timeout)
    .filter((_, call) => setTimer.mock.calls[call]?.[1] === 10_000);
  setTimer.mockRestore();
  expect(timers.map((timer) => timer.hasRef())).toEqual([false]);
});
