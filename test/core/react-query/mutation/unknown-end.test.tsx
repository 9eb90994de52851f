import { useMutation } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import {
  isSteadfetchError,
  NetworkError,
  outcomeOf,
  type Transport,
  mutationOptions,
} from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { createHandle } from '../handle.ts';
import { createOrderRig, type Send } from '../order-rig.tsx';
import { watchMutation } from '../../react/watch.tsx';

const mutationKey = ['order'];

/** An answer whose body breaks off, after its headers. */
const broken = (signal: AbortSignal): Response => body(201, signal, 10);
/** An answer whose body never comes. */
const bodyless = (signal: AbortSignal): Response => body(201, signal);
const unreadable = (): Response => new Response('<html>Created</html>', { status: 201 });
const created = (): Response => Response.json({ id: 'o1' }, { status: 201 });
const refused = (): Response => new Response('sold out', { status: 422 });
const forbidden = (): Response => new Response('no', { status: 403 });
const down = (): Promise<Response> => Promise.reject(new TypeError('Failed to fetch'));

function body(status: number, signal: AbortSignal, brokenAfterMs?: number): Response {
  const stream = new ReadableStream({
    start(controller) {
      const cut = (error: unknown): void => controller.error(error);
      signal.addEventListener('abort', () => cut(signal.reason));
      if (brokenAfterMs !== undefined) setTimeout(() => cut(new TypeError('cut')), brokenAfterMs);
    },
  });
  return new Response(stream, { status });
}

type Answers = readonly ((signal: AbortSignal) => Response | Promise<Response>)[];

function serve(answers: Answers): Transport {
  const left = [...answers];
  return async (input, init) => {
    const { signal } = new Request(new URL(input as string, location.href), init);
    const answer = left.length > 1 ? left.shift() : left[0];
    return (answer ?? created)(signal);
  };
}

/** Somebody who watches the orders, and submits; the last answer is given from then on. */
function showOrders(mutationFn: Send, answers: Answers) {
  const rig = createOrderRig({ fetch: serve(answers) });
  const watched = watchMutation(rig, mutationKey);
  rig.show(<watched.Watcher />);
  const options = mutationOptions(rig.steady, { mutationKey, mutationFn });
  return { ...rig, ...watched, order: () => rig.submit(options) };
}

const text: Send = async (_, { fetch }) => (await fetch('/orders', { method: 'POST' })).text();
const json: Send = (_, { json: ask }) => ask('/orders', { method: 'POST' });

class OutOfStock extends Error {}

/** The order is accepted, and something comes after it. */
const after =
  (next: Send): Send =>
  async (variables, context) => {
    await context.fetch('/orders', { method: 'POST' });
    return next(variables, context);
  };

describe('a mutation that may have been done', () => {
  test.each<[string, Send, Answers, object]>([
    ['whose answer breaks off every time', text, [broken], { kind: 'body', status: 201 }],
    ['whose answer stays away', text, [bodyless], { kind: 'timeout', phase: 'body' }],
    ['whose answer cannot be parsed', json, [unreadable], { kind: 'body', status: 201 }],
    ['that no answer came to', text, [down], { kind: 'network' }],
    ['that was refused after no answer came', text, [down, refused], { kind: 'http', status: 422 }],
    [
      'of which a later request is refused',
      after((_, { fetch }) => fetch('/labels', { method: 'POST', step: 'label' })),
      [created, refused],
      { kind: 'http', status: 422 },
    ],
    [
      'of which a later read breaks off',
      after(async (_, { fetch }) => (await fetch('/labels')).text()),
      [created, broken],
      { kind: 'body', status: 201 },
    ],
    [
      'of which a later request is not sent, by mistake',
      after((_, { fetch }) => fetch('/labels', { method: 'A B' })),
      [created],
      { kind: 'invalid' },
    ],
    [
      'of which the app makes an error of its own',
      after(() => Promise.reject(new OutOfStock('none left'))),
      [created],
      { kind: 'error' },
    ],
  ])('%s ends in an error which says so', async (_what, mutationFn, answers, outcome) => {
    const { order, time, last } = showOrders(mutationFn, answers);
    const mutation = order();
    await time.advance(300_000);
    const { status, error } = mutation.state;
    expect(status).toBe('error');
    expect(last().status).toBe('unknown');
    expect(last().lastError).toBe(error);
    expect(outcomeOf(error)).toMatchObject({ ...outcome, processed: 'unknown' });
    // Of ours, the error itself says it.
    expect(!isSteadfetchError(error) || error.outcome).toEqual(
      !isSteadfetchError(error) || outcomeOf(error),
    );
  });

  test('keeps its error: what it is, and what it carries', async () => {
    const { order, time } = showOrders(text, [broken]);
    const mutation = order();
    await time.advance(300_000);
    expect(mutation.state.error).toBeInstanceOf(NetworkError);
    expect(mutation.state.error).toMatchObject({
      response: { status: 201 },
      decision: { kind: 'stop', reason: 'max-retries' },
      cause: new TypeError('cut'),
    });
  });

  test('leaves the errors of the app as they are', async () => {
    const mine = Object.freeze(new OutOfStock('none left'));
    const { order, time, last } = showOrders(
      after(() => Promise.reject(mine)),
      [created],
    );
    const mutation = order();
    await time.settle();
    expect(mutation.state.error).toBe(mine);
    expect(Object.keys(mine)).toEqual([]);
    expect(last().status).toBe('unknown');
  });

  test('ends also in an error that the app has frozen', async () => {
    const { order, time, last } = showOrders(
      async (variables, context) => {
        try {
          return await text(variables, context);
        } catch (error) {
          Object.freeze(error);
          throw error;
        }
      },
      [broken],
    );
    const mutation = order();
    await time.advance(300_000);
    expect(mutation.state.status).toBe('error');
    expect(last().status).toBe('unknown');
  });

  test('is told of as it is: each attempt has shown that it was done', async () => {
    const { order, time, events } = showOrders(text, [broken]);
    order();
    await time.advance(300_000);
    const told = events.flatMap((event) => (event.type === 'decision' ? [event.failure] : []));
    expect(told).toEqual(
      Array.from({ length: 4 }, () => ({ kind: 'body', status: 201, processed: 'yes' })),
    );
    const ends = events.flatMap((event) => (event.type === 'request:end' ? [event.outcome] : []));
    expect(new Set(ends.map(({ processed }) => processed))).toEqual(new Set(['yes']));
  });

  test('and is cancelled in its wait ends in an error which says so', async () => {
    const { order, time, last } = showOrders(text, [broken]);
    const mutation = order();
    await time.advance(100);
    expect(last()).toMatchObject({ status: 'waiting', attempt: 1 });
    expect(last().lastError).toMatchObject({ outcome: { kind: 'body', processed: 'yes' } });
    act(() => last().cancel());
    await time.settle();
    expect(last().status).toBe('unknown');
    expect(mutation.state.error).toMatchObject({
      outcome: { kind: 'body', status: 201, processed: 'unknown' },
    });
  });
});

