import { QueryClient, useQueries, useQuery } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { isHttpError } from 'steadfetch';
import { createRig, type Rig } from './rig.tsx';

const productsKey = ['products'];

function Products({ rig }: { readonly rig: Rig }) {
  const { data, error, status, fetchStatus } = useQuery({
    queryKey: productsKey,
    queryFn: ({ signal }) => rig.steady.json<string>('/products', { signal }),
  });
  return <p>{`${status} ${fetchStatus} ${data ?? error?.message ?? ''}`}</p>;
}

test('two 503 and then an answer: three requests, at 0, 500 and 1500 ms', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 503, { body: 'Tea' });
  rig.show(<Products rig={rig} />);
  await rig.time.advance(1499);
  expect(rig.server.times()).toEqual([0, 500]);
  expect(screen.getByText('pending fetching')).toBeDefined();
  await rig.time.advance(1);
  expect(rig.server.times()).toEqual([0, 500, 1500]);
  expect(screen.getByText('success idle Tea')).toBeDefined();
  await rig.time.advance(100_000);
  expect(rig.server.sent).toHaveLength(3);
});

test('a 503 for ever: four requests, and then the error of the last one', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 503, 503, 503);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
  const error: unknown = rig.client.getQueryState(productsKey)?.error;
  expect(isHttpError(error) && error.operation).toMatchObject({ kind: 'query', attempt: 4 });
  expect(isHttpError(error) && error.decision).toEqual({
    kind: 'stop',
    reason: 'max-retries',
    retryAt: undefined,
  });
});

test('a 404 is not asked for again', async () => {
  const rig = createRig();
  rig.server.plan('/products', 404);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0]);
  expect(screen.getByText('error idle The server answered 404.')).toBeDefined();
});

test('a bare 500 is asked for again as often as the policy allows', async () => {
  const rig = createRig();
  rig.server.plan('/products', 500, 500, 500, 500);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
});

test('the operation of every attempt has the same id and start, and attempts counted from 1', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 'network', 503, 503);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(100_000);
  const decisions = rig.events.filter(({ type }) => type === 'decision');
  expect(decisions.map(({ operation }) => operation.attempt)).toEqual([1, 2, 3, 4]);
  expect(new Set(decisions.map(({ operation }) => operation.id)).size).toBe(1);
  expect(new Set(decisions.map(({ operation }) => operation.startedAt)).size).toBe(1);
  expect(decisions.map(({ operation }) => operation.queryKey)).toEqual([
    productsKey,
    productsKey,
    productsKey,
    productsKey,
  ]);
});

test('a query that stops at once ends its operation, and so does one that succeeds', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 200, 404);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(10_000);
  await act(() => rig.client.refetchQueries({ queryKey: productsKey }));
  const ends = rig.events.filter((event) => event.type === 'operation:end');
  expect(ends.map(({ result, operation }) => [result, operation.attempt])).toEqual([
    ['succeeded', 2],
    ['failed', 1],
  ]);
});

test('no attempt starts after the deadline: the operation stops at once with its own error', async () => {
  const rig = createRig({ policy: { deadlineMs: 3499 } });
  rig.server.plan('/products', 503, 503, 503, 503);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(1500);
  expect(rig.server.times()).toEqual([0, 500, 1500]);
  // The next wait would have ended at 3500.
  expect(screen.getByText('error idle The server answered 503.')).toBeDefined();
  expect(rig.client.getQueryState(productsKey)?.error).toMatchObject({
    decision: { kind: 'stop', reason: 'deadline' },
  });
});

test('a wait that ends exactly at the deadline is still waited for', async () => {
  const rig = createRig({ policy: { deadlineMs: 3500 } });
  rig.server.plan('/products', 503, 503, 503, 503);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
});

test('time spent in attempts counts against the deadline', async () => {
  const rig = createRig({ policy: { deadlineMs: 3500 } });
  rig.server.plan('/products', { status: 503, afterMs: 2000 }, { status: 503, afterMs: 1 }, 503);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(100_000);
  // The second attempt failed at 2501, and 2501 + 1000 is past 3500.
  expect(rig.server.times()).toEqual([0, 2500]);
});

test('a refetch is a new operation: attempts, deadline and waits start again', async () => {
  const rig = createRig({ policy: { deadlineMs: 4000 } });
  rig.server.plan('/products', 503, 503, 200, 503, 503, { body: 'Tea' });
  rig.show(<Products rig={rig} />);
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 500, 1500]);
  act(() => void rig.client.refetchQueries({ queryKey: productsKey }));
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 500, 1500, 10_000, 10_500, 11_500]);
  expect(screen.getByText('success idle Tea')).toBeDefined();
});

