import { createSteadfetch, type HttpError, TimeoutError } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { bodyReaderEntries, contentType, readableByAll } from './body-readers.ts';
import { answer, fakeServer, origin, streaming } from './fake-server.ts';
import { fakeTime, observe, rejectionOf } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;
const form = { headers: { 'content-type': contentType } };

test.each(bodyReaderEntries)('%s reads what was sent', async (_, read) => {
  const server = fakeServer(answer(200, readableByAll, form.headers));
  const response = await createSteadfetch({ fetch: server.fetch }).fetch(url);
  expect(await read(response)).toBe(readableByAll);
});

test.each(bodyReaderEntries)(
  'a number limits the headers, and then each silence of the body: %s reports the one that is too long',
  async (_, read) => {
    const { handler, wire } = streaming(form);
    const server = fakeServer(async (request) => {
      await new Promise<void>((resolve) => void setTimeout(resolve, 9999));
      return handler(request);
    });
    const fetched = observe(createSteadfetch({ fetch: server.fetch }).fetch(url));
    await vi.advanceTimersByTimeAsync(9999);
    const response = fetched.value as Response;
    const result = observe(read(response));
    await vi.advanceTimersByTimeAsync(9999);
    wire.push('{"id"');
    await vi.advanceTimersByTimeAsync(9999);
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

test.each(bodyReaderEntries)(
  'a body that flows is never cut off: %s reads for over a minute under a limit of 10 s',
  async (_, read) => {
    const { handler, wire } = streaming(form);
    const server = fakeServer(handler);
    const response = await createSteadfetch({ fetch: server.fetch }).fetch(url);
    const result = observe(read(response));
    for (const character of readableByAll) {
      await vi.advanceTimersByTimeAsync(9999);
      wire.push(character);
    }
    await vi.advanceTimersByTimeAsync(9999);
    wire.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(result.value).toBe(readableByAll);
    expect(vi.getTimerCount()).toBe(0);
  },
);

test.each(bodyReaderEntries)(
  'a body that nobody reads has no timer and no limit: %s reads it an hour later',
  async (_, read) => {
    const { handler, wire } = streaming(form);
    const server = fakeServer(handler);
    const response = await createSteadfetch({ fetch: server.fetch }).fetch(url);
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(server.requests[0]?.signal.aborted).toBe(false);
    wire.push(readableByAll);
    wire.end();
    expect(await read(response)).toBe(readableByAll);
  },
);

test('both readers of a clone and of the original learn of the time-out', async () => {
  const { handler } = streaming();
  const response = await createSteadfetch({ fetch: fakeServer(handler).fetch }).fetch(url);
  const results = [observe(response.clone().text()), observe(response.json())];
  await vi.advanceTimersByTimeAsync(10_000);
  expect(results.map(({ error }) => error)).toMatchObject([
    { code: 'timeout', outcome: { phase: 'body' } },
    { code: 'timeout', outcome: { phase: 'body' } },
  ]);
});

test('a clone is still guarded when the original has been cancelled', async () => {
  const { handler } = streaming();
  const response = await createSteadfetch({ fetch: fakeServer(handler).fetch }).fetch(url);
  const result = observe(response.clone().text());
  void response.body?.cancel();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(result.error).toMatchObject({ code: 'timeout', outcome: { phase: 'body' } });
});

test('the late body of an HttpError is a TimeoutError with the outcome of the status', async () => {
  const { handler } = streaming({ status: 503 });
  const steady = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const httpError = (await rejectionOf(steady.fetch(url))) as HttpError;
  const result = observe(httpError.response.text());
  await vi.advanceTimersByTimeAsync(10_000);
  expect(result.error).toMatchObject({
    code: 'timeout',
    response: httpError.response,
    outcome: { kind: 'http', status: 503, processed: 'unknown' },
  });
});

test('a body read in time is no time-out later', async () => {
  const { handler, wire } = streaming();
  const server = fakeServer(handler);
  const response = await createSteadfetch({ fetch: server.fetch }).fetch(url);
  const result = observe(response.text());
  wire.push('all of it');
  await vi.advanceTimersByTimeAsync(9999);
  wire.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(result.value).toBe('all of it');
  expect(server.requests[0]?.signal.aborted).toBe(false);
});

test('steady.json is covered to the last byte', async () => {
  const { handler, wire } = streaming();
  const result = observe(createSteadfetch({ fetch: fakeServer(handler).fetch }).json(url));
  await vi.advanceTimersByTimeAsync(5000);
  wire.push('{"id":1');
  await vi.advanceTimersByTimeAsync(9999);
  expect(result.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(result.error).toMatchObject({ code: 'timeout', outcome: { phase: 'body' } });
});

test('the message of a late body is for a user', async () => {
  const { handler } = streaming();
  const steady = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const result = observe(steady.json(`${url}?token=secret`));
  await vi.advanceTimersByTimeAsync(10_000);
  const { message } = result.error as TimeoutError;
  expect(message).toBe('The answer did not arrive in time.');
});
