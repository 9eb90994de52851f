import { QueryErrorResetBoundary, useSuspenseQuery } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { Suspense } from 'react';
import { useRetryStatus } from 'steadfetch/react';
import { expect, test } from 'vitest';
import { ErrorBoundary } from '../react-query/error-boundary.tsx';
import { createHandle } from '../react-query/handle.ts';
import { createRig } from '../react-query/rig.tsx';

const queryKey = ['products'];

test('under Suspense the error boundary shows the last error, and nothing fetches again', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, 503);
  const cancel = createHandle<() => void>();
  function Products() {
    const { data } = useSuspenseQuery({
      queryKey,
      queryFn: ({ signal }) => rig.steady.json<string>('/products', { signal }),
    });
    return <p>{data}</p>;
  }
  function Fallback() {
    const status = useRetryStatus({ queryKey });
    cancel.set(status.cancel);
    return <p>{status.status}</p>;
  }
  rig.show(
    <ErrorBoundary>
      <Suspense fallback={<Fallback />}>
        <Products />
      </Suspense>
    </ErrorBoundary>,
  );
  await rig.time.advance(600);
  expect(screen.getByText('waiting')).toBeDefined();
  act(cancel.get());
  await rig.time.advance(100_000);
  expect(screen.getByRole('alert').textContent).toBe('Failed: The server answered 503.');
  expect(rig.server.times()).toEqual([0, 500]);
});

test('a suspended query that was cancelled is fetched again when its boundary is reset', async () => {
  const rig = createRig();
  rig.server.plan('/products', { afterMs: 1000 }, { body: 'Tea' });
  const cancel = createHandle<() => void>();
  function Products() {
    const { data } = useSuspenseQuery({ queryKey, queryFn: () => rig.steady.json('/products') });
    return <p>{String(data)}</p>;
  }
  function Fallback() {
    cancel.set(useRetryStatus({ queryKey }).cancel);
    return null;
  }
  const reset = createHandle<() => void>();
  const page = (key: string) => (
    <QueryErrorResetBoundary>
      {(boundary) => {
        reset.set(boundary.reset);
        return (
          <ErrorBoundary key={key}>
            <Suspense fallback={<Fallback />}>
              <Products />
            </Suspense>
          </ErrorBoundary>
        );
      }}
    </QueryErrorResetBoundary>
  );
  const { rerender } = rig.show(page('first'));
  await rig.time.advance(100);
  act(cancel.get());
  await rig.time.advance(10_000);
  expect(screen.getByRole('alert').textContent).toMatch(/cancelled/);
  expect(rig.server.times()).toEqual([0]);
  act(reset.get());
  rerender(rig.wrap(page('second')));
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 10_100]);
  expect(screen.getByText('Tea')).toBeDefined();
});