test('a refetch within the wait of a refetch replaces it, with all its attempts before it', async () => {
  const rig = createRig();
  rig.server.plan('/products', 200, 503, 503, 503, 503, 503, 503);
  rig.show(<Products rig={rig} />);
  await rig.time.settle();
  act(() => void rig.client.refetchQueries({ queryKey: productsKey }));
  await rig.time.advance(1000);
  expect(rig.server.times()).toEqual([0, 0, 500]);
  act(() => void rig.client.invalidateQueries({ queryKey: productsKey }));
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 0, 500, 1000, 1500, 2500, 4500]);
  const ends = rig.events.filter((event) => event.type === 'operation:end');
  expect(ends.map(({ result }) => result)).toEqual(['succeeded', 'superseded', 'failed']);
});

test('decorrelated jitter builds each wait on the one before, also after a Retry-After', async () => {
  const rig = createRig({ policy: { backoff: 'decorrelated', baseMs: 100, capMs: 10_000 } });
  rig.server.plan('/products', 503, { status: 503, headers: { 'Retry-After': '5' } }, 503, 503);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(100_000);
  // U(100, 300) = 200; U(100, 600) = 350, but the server asks for 5 s, and a tenth; U(100, 1050) = 575.
  expect(rig.server.times()).toEqual([0, 200, 5450, 6025]);
});

test('decorrelated jitter starts from its base again in the next operation', async () => {
  const rig = createRig({ policy: { backoff: 'decorrelated', baseMs: 100, maxRetries: 2 } });
  rig.server.plan('/products', 503, 503, 200, 503, 503, 200);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(1000);
  act(() => void rig.client.refetchQueries({ queryKey: productsKey }));
  await rig.time.advance(1000);
  expect(rig.server.times()).toEqual([0, 200, 550, 1000, 1200, 1550]);
});

test('Retry-After is the lower bound of the wait, with up to a tenth on top', async () => {
  const rig = createRig();
  const headers = { 'Retry-After': '2' };
  rig.server.plan('/products', { status: 429, headers }, { status: 503, headers }, 200);
  rig.show(<Products rig={rig} />);
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 2100, 4200]);
});

test('a Retry-After beyond maxRetryAfterMs stops, and the error says when to come back', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 429, headers: { 'Retry-After': '61' } });
  rig.show(<Products rig={rig} />);
  const startedAt = rig.time.now();
  await rig.time.advance(60_000);
  expect(rig.server.times()).toEqual([0]);
  expect(rig.client.getQueryState(productsKey)?.error).toMatchObject({
    retryAt: startedAt + 61_000,
    decision: { kind: 'stop', reason: 'retry-after' },
  });
});

test('several observers of one query share its attempts', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 503, { body: 'Tea' });
  rig.show(
    <>
      <Products rig={rig} />
      <Products rig={rig} />
    </>,
  );
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 500, 1500]);
  expect(screen.getAllByText('success idle Tea')).toHaveLength(2);
});

test('useQueries: each query has attempts and waits of its own', async () => {
  const rig = createRig();
  rig.server.plan('/a', 503, 503, { body: 'A' });
  rig.server.plan('/b', { status: 503, afterMs: 700 }, { body: 'B' });
  rig.server.plan('/c', 404);
  function Lists() {
    const results = useQueries({
      queries: ['/a', '/b', '/c'].map((path) => ({
        queryKey: [path],
        queryFn: () => rig.steady.json<string>(path),
      })),
    });
    return <p>{results.map(({ data, status }) => data ?? status).join(' ')}</p>;
  }
  rig.show(<Lists />);
  await rig.time.advance(10_000);
  expect(rig.server.times('/a')).toEqual([0, 500, 1500]);
  expect(rig.server.times('/b')).toEqual([0, 1200]);
  expect(rig.server.times('/c')).toEqual([0]);
  expect(screen.getByText('A B error')).toBeDefined();
});

test('two QueryClients of one instance do not share operations, also for equal keys', async () => {
  const rig = createRig();
  const other = new QueryClient({ defaultOptions: rig.steady.defaultOptions });
  rig.server.plan('/products', 503, 503, 503, 503, 503, 503, 503, 503);
  const options = { queryKey: productsKey, queryFn: () => rig.steady.json('/products') };
  const results = Promise.allSettled([rig.client.fetchQuery(options), other.fetchQuery(options)]);
  await rig.time.advance(100_000);
  await results;
  expect(rig.server.times()).toEqual([0, 0, 500, 500, 1500, 1500, 3500, 3500]);
});
