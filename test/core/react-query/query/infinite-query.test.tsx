import { useInfiniteQuery, useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { Suspense } from 'react';
import { expect, test } from 'vitest';
import { createHandle, type Handle } from '../handle.ts';
import { createRig, type Rig } from '../rig.tsx';

const queryKey = ['pages'];

const options = (rig: Rig) => ({
  queryKey,
  queryFn: ({ pageParam, signal }: { pageParam: number; signal: AbortSignal }) =>
    rig.steady.json<string>(`/pages/${pageParam}`, { signal }),
  initialPageParam: 0,
  getNextPageParam: (_last: string, _all: string[], lastParam: number) => lastParam + 1,
});

type Pages = ReturnType<typeof useInfiniteQuery<string, Error>>;

/** Shows the pages, and hands out what the hook returned last. */
function mountPages(rig: Rig): Handle<Pages> {
  const shown = createHandle<Pages>();
  function Pages() {
    const result = useInfiniteQuery(options(rig));
    shown.set(result);
    const { data, status, fetchStatus } = result;
    return <p>{[status, fetchStatus, data?.pages.length ?? 0].join(' ')}</p>;
  }
  rig.show(<Pages />);
  return shown;
}

const requests = (rig: Rig): [string, number][] =>
  rig.server.sent.map(({ request, at }) => [request, at]);

test('the first page is retried by the policy', async () => {
  const rig = createRig();
  rig.server.plan('/pages/0', 503, 503);
  mountPages(rig);
  await rig.time.advance(10_000);
  expect(requests(rig)).toEqual([
    ['GET /pages/0', 0],
    ['GET /pages/0', 500],
    ['GET /pages/0', 1500],
  ]);
  expect(screen.getByText('success idle 1')).toBeDefined();
});

test('fetchNextPage retries the next page only, as an operation of its own', async () => {
  const rig = createRig();
  rig.server.plan('/pages/1', 503, 503);
  const pages = mountPages(rig);
  await rig.time.advance(1000);
  act(() => void pages.get().fetchNextPage());
  await rig.time.advance(10_000);
  expect(requests(rig)).toEqual([
    ['GET /pages/0', 0],
    ['GET /pages/1', 1000],
    ['GET /pages/1', 1500],
    ['GET /pages/1', 2500],
  ]);
  expect(screen.getByText('success idle 2')).toBeDefined();
  const starts = rig.events.filter(({ type }) => type === 'operation:start');
  expect(starts.map(({ at }) => at - rig.time.now() + rig.elapsed())).toEqual([0, 1000]);
});

test('fetchNextPage ends in its error, and the pages that are there stay', async () => {
  const rig = createRig({ policy: { maxRetries: 1 } });
  rig.server.plan('/pages/1', 503, 503);
  const pages = mountPages(rig);
  await rig.time.settle();
  act(() => void pages.get().fetchNextPage());
  await rig.time.advance(10_000);
  expect(requests(rig).slice(1)).toEqual([
    ['GET /pages/1', 0],
    ['GET /pages/1', 1025],
  ]);
  expect(screen.getByText('error idle 1')).toBeDefined();
  expect(pages.get().isFetchNextPageError).toBe(true);
});

test('a refetch of three pages resumes at the page that failed: the retries of each page are its own', async () => {
  const rig = createRig();
  const pages = mountPages(rig);
  await rig.time.settle();
  for (let page = 1; page <= 2; page++) {
    await act(() => pages.get().fetchNextPage());
  }
  rig.server.plan('/pages/1', 503);
  rig.server.plan('/pages/2', 503);
  const before = rig.server.sent.length;
  act(() => void pages.get().refetch());
  await rig.time.advance(10_000);
  expect(requests(rig).slice(before)).toEqual([
    ['GET /pages/0', 0],
    ['GET /pages/1', 0],
    ['GET /pages/1', 500],
    ['GET /pages/2', 500],
    ['GET /pages/2', 1000],
  ]);
  const decisions = rig.events.filter(({ type }) => type === 'decision');
  expect(decisions.map(({ operation }) => operation.attempt)).toEqual([1, 2]);
  expect(screen.getByText('success idle 3')).toBeDefined();
});

test('the retries of a page are spent by that page, and a refetch ends with the first that has none left', async () => {
  const rig = createRig({ policy: { maxRetries: 2 } });
  const pages = mountPages(rig);
  await rig.time.settle();
  await act(() => pages.get().fetchNextPage());
  rig.server.plan('/pages/0', 503, 503);
  rig.server.plan('/pages/1', 503, 503, 503);
  const before = rig.server.sent.length;
  act(() => void pages.get().refetch());
  await rig.time.advance(100_000);
  expect(requests(rig).slice(before)).toEqual([
    ['GET /pages/0', 0],
    ['GET /pages/0', 500],
    ['GET /pages/0', 1500],
    ['GET /pages/1', 1500],
    ['GET /pages/1', 2000],
    ['GET /pages/1', 3000],
  ]);
  expect(screen.getByText('error idle 2')).toBeDefined();
});

test('an error of a page is the error of its query, with its key and its attempt', async () => {
  const rig = createRig({ policy: { maxRetries: 1 } });
  rig.server.plan('/pages/0', 503, 503);
  mountPages(rig);
  await rig.time.advance(10_000);
  expect(rig.client.getQueryState(queryKey)?.error).toMatchObject({
    operation: { kind: 'query', attempt: 2, url: '/pages/0' },
    decision: { kind: 'stop', reason: 'max-retries' },
  });
  const decisions = rig.events.filter(({ type }) => type === 'decision');
  expect(decisions.map(({ operation }) => operation.queryKey)).toEqual([queryKey, queryKey]);
});

test('fetchInfiniteQuery retries, and resumes at the page that failed', async () => {
  const rig = createRig();
  rig.server.plan('/pages/1', 503, 503);
  const result = rig.client.fetchInfiniteQuery({ ...options(rig), pages: 3 });
  await rig.time.advance(10_000);
  expect(requests(rig)).toEqual([
    ['GET /pages/0', 0],
    ['GET /pages/1', 0],
    ['GET /pages/1', 500],
    ['GET /pages/1', 1500],
    ['GET /pages/2', 1500],
  ]);
  expect((await result).pageParams).toEqual([0, 1, 2]);
});

test('useSuspenseInfiniteQuery waits in its fallback, and then shows its page', async () => {
  const rig = createRig();
  rig.server.plan('/pages/0', 503, { body: 'Tea' });
  function Pages() {
    return <p>{useSuspenseInfiniteQuery(options(rig)).data.pages.join()}</p>;
  }
  rig.show(
    <Suspense fallback="Please wait">
      <Pages />
    </Suspense>,
  );
  await rig.time.advance(499);
  expect(screen.getByText('Please wait')).toBeDefined();
  await rig.time.advance(1);
  expect(screen.getByText('Tea')).toBeDefined();
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 500]);
});