describe('a mutation that was surely not done', () => {
  test('ends in an error which says so', async () => {
    const { order, time, last } = showOrders(text, [refused]);
    const mutation = order();
    await time.settle();
    expect(last().status).toBe('failed');
    expect(mutation.state.error).toMatchObject({
      outcome: { kind: 'http', status: 422, processed: 'no' },
    });
  });
});

const gone = (reason?: unknown): { signal: AbortSignal } => ({
  signal: AbortSignal.abort(reason),
});

describe('a mutation of which nothing was sent', () => {
  test.each<[string, Send]>([
    [
      'its signal was aborted before',
      (_, { fetch }) => fetch('/orders', { method: 'POST', ...gone() }),
    ],
    [
      'its signal was aborted before, for JSON',
      (_, context) => context.json('/o', { json: 1, ...gone() }),
    ],
    [
      'its signal was aborted before, with a text',
      (_, { fetch }) => fetch('/orders', { method: 'POST', ...gone('unmounted') }),
    ],
    [
      'its time limit is no number',
      (_, { fetch }) => fetch('/orders', { method: 'POST', timeout: NaN }),
    ],
    [
      'its signal is none',
      (_, context) => context.json('/o', { json: 1, signal: {} as AbortSignal }),
    ],
  ])('has failed: %s', async (_what, mutationFn) => {
    const { order, time, last, events } = showOrders(mutationFn, [created]);
    const mutation = order();
    await time.advance(300_000);
    expect(last()).toMatchObject({ status: 'failed', attempt: 1 });
    const { error } = mutation.state;
    // A text carries nothing.
    const said = typeof error === 'string' ? 'no' : outcomeOf(error).processed;
    expect(said).toBe('no');
    expect(events.filter(({ type }) => type === 'request:start')).toEqual([]);
  });

  test('stays unknown where a request before it was sent', async () => {
    const { order, time, last } = showOrders(
      after((_, { fetch }) => fetch('/labels', { method: 'POST', step: 'label', ...gone('left') })),
      [created],
    );
    order();
    await time.settle();
    expect(last().status).toBe('unknown');
  });
});

describe('a plain mutation', () => {
  test.each<[string, Answers, string, object]>([
    [
      'refused after no answer came',
      [down, forbidden],
      'unknown',
      { status: 403, processed: 'unknown' },
    ],
    ['refused at once', [forbidden], 'failed', { status: 403, processed: 'no' }],
  ])('%s ends in an error which says as much', async (_what, answers, status, outcome) => {
    const rig = createOrderRig({ fetch: serve(answers) });
    const save = createHandle<() => void>();
    const watched = watchMutation(rig, mutationKey);
    function Form() {
      const { mutate } = useMutation({
        mutationKey,
        mutationFn: () => rig.steady.fetch('/orders', { method: 'PUT' }),
      });
      save.set(() => mutate());
      return <watched.Watcher />;
    }
    rig.show(<Form />);
    act(() => save.get()());
    await rig.time.advance(10_000);
    expect(watched.last().status).toBe(status);
    expect(watched.last().lastError).toMatchObject({ outcome });
  });
});

test('a plain mutation whose signal was aborted before it was sent has failed', async () => {
  const rig = createOrderRig({ fetch: serve([created]) });
  const save = createHandle<() => void>();
  const watched = watchMutation(rig, mutationKey);
  function Form() {
    const { mutate } = useMutation({
      mutationKey,
      mutationFn: () => rig.steady.fetch('/orders', { method: 'POST', ...gone() }),
    });
    save.set(() => mutate());
    return <watched.Watcher />;
  }
  rig.show(<Form />);
  act(() => save.get()());
  await rig.time.advance(10_000);
  expect(watched.last().status).toBe('failed');
});
