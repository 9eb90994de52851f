import { createSteadfetch, TimeoutError } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { bodyReaderEntries, contentType, readableByAll } from './body-readers.ts';
import { fakeServer, origin, streaming } from './fake-server.ts';
import { fakeTime, observe, settled } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/stream`;
const timeout = { headersMs: 1000, bodyIdleMs: 500 };

async function openStream() {
  const { handler, wire } = streaming({ headers: { 'content-type': contentType } });
  const server = fakeServer(handler);
  const response = await createSteadfetch({ fetch: server.fetch }).fetch(url, { timeout });
  return { response, wire, server };
}

test.each(bodyReaderEntries)(
  'the limit is on each silence: %s takes longer than any limit, and gets everything',
  async (_, read) => {
    const { response, wire } = await openStream();
    const result = observe(read(response));
    for (const character of readableByAll) {
      await vi.advanceTimersByTimeAsync(499);
      wire.push(character);
    }
    await vi.advanceTimersByTimeAsync(499);
    wire.end();
    await settled();
    expect(result.value).toBe(readableByAll);
    expect(vi.getTimerCount()).toBe(0);
  },
);

test.each(bodyReaderEntries)(
  'the limit is on each silence: %s learns of one that is too long',
  async (_, read) => {
    const { response, wire, server } = await openStream();
    const result = observe(read(response));
    await vi.advanceTimersByTimeAsync(499);
    wire.push('{"id"');
    await vi.advanceTimersByTimeAsync(499);
    expect(result.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(result.error).toBeInstanceOf(TimeoutError);
    expect(result.error).toMatchObject({
      code: 'timeout',
      outcome: { kind: 'timeout', phase: 'body', processed: 'yes' },
    });
    expect((result.error as TimeoutError).response).toBe(response);
    expect(server.requests[0]?.signal.aborted).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  },
);

test('a slow reader is not punished: only the time in which it waits for the server counts', async () => {
  const { response, wire } = await openStream();
  const reader = response.body?.getReader();
  for (const text of ['a', 'b', 'c']) {
    wire.push(text);
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(text);
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(3_600_000);
  }
  wire.end();
  expect(await reader?.read()).toEqual({ done: true, value: undefined });
});

test('a body that nobody reads has no timer', async () => {
  const { response, wire, server } = await openStream();
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(server.requests[0]?.signal.aborted).toBe(false);
  wire.push('late, and welcome');
  wire.end();
  expect(await response.text()).toBe('late, and welcome');
});

test('the time for the headers does not run on into the body', async () => {
  const { response, wire } = await openStream();
  const result = observe(response.text());
  for (const text of ['a', 'b', 'c', 'd']) {
    await vi.advanceTimersByTimeAsync(400);
    wire.push(text);
  }
  wire.end();
  await settled();
  expect(result.value).toBe('abcd');
});

test('a bodyIdleMs of Infinity is no limit on silence', async () => {
  const { handler, wire } = streaming();
  const steady = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const response = await steady.fetch(url, { timeout: { headersMs: 1000, bodyIdleMs: Infinity } });
  const result = observe(response.text());
  await vi.advanceTimersByTimeAsync(2 ** 31);
  expect(result.state).toBe('pending');
  wire.end();
  await settled();
  expect(result.value).toBe('');
});

test('the silence before the end counts, too', async () => {
  const { response, wire } = await openStream();
  const result = observe(response.text());
  wire.push('all but the end');
  await vi.advanceTimersByTimeAsync(500);
  expect(result.error).toMatchObject({ code: 'timeout' });
});

test('of a body and its clone each has its own silence', async () => {
  const { response, wire } = await openStream();
  const late = response.clone().body?.getReader();
  const result = observe(response.text());
  wire.push('a');
  await settled();
  // The clone now takes what is there already: that is no sign of life of the server.
  await vi.advanceTimersByTimeAsync(100);
  await late?.read();
  await vi.advanceTimersByTimeAsync(400);
  expect(result.error).toMatchObject({ code: 'timeout' });
});
