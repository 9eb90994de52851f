import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig } from './rig.tsx';

/** A page asks an origin that was never answered for so many things, and each answer takes so long. When each comes. */
async function open(count: number, answersMs: number, isKnown = false) {
  let latencyMs = isKnown ? 50 : answersMs;
  const rig = createRig({
    health: {},
    fetch: (_input, init) =>
      new Promise((resolve, reject) => {
        setTimeout(() => resolve(Response.json(1)), latencyMs);
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
      }),
  });
  const observers = Array.from({ length: count }, (_, id) => {
    const observer = new QueryObserver(rig.client, {
      queryKey: [id],
      queryFn: () => rig.steady.json(`http://api.example/things-${'abcdef'[id]}/${id}`),
    });
    observer.subscribe(() => {});
    return observer;
  });
  if (isKnown) {
    await rig.time.advance(1000);
    latencyMs = answersMs;
    for (const observer of observers) void observer.refetch();
  }
  const ends = observers.map(() => 0);
  const startMs = isKnown ? 1000 : 0;
  for (const [id, observer] of observers.entries())
    observer.subscribe(({ data, fetchStatus }) => {
      if (data !== undefined && fetchStatus === 'idle') ends[id] ||= rig.elapsed() - startMs;
    });
  await rig.time.advance(200_000);
  expect(observers.map((one) => one.getCurrentResult().status)).toEqual(
    observers.map(() => 'success'),
  );
  return ends;
}

// React Query alone has no limit, and has them after the time that each takes.
test.each([
  [1, 9000, [9000]],
  [1, 15_000, [15_000]],
  [1, 25_000, [25_000]],
  [1, 39_000, [39_000]],
  [2, 15_000, [15_000, 15_000]],
  [2, 25_000, [25_000, 25_000]],
  [2, 39_000, [39_000, 39_000]],
  [6, 15_000, []],
])(
  'a page of %i queries to an origin whose every answer takes %i ms gets them all',
  async (count, answersMs, ends) => {
    expect(await open(count, answersMs)).toEqual(ends);
  },
);

test.each([
  [1, 15_000, []],
  [1, 25_000, []],
  [1, 39_000, []],
  [2, 15_000, []],
  [2, 25_000, []],
  [6, 15_000, []],
  [6, 25_000, []],
])('and one that has answered before: %i queries, %i ms', async (count, answersMs, ends) => {
  expect(await open(count, answersMs, true)).toEqual(ends);
});
