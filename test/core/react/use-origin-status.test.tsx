import { useQueries } from '@tanstack/react-query';
import { useOriginStatus } from 'steadfetch/react';
import { expect, test } from 'vitest';
import { createRig, type Rig } from '../react-query/rig.tsx';

/**
 * A component that asks for twenty things of one endpoint, and one that says how the origin is.
 *
 * @returns What the second shows, by the time of it. How often React renders meanwhile is its own affair.
 */
function showTwenty(rig: Rig): Map<number, string> {
  const seen = new Map<number, string>();
  function Status() {
    const { status, waiting } = useOriginStatus('http://api.example');
    seen.set(rig.elapsed(), `${status} ${waiting}`);
    return null;
  }
  function Items() {
    useQueries({
      queries: Array.from({ length: 20 }, (_, id) => ({
        queryKey: ['item', id],
        queryFn: () => rig.steady.json(`http://api.example/items/${id}`),
      })),
    });
    return null;
  }
  rig.show(
    <>
      <Status />
      <Items />
    </>,
  );
  return seen;
}

/** All twenty fail once. */
function fail(rig: Rig): void {
  for (let id = 0; id < 20; id++) rig.server.plan(`/items/${id}`, 503);
}

test('where a page asks one endpoint alone, its origin is down while that endpoint is', async () => {
  const rig = createRig({ health: {} });
  fail(rig);
  const seen = showTwenty(rig);
  await rig.time.advance(1000);
  expect([...seen]).toEqual([[0, 'down 20']]);
  await rig.time.advance(20_000);
  expect([...seen].slice(0, 3)).toEqual([
    [0, 'down 20'],
    [1050, 'recovering 18'],
    [1075, 'recovering 17'],
  ]);
  expect([...seen.values()].at(-1)).toBe('up 0');
});

test('where another endpoint is asked as well, its origin is up', async () => {
  const rig = createRig({ health: {} });
  fail(rig);
  await rig.steady.fetch('http://api.example/news');
  const seen = showTwenty(rig);
  await rig.time.advance(1000);
  expect([...seen]).toEqual([[0, 'up 20']]);
});
