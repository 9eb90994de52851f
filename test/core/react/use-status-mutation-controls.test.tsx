import { mutationOptions, watchConnectivity, type SteadfetchConfig } from 'steadfetch';
import { act } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { createOrderRig, type Send, sendOrder } from '../react-query/order-rig.tsx';
import { setOnline, setVisible } from '../react-query/rig.tsx';
import { failingTwice, statusesOfFailingTwice, statusOf, watchMutation } from './watch.tsx';

const mutationKey = ['order'];

/** Somebody who watches the orders, and submits. */
function showOrders(mutationFn: Send = sendOrder, config: SteadfetchConfig = {}) {
  const rig = createOrderRig(config);
  const watched = watchMutation(rig, mutationKey);
  rig.show(<watched.Watcher />);
  const options = mutationOptions(rig.steady, { mutationKey, mutationFn });
  return {
    ...rig,
    ...watched,
    options,
    order: (own: object = {}) => rig.submit({ ...options, ...own }),
    retryNow: () => act(() => watched.last().retryNow()),
    cancel: () => act(() => watched.last().cancel()),
  };
}

const put: Send = (_, { fetch }) => fetch('/orders', { method: 'PUT' });

test('every transition of an order that fails twice and then succeeds, exactly', async () => {
  const { server, time, order, story, renders } = showOrders();
  server.plan('/orders', ...failingTwice);
  const startedAt = time.now();
  order();
  await time.advance(10_000);
  expect(story()).toEqual([
    '0 idle 0',
    '0 sending 1',
    '10 waiting 1',
    '510 sending 2',
    '520 waiting 2',
    '1520 sending 3',
    '1530 succeeded 3',
  ]);
  expect(renders.map(statusOf)).toEqual(statusesOfFailingTwice(startedAt));
});

describe('Retry now', () => {
  test.each([
    ['visible', () => {}],
    ['hidden', () => setVisible(false)],
    ['offline', () => setOnline(false)],
  ])('%s, twenty presses in the wait are one request, with the same key', async (_where, go) => {
    const { server, time, keys, order, last, elapsed } = showOrders();
    server.plan('/orders', 503, { afterMs: 10 });
    const mutation = order();
    await time.advance(100);
    go();
    act(() => {
      for (let press = 0; press < 20; press++) last().retryNow();
    });
    await time.advance(5);
    for (let press = 0; press < 20; press++) act(() => last().retryNow());
    expect(server.times()).toEqual([0, 100]);
    expect(statusOf(last())).toMatchObject({ status: 'sending', attempt: 2 });
    await time.advance(10_000);
    expect(mutation.state.status).toBe('success');
    expect(server.times()).toEqual([0, 100]);
    expect(new Set(keys()).size).toBe(1);
    expect(elapsed()).toBe(10_105);
  });

  test('a skipped wait uses up an attempt, and the next wait is as long as ever', async () => {
    const { server, time, order, retryNow, story } = showOrders();
    server.plan('/orders', 503, 503, 200);
    order();
    await time.advance(100);
    retryNow();
    await time.advance(10_000);
    expect(server.times()).toEqual([0, 100, 1100]);
    expect(story().at(-1)).toBe('1100 succeeded 3');
  });

  test('does nothing while sending, and after the end', async () => {
    const { server, time, order, retryNow } = showOrders();
    server.plan('/orders', { status: 422, afterMs: 10 });
    order();
    await time.settle();
    retryNow();
    await time.advance(100);
    retryNow();
    await time.advance(10_000);
    expect(server.times()).toEqual([0]);
  });

  test('while its endpoint is down, one press sends, and the next attempt is paused', async () => {
    const { server, time, order, retryNow, last } = showOrders(sendOrder, { health: {} });
    server.plan('/orders', 503, 503, 503, 503);
    order();
    await time.advance(600);
    expect(last()).toMatchObject({ status: 'paused', attempt: 3 });
    retryNow();
    await time.advance(10);
    expect(server.times()).toEqual([0, 500, 600]);
    await time.advance(1000);
    expect(last()).toMatchObject({ status: 'paused', reason: 'server-down' });
    expect(server.times()).toHaveLength(3);
  });

  test('a press whose attempt goes at once does not send a later one past its origin', async () => {
    const { server, time, order, retryNow, last } = showOrders(sendOrder, { health: {} });
    server.plan('/orders', 503, 503);
    order();
    await time.advance(100);
    retryNow();
    await time.advance(10);
    expect(server.times()).toEqual([0, 100]);
    await time.advance(1000);
    expect(last()).toMatchObject({ status: 'paused', reason: 'server-down' });
  });

  test('lets go what its origin holds', async () => {
    const { server, time, order, retryNow, last } = showOrders(sendOrder, { health: {} });
    server.plan('/orders', 503, 503, { afterMs: 10 });
    const mutation = order();
    await time.advance(1000);
    expect(server.times()).toEqual([0, 500]);
    expect(statusOf(last())).toMatchObject({ status: 'paused', attempt: 3, reason: 'server-down' });
    retryNow();
    retryNow();
    await time.advance(10);
    expect(server.times()).toEqual([0, 500, 1000]);
    expect(mutation.state.status).toBe('success');
  });
});

