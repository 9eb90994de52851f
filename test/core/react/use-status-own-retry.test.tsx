import { useQuery } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { retryPolicy } from 'steadfetch/policy';
import { expect, test } from 'vitest';
import { createRig } from '../react-query/rig.tsx';
import { watchQuery } from './watch.tsx';

const retry = (failureCount: number): boolean => failureCount < 3;
const retryDelay = (failureCount: number): number => 1000 * 2 ** failureCount;

/** Shows a query whose server answers 503 twice. */
function showFailing(own: object) {
  const rig = createRig();
  rig.server.plan('/products', 503, 503);
  const startedAt = rig.time.now();
  const watched = watchQuery(rig, ['products']);
  function Products() {
    useQuery({
      queryKey: ['products'],
      queryFn: () => rig.steady.json<string[]>('/products'),
      ...own,
    });
    return null;
  }
  rig.show(
    <>
      <Products />
      <watched.Watcher />
    </>,
  );
  const shown = (): string[] =>
    watched.renders.map(
      ({ status, attempt, retryAt }) =>
        `${status} ${attempt}${retryAt === undefined ? '' : ` until ${retryAt - startedAt}`}`,
    );
  return { rig, watched, shown };
}

let draws = 0;
test.each<[string, object, number[]]>([
  ['retry', { retry }, [1025, 3075]],
  ['retryDelay', { retryDelay }, [1000, 3000]],
  ['retryDelay as a number', { retryDelay: 700 }, [700, 1400]],
  ['both', { retry, retryDelay }, [1000, 3000]],
  ['both as numbers', { retry: 3, retryDelay: 700 }, [700, 1400]],
  ['both, and React Query’s own delay', { retry, retryDelay: undefined }, [1000, 3000]],
  ['retryPolicy()', retryPolicy({ random: () => 0 }), [1000, 3000]],
])('a query that has %s of its own waits until it is sent again', async (_, own, due) => {
  const { rig, shown } = showFailing(own);
  await rig.time.advance(10_000);
  const [first, second] = due;
  expect(rig.server.times('/products')).toEqual([0, first, second]);
  expect([...new Set(shown().filter((one) => !one.startsWith('sending')))]).toEqual([
    'idle 0',
    `waiting 1 until ${first}`,
    `waiting 2 until ${second}`,
    'succeeded 3',
  ]);
});

test('a wait of chance is told once', async () => {
  const chance = (): number => 1000 + 100 * ++draws;
  const { rig, shown } = showFailing({ retry, retryDelay: chance });
  await rig.time.advance(900);
  rig.client
    .getQueryCache()
    .find({ queryKey: ['products'] })
    ?.setState({ isInvalidated: true });
  await rig.time.advance(0);
  expect(shown().filter((one) => one.startsWith('waiting'))).toHaveLength(1);
});

test('in such a wait the user can retry at once, or cancel', async () => {
  const { rig, watched } = showFailing({ retry, retryDelay });
  await rig.time.advance(100);
  act(() => watched.last().retryNow());
  await rig.time.advance(100);
  expect(rig.server.times('/products')).toEqual([0, 100]);
  act(() => watched.last().cancel());
  await rig.time.advance(10_000);
  expect(rig.server.times('/products')).toEqual([0, 100]);
  expect(watched.last().status).toBe('failed');
});
