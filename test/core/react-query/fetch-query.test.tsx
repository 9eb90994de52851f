import {
  usePrefetchQuery,
  useQuery,
  useSuspenseQueries,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import { Suspense } from 'react';
import { expect, test } from 'vitest';
import { ErrorBoundary } from './error-boundary.tsx';
import { createRig, type Rig } from './rig.tsx';

const options = (rig: Rig) => ({
  queryKey: ['products'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    rig.steady.json<string>('/products', { signal }),
});

test('fetchQuery retries by the policy, and resolves with the answer', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 503, { body: 'Tea' });
  const result = rig.client.fetchQuery(options(rig));
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 500, 1500]);
  expect(await result).toBe('Tea');
});

test('fetchQuery rejects with the error of the last attempt', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 503, 503, { status: 502 });
  const result = rig.client.fetchQuery(options(rig)).catch((error: unknown) => error);
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
  expect(await result).toMatchObject({ status: 502, decision: { reason: 'max-retries' } });
});

test('fetchQuery with retry: false makes one request', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503);
  const result = rig.client
    .fetchQuery({ ...options(rig), retry: false })
    .catch((error: unknown) => error);
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0]);
  expect(await result).toMatchObject({ status: 503 });
});

test('prefetchQuery retries by the policy, and never rejects', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 404);
  const result = rig.client.prefetchQuery(options(rig));
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 500]);
  expect(await result).toBeUndefined();
});

test('a component that mounts within the waits of a prefetch goes on with its operation', async () => {
  const rig = createRig({ policy: { deadlineMs: 3499 } });
  rig.server.plan('/products', 503, 503, 503, 503, 503);
  void rig.client.prefetchQuery(options(rig));
  await rig.time.advance(1000);
  function Products() {
    const { data, status } = useQuery(options(rig));
    return <p>{data ?? status}</p>;
  }
  rig.show(<Products />);
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 500, 1500]);
  expect(screen.getByText('error')).toBeDefined();
});

test('usePrefetchQuery retries by the policy', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, { body: 'Tea' });
  function Page() {
    usePrefetchQuery(options(rig));
    return null;
  }
  rig.show(<Page />);
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 500]);
  expect(rig.client.getQueryData(['products'])).toBe('Tea');
});

function Suspended({ rig }: { readonly rig: Rig }) {
  return <p>{useSuspenseQuery(options(rig)).data}</p>;
}

test.each([{ strict: false }, { strict: true }])(
  'useSuspenseQuery shows its fallback through all waits, and then the data ($strict)',
  async ({ strict }) => {
    const rig = createRig();
    rig.server.plan('/products', 503, 503, { body: 'Tea' });
    rig.show(
      <Suspense fallback="Please wait">
        <Suspended rig={rig} />
      </Suspense>,
      { strict },
    );
    await rig.time.advance(1499);
    expect(screen.getByText('Please wait')).toBeDefined();
    await rig.time.advance(1);
    expect(screen.getByText('Tea')).toBeDefined();
    await rig.time.advance(100_000);
    expect(rig.server.times()).toEqual([0, 500, 1500]);
  },
);

test('useSuspenseQuery throws to its error boundary when the policy stops, and not before', async () => {
  const rig = createRig({ policy: { deadlineMs: 3499 } });
  rig.server.plan('/products', 503, 503, 503, 503, 503);
  rig.show(
    <ErrorBoundary>
      <Suspense fallback="Please wait">
        <Suspended rig={rig} />
      </Suspense>
    </ErrorBoundary>,
  );
  await rig.time.advance(1499);
  expect(screen.getByText('Please wait')).toBeDefined();
  await rig.time.advance(1);
  expect(screen.getByText('Failed: The server answered 503.')).toBeDefined();
  await rig.time.advance(100_000);
  expect(rig.server.times()).toEqual([0, 500, 1500]);
});

test('useSuspenseQueries retries each of its queries by itself', async () => {
  const rig = createRig();
  rig.server.plan('/a', 503, { body: 'A' });
  rig.server.plan('/b', 503, 503, { body: 'B' });
  function Lists() {
    const results = useSuspenseQueries({
      queries: ['/a', '/b'].map((path) => ({
        queryKey: [path],
        queryFn: () => rig.steady.json<string>(path),
        staleTime: Infinity,
      })),
    });
    return <p>{results.map(({ data }) => data).join(' ')}</p>;
  }
  rig.show(
    <Suspense fallback="Please wait">
      <Lists />
    </Suspense>,
  );
  await rig.time.advance(10_000);
  expect(screen.getByText('A B')).toBeDefined();
  expect(rig.server.times('/a')).toEqual([0, 500]);
  expect(rig.server.times('/b')).toEqual([0, 500, 1500]);
});