describe('Cancel', () => {
  test.each([
    ['visible', () => {}],
    ['hidden', () => setVisible(false)],
    ['offline', () => setOnline(false)],
  ])('%s, in the wait: it ends in its last error, and nothing is sent any more', async (_, go) => {
    const { server, time, order, cancel, last, events } = showOrders(put);
    server.plan('/orders', { status: 429, afterMs: 10 });
    const mutation = order();
    await time.advance(100);
    go();
    cancel();
    await time.advance(10_000);
    expect(server.times()).toEqual([0]);
    expect(mutation.state).toMatchObject({ status: 'error', error: { status: 429 } });
    expect(statusOf(last())).toMatchObject({ status: 'failed', attempt: 1, reason: 'cancelled' });
    expect(events.at(-1)).toMatchObject({ type: 'operation:end', result: 'cancelled' });
  });

  test('in the wait after an attempt that may have been done: unknown', async () => {
    const { server, time, order, cancel, last } = showOrders();
    server.plan('/orders', 'network');
    order();
    await time.advance(100);
    cancel();
    await time.settle();
    expect(statusOf(last())).toMatchObject({
      status: 'unknown',
      lastError: { outcome: { processed: 'unknown' } },
    });
  });

  test('while sending: the request is aborted, and whether it was done is unknown', async () => {
    const { server, time, order, cancel, last, story } = showOrders();
    server.plan('/orders', 'hang');
    const mutation = order();
    await time.advance(100);
    cancel();
    cancel();
    await time.settle();
    expect(server.sent[0]?.abortedAt).toBe(100);
    expect(mutation.state).toMatchObject({
      status: 'error',
      error: {
        code: 'cancelled',
        outcome: { kind: 'aborted', processed: 'unknown' },
        decision: { kind: 'stop', reason: 'cancelled' },
      },
    });
    expect(statusOf(last())).toMatchObject({ status: 'unknown', attempt: 1, reason: 'cancelled' });
    await time.advance(10_000);
    expect(story()).toEqual(['0 idle 0', '0 sending 1', '100 unknown 1']);
  });

  test('while it only reads: failed', async () => {
    const { server, time, order, cancel, last } = showOrders((_, { fetch }) => fetch('/orders'));
    server.plan('/orders', 'hang');
    order();
    await time.advance(100);
    cancel();
    await time.settle();
    expect(last().status).toBe('failed');
  });

  test.each<[string, Send]>([
    [
      'reads after it has written',
      async (_, { fetch }) => {
        await fetch('/first', { method: 'PUT' });
        return fetch('/orders');
      },
    ],
    ['sends by another client, of which nothing is known', () => new Promise(() => {})],
  ])('while it %s: unknown, at once', async (_what, mutationFn) => {
    const { server, time, order, cancel, last } = showOrders(mutationFn);
    server.plan('/orders', 'hang');
    order();
    await time.advance(100);
    cancel();
    await time.settle();
    expect(statusOf(last())).toMatchObject({ status: 'unknown', attempt: 1 });
  });

  /** An origin that is known to be down. */
  // What has not failed is not bound by its origin.
  const oneEndpoint = [{ match: () => true, endpoint: () => 'all' }];
  const goDown = async (shown: ReturnType<typeof showOrders>): Promise<void> => {
    for (const path of ['/down', '/gone']) {
      shown.server.plan(path, 503);
      await shown.steady.fetch(path).catch(() => {});
    }
  };

  test('while its first attempt is paused: it was not sent, and surely not done', async () => {
    const shown = showOrders(sendOrder, { health: {}, apis: oneEndpoint });
    const { server, time, order, cancel, last } = shown;
    await goDown(shown);
    const mutation = order();
    await time.advance(100);
    expect(statusOf(last())).toMatchObject({ status: 'paused', attempt: 1, reason: 'server-down' });
    cancel();
    await time.advance(100_000);
    expect(server.times('/orders')).toEqual([]);
    expect(mutation.state).toMatchObject({
      status: 'error',
      error: { code: 'not-sent', outcome: { kind: 'aborted', processed: 'no' } },
    });
    expect(statusOf(last())).toMatchObject({ status: 'failed', reason: 'cancelled' });
  });

  test('while its second step is paused, after its first was done: unknown', async () => {
    const shown = showOrders(
      async (_, { fetch }) => {
        await fetch('http://other.test/first', { method: 'PUT' });
        return fetch('/orders', { method: 'PUT' });
      },
      { health: {}, apis: oneEndpoint },
    );
    const { time, order, cancel, last } = shown;
    await goDown(shown);
    order();
    await time.advance(100);
    expect(last().status).toBe('paused');
    cancel();
    await time.settle();
    expect(statusOf(last())).toMatchObject({ status: 'unknown', lastError: { code: 'cancelled' } });
  });

  test('while it is paused after a failure: its last error', async () => {
    const { server, time, order, cancel, last } = showOrders(sendOrder, { health: {} });
    server.plan('/orders', 503, 503);
    const mutation = order();
    await time.advance(1000);
    expect(last().status).toBe('paused');
    cancel();
    await time.advance(100_000);
    expect(server.times()).toEqual([0, 500]);
    expect(mutation.state).toMatchObject({ status: 'error', error: { status: 503 } });
    expect(last().status).toBe('unknown');
  });

  test('behind another of its scope: it ends at once, and the row goes on', async () => {
    const { server, time, order, cancel, last, keys } = showOrders();
    const scope = { id: 'orders' };
    server.plan('/orders', { afterMs: 1000 }, { afterMs: 1000 });
    const first = order({ scope });
    const second = order({ scope });
    await time.advance(100);
    expect(statusOf(last())).toMatchObject({ status: 'paused', attempt: 0, reason: 'queued' });
    cancel();
    await time.settle();
    expect(second.state).toMatchObject({
      status: 'error',
      error: { code: 'not-sent', outcome: { processed: 'no' } },
    });
    expect(last().status).toBe('failed');
    expect(second.options.scope).toBe(scope);
    const third = order({ scope });
    await time.advance(10_000);
    expect([first, third].map(({ state }) => state.status)).toEqual(['success', 'success']);
    expect(server.times()).toEqual([0, 1000]);
    expect(new Set(keys()).size).toBe(2);
  });

  test.each([
    ['in a tab that was hidden', setVisible],
    ['offline', setOnline],
  ])(
    'behind another of its scope, %s: it is queued there, too, and ends at once',
    async (name, set) => {
      const connectivity = watchConnectivity();
      const { server, time, order, cancel, last } = showOrders(sendOrder, { connectivity });
      const scope = { id: 'orders' };
      server.plan('/orders', { afterMs: 1000 });
      order({ scope });
      set(false);
      const second = order({ scope });
      await time.advance(100);
      expect(statusOf(last())).toMatchObject({ status: 'paused', attempt: 0, reason: 'queued' });
      // Nobody presses a button of a tab that is hidden.
      if (name !== 'offline') set(true);
      cancel();
      await time.settle();
      expect(second.state).toMatchObject({ status: 'error', error: { code: 'not-sent' } });
      expect(server.times()).toEqual([0]);
    },
  );

  test('does nothing after the end', async () => {
    const { time, order, cancel, last } = showOrders();
    const mutation = order();
    await time.settle();
    cancel();
    await time.settle();
    expect(mutation.state.status).toBe('success');
    expect(last().status).toBe('succeeded');
  });
});

test('an attempt that may have been done counts, whatever came after it', async () => {
  const { server, time, order, last } = showOrders(async (_, { fetch }) => {
    await fetch('/read');
    return fetch('/orders', { method: 'PUT' });
  });
  server.plan('/orders', 'network');
  server.plan('/read', 200, 404);
  order();
  await time.advance(10_000);
  expect(statusOf(last())).toMatchObject({ status: 'unknown', lastError: { status: 404 } });
});
