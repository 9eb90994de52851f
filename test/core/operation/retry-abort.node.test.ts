import {
  createSteadfetch,
  limitConcurrency,
  outcomeOf,
  type RetryContext,
  retry,
} from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeServer, hang, origin, refuse, streaming } from '../fetch/fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

const reasons: readonly (readonly [string, unknown])[] = [
  ['an Error', new Error('the user left')],
  ['a string', 'unmounted'],
  ['nothing', undefined],
  ['null', null],
];

test.each(reasons)(
  'aborted with %s before it starts, the function never runs',
  async (_, reason) => {
    const controller = new AbortController();
    controller.abort(reason);
    const fn = vi.fn<() => void>();
    const { signal } = controller;
    const error = await rejectionOf(retry(createSteadfetch(), fn, { signal }));
    expect(error).toBe(signal.reason);
    expect(fn).not.toHaveBeenCalled();
  },
);

test.each(reasons)('aborted with %s in its sleep, it ends at once', async (_, reason) => {
  const controller = new AbortController();
  const { signal } = controller;
  const server = fakeServer(refuse);
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5 });
  const result = observe(retry(steady, (context) => steady.fetch(url, context), { signal }));
  await vi.advanceTimersByTimeAsync(499);
  expect([result.state, vi.getTimerCount()]).toEqual(['pending', 1]);
  controller.abort(reason);
  await settled();
  expect(result.state).toBe('rejected');
  expect(result.error).toBe(signal.reason);
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(server.requests).toHaveLength(1);
});

test.each(reasons)('aborted with %s in an attempt, it ends with that', async (_, reason) => {
  const controller = new AbortController();
  const { signal } = controller;
  const server = fakeServer(hang);
  const steady = createSteadfetch({ fetch: server.fetch });
  const result = observe(
    retry(steady, (context) => steady.fetch(url, context), { signal, shouldRetry: () => true }),
  );
  await settled();
  controller.abort(reason);
  await vi.runAllTimersAsync();
  expect(result.state).toBe('rejected');
  expect(result.error).toBe(signal.reason);
  expect(server.requests).toHaveLength(1);
});

test('the signal that the function gets is aborted with the same reason', async () => {
  const controller = new AbortController();
  let own: AbortSignal | undefined;
  const result = observe(
    retry(
      createSteadfetch(),
      (context: RetryContext) => {
        own = context.signal;
        return new Promise((_resolve, reject) => {
          own?.addEventListener('abort', () => reject(own?.reason));
        });
      },
      { signal: controller.signal },
    ),
  );
  const reason = new Error('the user left');
  controller.abort(reason);
  await settled();
  expect(own?.reason).toBe(reason);
  expect(result.error).toBe(reason);
});

test.each([true, false])(
  'whatever the function throws after the abort, the reason is what is thrown (idempotent: %o)',
  async (idempotent) => {
    const controller = new AbortController();
    const { signal } = controller;
    const result = observe(
      retry(
        createSteadfetch(),
        async (context) => {
          await new Promise<void>((resolve) => {
            context.signal.addEventListener('abort', () => resolve());
          });
          throw new TypeError('Failed to fetch');
        },
        { signal, idempotent },
      ),
    );
    controller.abort('unmounted');
    await vi.runAllTimersAsync();
    expect(result).toEqual({ state: 'rejected', error: 'unmounted' });
  },
);

test('a Response that it resolves with is still aborted by the caller while its body comes', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const steady = createSteadfetch({ fetch: fakeServer(streaming().handler).fetch });
  const response = await retry(steady, (context) => steady.fetch(url, context), { signal });
  const result = observe(response.text());
  controller.abort('unmounted');
  await settled();
  expect(result).toEqual({ state: 'rejected', error: 'unmounted' });
});

/** A write whose answer is lost is aborted before it is sent again. */
async function abortAfterOne() {
  const controller = new AbortController();
  const { signal } = controller;
  const steady = createSteadfetch({
    fetch: fakeServer(refuse, hang).fetch,
    random: () => 0.5,
    concurrency: limitConcurrency({ maxInFlight: 1 }),
  });
  const put = (context: RetryContext): Promise<Response> =>
    steady.fetch(url, { method: 'PUT', signal: context.signal });
  const result = observe(retry(steady, put, { signal }));
  await settled();
  observe(steady.fetch(url));
  return { steady, controller, signal, result };
}

test('aborted while its second attempt waits for a place, it may have been done by the first', async () => {
  const { controller, result } = await abortAfterOne();
  await vi.advanceTimersByTimeAsync(600);
  controller.abort();
  await settled();
  expect(outcomeOf(result.error)).toEqual({ kind: 'aborted', processed: 'unknown' });
});

test.each([true, false])(
  'aborted in its sleep, it may have been done, whatever else the signal keeps from being sent (first: %o)',
  async (isFirst) => {
    const { steady, controller, signal, result } = await abortAfterOne();
    const other = isFirst ? observe(steady.fetch(url, { method: 'POST', signal })) : undefined;
    await settled();
    controller.abort();
    await settled();
    if (!other) await rejectionOf(steady.fetch(url, { method: 'POST', signal }));
    expect(result.error).toBe(signal.reason);
    expect(outcomeOf(result.error)).toEqual({ kind: 'aborted', processed: 'unknown' });
  },
);

test('aborted before it starts, it was surely not done', async () => {
  const signal = AbortSignal.abort(new Error('too early'));
  const error = await rejectionOf(retry(createSteadfetch(), () => {}, { signal }));
  expect(outcomeOf(error)).toEqual({ kind: 'aborted', processed: 'no' });
});

test('a copy of what an attempt is told has its signal, which is made when it is read', async () => {
  const made = vi.spyOn(globalThis, 'AbortController');
  const steady = createSteadfetch({ random: () => 0 });
  const attempts: RetryContext[] = [];
  const errors = [new Error('first'), new Error('last')];
  const fail = (context: RetryContext) => {
    attempts.push(context);
    throw errors[attempts.length - 1] as Error;
  };
  const result = observe(retry(steady, fail, { maxRetries: 1, idempotent: true }));
  await vi.runAllTimersAsync();
  expect(result.error).toBe(errors[1]);
  expect(made).not.toHaveBeenCalled();
  // Also where that is late: the first attempt is over, and the last may have a body that is still to be read.
  const [first, last] = attempts.map((context) => ({ ...context }));
  expect([first?.attempt, first?.signal.reason]).toEqual([1, errors[0]]);
  expect([last?.attempt, last?.signal.aborted]).toEqual([2, false]);
  expect(attempts[0]?.signal).toBe(first?.signal);
});
