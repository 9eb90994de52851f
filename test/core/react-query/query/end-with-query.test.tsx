import { type QueryClient, useQuery } from '@tanstack/react-query';
import { describe, expect, test } from 'vitest';
import { createRig, type Rig } from '../rig.tsx';

const queryKey = ['it'];

function showQuery(rig: Rig, own: object = {}) {
  function Query() {
    useQuery({ queryKey, queryFn: () => rig.steady.json('/a'), ...own });
    return null;
  }
  return rig.show(<Query />);
}

/** What was told of operations, without requests. */
const story = (rig: Rig): string[] =>
  rig.events.flatMap((event) => {
    if (event.type.startsWith('request')) return [];
    const at = event.at - rig.time.now() + rig.elapsed();
    return [
      `${at} ${event.operation.id} ${event.type}${event.type === 'operation:end' ? ` ${event.result}` : ''}`,
    ];
  });

const waiting = [
  '0 1 operation:start',
  '0 1 attempt:start',
  '0 1 attempt:end',
  '0 1 decision',
] as const;

describe('the end of a query that ends in a wait is told at once', () => {
  test.each<[string, (client: QueryClient, unmount: () => void) => void]>([
    ['cancelQueries', (client) => void client.cancelQueries()],
    ['cancelQueries without revert', (client) => void client.cancelQueries({}, { revert: false })],
    ['removeQueries', (client) => client.removeQueries()],
    ['clear', (client) => client.clear()],
    [
      'resetQueries, of one that nobody shows',
      (client, unmount) => {
        unmount();
        void client.resetQueries();
      },
    ],
  ])('%s', async (_name, end) => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    const { unmount } = showQuery(rig);
    await rig.time.advance(100);
    end(rig.client, unmount);
    await rig.time.advance(10_000);
    expect(story(rig)).toEqual([...waiting, '100 1 operation:end cancelled']);
  });

  test('the last component goes, and the queryFn has read the signal', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    const { unmount } = showQuery(rig, {
      queryFn: ({ signal }: { signal: AbortSignal }) => rig.steady.json('/a', { signal }),
    });
    await rig.time.advance(100);
    unmount();
    await rig.time.advance(10_000);
    expect(story(rig)).toEqual([...waiting, '100 1 operation:end cancelled']);
  });

  test('the last component goes: it fails when its wait is over, as in React Query', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    const { unmount } = showQuery(rig);
    await rig.time.advance(100);
    unmount();
    await rig.time.advance(10_000);
    expect(story(rig)).toEqual([...waiting, '500 1 operation:end failed']);
    expect(rig.client.getQueryState(queryKey)?.status).toBe('error');
  });

  test('resetQueries of one that is shown begins another', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    showQuery(rig);
    await rig.time.advance(100);
    void rig.client.resetQueries();
    await rig.time.advance(10_000);
    expect(story(rig)).toEqual([
      ...waiting,
      '100 1 operation:end superseded',
      '100 2 operation:start',
      '100 2 attempt:start',
      '100 2 attempt:end',
      '100 2 operation:end succeeded',
    ]);
  });
});

describe("where the app's own `retry` has the last word", () => {
  test.each<[string, unknown]>([
    ['a number', 2],
    ['a function', (failureCount: number) => failureCount < 2],
  ])('%s: no event follows the end', async (_name, retry) => {
    const rig = createRig();
    // The policy would stop at the first.
    rig.server.plan('/a', 404, 404, 404);
    showQuery(rig, { retry });
    await rig.time.advance(20_000);
    const attempts = [0, 1000, 3000].flatMap((at) => [
      `${at} 1 attempt:start`,
      `${at} 1 attempt:end`,
      `${at} 1 decision`,
    ]);
    expect(story(rig)).toEqual(['0 1 operation:start', ...attempts, '3000 1 operation:end failed']);
  });

  test('one that stops where the policy would go on ends there', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    showQuery(rig, { retry: () => false });
    await rig.time.advance(20_000);
    expect(story(rig)).toEqual([...waiting, '0 1 operation:end failed']);
  });
});
