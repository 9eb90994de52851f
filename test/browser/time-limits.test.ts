import { createSteadfetch, TimeoutError, retry } from 'steadfetch';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { bodyReaderEntries } from '../core/fetch/body-readers.ts';
import { fakeTime, observe, rejectionOf } from '../core/fetch/observe.ts';
import { noOrigin } from '../setup/no-origin.ts';
import { openTalk } from './talk.ts';

// The network is real and time is not: nothing here depends on how fast this machine is.
beforeEach(fakeTime);
afterEach(() => void vi.useRealTimers());

const [origin] = inject('origins');
const idle = { headersMs: 1000, bodyIdleMs: 500 };

test.each([10_000, { headersMs: 10_000, bodyIdleMs: 1 }])(
  'a server that never answers: TimeoutError at the limit (%o), and the connection is given up',
  async (timeout) => {
    const talk = openTalk(origin, 'hang');
    const result = observe(createSteadfetch().fetch(talk.url, { timeout }));
    await talk.arrived(1);
    await vi.advanceTimersByTimeAsync(9999);
    expect(result.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    const { requests } = await talk.closed(1);
    expect(result.error).toBeInstanceOf(TimeoutError);
    expect(result.error).toMatchObject({ code: 'timeout', outcome: { phase: 'headers' } });
    expect(requests).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  },
);

/** Until it is there, the real network decides when the silence begins. */
const firstPart = async (response: Response): Promise<unknown> =>
  response.clone().body?.getReader().read();

test('a server that hangs within the body: TimeoutError of every reader', async () => {
  for (const [name, read] of bodyReaderEntries) {
    const talk = openTalk(origin, 'open');
    const response = await createSteadfetch().fetch(talk.url);
    await firstPart(response);
    const result = observe(read(response));
    // Firefox hands a part to the second of two readers in a task of its own.
    await talk.arrived(1);
    await vi.advanceTimersByTimeAsync(9999);
    expect(result.state, name).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    await talk.closed(1);
    expect(result.error, name).toBeInstanceOf(TimeoutError);
    expect(result.error, name).toMatchObject({ outcome: { phase: 'body', processed: 'yes' } });
    expect((result.error as TimeoutError).response, name).toBe(response);
    expect(vi.getTimerCount(), name).toBe(0);
  }
});

test('a silence within the body that is too long: TimeoutError of every reader', async () => {
  for (const [name, read] of bodyReaderEntries) {
    const talk = openTalk(origin, 'open');
    const response = await createSteadfetch().fetch(talk.url, { timeout: idle });
    await firstPart(response);
    const thrown = rejectionOf(read(response));
    await vi.advanceTimersByTimeAsync(500);
    const error = await thrown;
    expect(error, name).toBeInstanceOf(TimeoutError);
    expect(error, name).toMatchObject({ outcome: { phase: 'body', processed: 'yes' } });
    await talk.closed(1);
  }
});

test('a body that nobody reads has no limit and no timer', async () => {
  const talk = openTalk(origin, 'open');
  const response = await createSteadfetch().fetch(talk.url);
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(3_600_000);
  await talk.tell('push', ':1}');
  await talk.tell('end');
  expect(await response.json()).toEqual({ id: 1 });
});

test('a stream may last for ever, as long as no silence in it is too long', async () => {
  const talk = openTalk(origin, 'open');
  const response = await createSteadfetch().fetch(talk.url, { timeout: idle });
  const reader = response.body?.getReader();
  const next = async (): Promise<string> => new TextDecoder().decode((await reader?.read())?.value);
  expect(await next()).toBe('{"id"');
  for (const text of [':', '1', '}']) {
    const chunk = next();
    await vi.advanceTimersByTimeAsync(499);
    await talk.tell('push', text);
    expect(await chunk).toBe(text);
    expect(vi.getTimerCount()).toBe(0);
    // The reader takes its time, which is its own.
    await vi.advanceTimersByTimeAsync(60_000);
  }
  const end = observe(Promise.resolve(reader?.read()));
  await vi.advanceTimersByTimeAsync(499);
  expect(end.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  await talk.closed(1);
  expect(end.error).toMatchObject({ code: 'timeout', outcome: { phase: 'body' } });
});

test('a stream that ends in time is whole', async () => {
  const talk = openTalk(origin, 'open');
  const steady = createSteadfetch();
  const value = steady.json(talk.url, { timeout: idle });
  await talk.arrived(1);
  await talk.tell('push', ':1}');
  await talk.tell('end');
  expect(await value).toEqual({ id: 1 });
  expect(vi.getTimerCount()).toBe(0);
});

test('retry makes a new request after a time-out, and gives the old one up', async () => {
  const talk = openTalk(origin, 'hang', 'ok');
  const steady = createSteadfetch({ policy: { backoff: 'none' }, ...noOrigin });
  const value = retry(steady, (context) => steady.json(talk.url, context));
  await talk.arrived(1);
  await vi.advanceTimersByTimeAsync(10_999);
  expect((await talk.closed(1)).requests).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await value).toEqual({ id: 1 });
  expect((await talk.log()).requests).toHaveLength(2);
});
