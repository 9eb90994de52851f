import { type QueryKey, useQuery } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import {
  type RetryControls,
  type RetryState,
  useRetryStatus,
  useMutationStatus,
} from 'steadfetch/react';
import { expect } from 'vitest';
import type { Rig } from '../react-query/rig.tsx';

/** Every render of a component that shows a status, and the last of them. */
export interface Watched<S extends RetryState = RetryState & RetryControls> {
  readonly renders: S[];
  readonly last: () => S;
  /** When which status was rendered: "500 waiting 1", with the attempt. */
  readonly story: () => string[];
  readonly Watcher: () => null;
}

/** Makes a component that watches a query by its key, from anywhere. */
export function watchQuery(rig: Rig, queryKey: QueryKey): Watched {
  return watch(rig, () => useRetryStatus({ queryKey }));
}

/** Makes a component that watches the newest mutation with this key. */
export function watchMutation(rig: Rig, mutationKey: QueryKey): Watched {
  return watch(rig, () => useMutationStatus({ mutationKey }));
}

function watch<S extends RetryState>(rig: Rig, useStatus: () => S): Watched<S> {
  const renders: S[] = [];
  const story: string[] = [];
  return {
    renders,
    last: () => renders.at(-1) as S,
    story: () => story,
    Watcher() {
      const status = useStatus();
      renders.push(status);
      story.push(`${rig.elapsed()} ${status.status} ${status.attempt}`);
      return null;
    },
  };
}

/** What is said of something that neither waits nor has failed. */
export const none = { retryAt: undefined, reason: undefined, lastError: undefined };

/** Answers, 10 ms each, to something that fails twice and then succeeds. */
export const failingTwice = [
  { status: 503, afterMs: 10 },
  { status: 503, afterMs: 10 },
  { afterMs: 10 },
] as const;

/** What is said of it, from before it has begun. */
export function statusesOfFailingTwice(startedAt: number) {
  const idle = { status: 'idle', attempt: 0, maxAttempts: 0, ...none };
  const sending = { status: 'sending', attempt: 1, maxAttempts: 4, ...none };
  const lastError: unknown = expect.objectContaining({ status: 503 });
  const waiting = { ...sending, status: 'waiting', reason: 'unavailable', lastError };
  return [
    idle,
    sending,
    { ...waiting, retryAt: startedAt + 510 },
    { ...sending, attempt: 2, lastError },
    { ...waiting, attempt: 2, retryAt: startedAt + 1520 },
    { ...sending, attempt: 3, lastError },
    { ...sending, attempt: 3, status: 'succeeded' },
  ];
}

/** The status alone, without what can be done about it. */
export function statusOf({ status, attempt, maxAttempts, retryAt, reason, lastError }: RetryState) {
  return { status, attempt, maxAttempts, retryAt, reason, lastError };
}

/** A component with a query for /products, and every fetchStatus that it has rendered. */
export function createProducts(rig: Rig, own: object = {}) {
  const fetchStatuses: string[] = [];
  return {
    fetchStatuses,
    Products() {
      const { data, error, status, fetchStatus } = useQuery({
        queryKey: ['products'],
        queryFn: ({ signal }) => rig.steady.json<string>('/products', { signal }),
        ...own,
      });
      fetchStatuses.push(fetchStatus);
      return <p>{`${status} ${fetchStatus} ${data ?? error?.message ?? ''}`}</p>;
    },
  };
}

/** A query for /products, and beside it a component that shows its status and can act on it. */
export function showProducts(rig: Rig, own: object = {}) {
  const { Products, fetchStatuses } = createProducts(rig, own);
  const watched = watchQuery(rig, ['products']);
  rig.show(
    <>
      <watched.Watcher />
      <Products />
    </>,
  );
  return {
    ...watched,
    fetchStatuses,
    retryNow: () => act(() => watched.last().retryNow()),
    cancel: () => act(() => watched.last().cancel()),
  };
}
