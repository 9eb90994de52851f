import {
  experimental_streamedQuery as streamedQuery,
  type QueryFunctionContext,
  QueryObserver,
} from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig } from '../rig.tsx';

const queryKey = ['chat'];
const url = 'http://api.example/chat';

type QueryFn = (context: QueryFunctionContext) => unknown;

const streamed =
  (refetchMode: 'reset' | 'append' | 'replace') =>
  (rig: Rig): QueryFn =>
    streamedQuery({
      refetchMode,
      async *streamFn({ signal }) {
        yield 'begun';
        yield await rig.steady.json<string>(url, { signal });
      },
    });

/** Shows what is stored on the device until it is answered. */
const storedFirst =
  (rig: Rig): QueryFn =>
  async ({ client, signal }) => {
    client.setQueryData(queryKey, ['stored']);
    return [await rig.steady.json(url, { signal })];
  };

const failedAt = [6000, 9400, 18_300, 36_100];
const backAt = 66_100;

// A queryFn may write to its query, by the client of its context. A probe is fetched beside the query, with the same client.
test.each<[what: string, queryFnOf: (rig: Rig) => QueryFn, isUndone: boolean]>([
  ['a stream that begins anew', streamed('reset'), true],
  ['a stream that appends', streamed('append'), true],
  ['a read that shows stored data first', storedFirst, true],
  ['a stream that replaces its data', streamed('replace'), false],
])('%s is never left as its failed probe has written it', async (_what, queryFnOf, isUndone) => {
  const rig = createRig({ health: {}, policy: { maxPauseMs: 6000 } });
  rig.server.plan('/chat', ...Array.from({ length: 100 }, () => 503));
  const observer = new QueryObserver(rig.client, { queryKey, queryFn: queryFnOf(rig) });
  const shown = new Map<number, string>();
  observer.subscribe(({ status, fetchStatus }) => {
    shown.set(rig.elapsed(), `${status} ${fetchStatus}`);
  });
  await rig.time.advance(60_000);
  rig.server.unplan('/chat');
  await rig.time.advance(60_000);
  const failures = isUndone ? failedAt : failedAt.slice(0, 1);
  expect([...shown].filter(([at]) => at >= 6000)).toEqual([
    ...failures.map((at) => [at, 'error idle']),
    [backAt, 'success idle'],
  ]);
  expect(String(observer.getCurrentResult().data)).toMatch(/GET \/chat 10$/);
});

test('what the app itself writes during a probe stays, even if the probe fails', async () => {
  const rig = createRig({ health: {}, policy: { maxPauseMs: 6000 } });
  rig.server.plan('/chat', ...Array.from({ length: 6 }, () => 503), { status: 503, afterMs: 1000 });
  const observer = new QueryObserver(rig.client, {
    queryKey,
    queryFn: ({ signal }) => rig.steady.json<string>(url, { signal }),
  });
  observer.subscribe(() => {});
  await rig.time.advance(9500);
  expect(rig.server.times().at(-1)).toBe(9400);
  rig.client.setQueryData(queryKey, 'pushed');
  await rig.time.advance(2000);
  expect(observer.getCurrentResult()).toMatchObject({ status: 'success', data: 'pushed' });
});
