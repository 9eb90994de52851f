import { act, screen } from '@testing-library/react';
import { isSteadfetchError } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { createRig, setOnline } from '../react-query/rig.tsx';
import { statusOf, watchQuery, showProducts } from './watch.tsx';

const queryKey = ['products'];

describe('in a wait', () => {
  test('without data: it fails with the last error, which says that it was cancelled', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, 503);
    const { cancel: press, last } = showProducts(rig);
    await rig.time.advance(600);
    press();
    await rig.time.advance(100_000);
    expect(rig.server.times()).toEqual([0, 500]);
    const { error } = rig.client.getQueryState(queryKey) ?? {};
    expect(isSteadfetchError(error) && error.decision).toEqual({
      kind: 'stop',
      reason: 'cancelled',
      retryAt: undefined,
    });
    expect(error).toMatchObject({ status: 503, retryAt: undefined });
    expect(statusOf(last())).toEqual({
      status: 'failed',
      attempt: 2,
      maxAttempts: 4,
      retryAt: undefined,
      reason: 'cancelled',
      lastError: error,
    });
    expect(screen.getByText('error idle The server answered 503.')).toBeDefined();
  });

  test('with data: the data stays', async () => {
    const rig = createRig();
    rig.server.plan('/products', { body: 'Tea' }, 503);
    const { cancel: press, last } = showProducts(rig);
    await rig.time.settle();
    act(() => void rig.client.refetchQueries({ queryKey }));
    await rig.time.advance(100);
    press();
    await rig.time.advance(100_000);
    expect(rig.server.times()).toEqual([0, 0]);
    expect(screen.getByText('error idle Tea')).toBeDefined();
    expect(statusOf(last())).toMatchObject({ status: 'failed', reason: 'cancelled', attempt: 1 });
  });

  test('it tells its events: the decision, and the end of the operation', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503);
    const { cancel: press } = showProducts(rig);
    await rig.time.advance(100);
    rig.events.length = 0;
    press();
    await rig.time.advance(100_000);
    expect(rig.events).toMatchObject([
      { type: 'decision', operation: { attempt: 1 }, decision: { reason: 'cancelled' } },
      { type: 'operation:end', operation: { attempt: 1 }, result: 'cancelled' },
    ]);
  });

  test('pressed twice it is one cancellation, and the last error is still the last error', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503);
    const { last } = showProducts(rig);
    await rig.time.advance(100);
    rig.events.length = 0;
    const { cancel } = last();
    act(() => {
      cancel();
      cancel();
    });
    await rig.time.advance(100_000);
    expect(rig.events.map(({ type }) => type)).toEqual(['decision', 'operation:end']);
    expect(last().lastError).toMatchObject({ status: 503 });
  });

  test('whoever awaits fetchQuery gets the last error', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503);
    const watched = watchQuery(rig, queryKey);
    rig.show(<watched.Watcher />);
    const result = rig.client
      .fetchQuery({ queryKey, queryFn: () => rig.steady.json('/products') })
      .catch((error: unknown) => error);
    await rig.time.advance(100);
    act(() => watched.last().cancel());
    await rig.time.settle();
    expect(await result).toMatchObject({ status: 503, decision: { reason: 'cancelled' } });
  });

  test('an error that is frozen, or no object at all, is still the error that it ends with', async () => {
    for (const thrown of [Object.freeze(new Error('frozen')), 'a string'] as unknown[]) {
      const rig = createRig();
      const { cancel: press, last } = showProducts(rig, {
        // Whatever another client throws, which need not be an Error.
        queryFn: () => Promise.reject(thrown),
      });
      await rig.time.advance(100);
      press();
      await rig.time.settle();
      expect(statusOf(last())).toMatchObject({ status: 'failed', reason: 'cancelled' });
      expect(last().lastError).toBe(thrown);
      rig.client.clear();
      rig.end();
    }
  });
});

describe('while an attempt is under way', () => {
  test('the first: the request is aborted, and the error says that it was cancelled', async () => {
    const rig = createRig();
    rig.server.plan('/products', { afterMs: 1000 });
    const { cancel: press, last } = showProducts(rig);
    await rig.time.advance(100);
    press();
    await rig.time.advance(10_000);
    expect(rig.server.sent.map(({ abortedAt }) => abortedAt)).toEqual([100]);
    expect(statusOf(last())).toMatchObject({ status: 'failed', attempt: 1, reason: 'cancelled' });
    expect(last().lastError).toMatchObject({
      name: 'SteadfetchError',
      code: 'cancelled',
      decision: { kind: 'stop', reason: 'cancelled' },
    });
  });

  test('a later one: the error of the attempt before it', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, { afterMs: 1000 });
    const { cancel: press, last } = showProducts(rig);
    await rig.time.advance(600);
    press();
    await rig.time.advance(10_000);
    expect(rig.server.sent.map(({ abortedAt }) => abortedAt)).toEqual([undefined, 600]);
    expect(last().lastError).toMatchObject({ status: 503, decision: { reason: 'cancelled' } });
  });

  test('with data: the data stays, and a late answer changes nothing', async () => {
    const rig = createRig();
    rig.server.plan('/products', { body: 'Tea' }, { body: 'Mate', afterMs: 1000 });
    const { cancel: press } = showProducts(rig, { queryFn: () => rig.steady.json('/products') });
    await rig.time.settle();
    act(() => void rig.client.refetchQueries({ queryKey }));
    await rig.time.advance(100);
    press();
    await rig.time.advance(10_000);
    expect(screen.getByText('error idle Tea')).toBeDefined();
  });
});

describe('when paused', () => {
  test('before the first attempt: it fails, without any attempt', async () => {
    const rig = createRig();
    setOnline(false);
    const { cancel: press, last } = showProducts(rig, { refetchOnReconnect: false });
    await rig.time.advance(100);
    press();
    await rig.time.settle();
    expect(statusOf(last())).toMatchObject({ status: 'failed', attempt: 0, reason: 'cancelled' });
    expect(last().lastError).toMatchObject({ code: 'cancelled' });
    setOnline(true);
    await rig.time.advance(10_000);
    expect(rig.server.sent).toEqual([]);
  });

  test('after a failure: it fails with that failure', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503);
    const { cancel: press, last } = showProducts(rig);
    setOnline(false);
    await rig.time.advance(1000);
    expect(last().status).toBe('paused');
    press();
    await rig.time.settle();
    expect(statusOf(last())).toMatchObject({ status: 'failed', attempt: 1, reason: 'cancelled' });
    expect(last().lastError).toMatchObject({ status: 503 });
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0]);
  });
});

test('when nothing is under way it does nothing', async () => {
  const rig = createRig();
  const { cancel: press, last } = showProducts(rig);
  const other = watchQuery(rig, ['other']);
  rig.show(<other.Watcher />);
  await rig.time.settle();
  press();
  act(() => other.last().cancel());
  await rig.time.settle();
  expect(last().status).toBe('succeeded');
  expect(other.last().status).toBe('idle');
});
