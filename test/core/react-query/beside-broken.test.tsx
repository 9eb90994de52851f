import { QueryObserver } from '@tanstack/react-query';
import { useOriginStatus } from 'steadfetch/react';
import { expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

const api = 'http://api.example';

/** A page on which these endpoints answer 503, and are watched. */
async function breakThem(rig: Rig, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    rig.server.plan(path, ...Array.from({ length: 1000 }, () => ({ status: 503, afterMs: 50 })));
    const queryFn = () => rig.steady.json<string>(api + path);
    new QueryObserver(rig.client, { queryKey: [path], queryFn }).subscribe(() => {});
    await rig.time.advance(200);
  }
  await rig.time.advance(1000);
}

function watchOrigin(rig: Rig): string[] {
  const story: string[] = [];
  function Origin() {
    const { status } = useOriginStatus();
    if (story.at(-1) !== status) story.push(status);
    return null;
  }
  rig.show(<Origin />);
  return story;
}

/** Six queries, each after the one before. @returns how long each of them took. */
async function askSix(rig: Rig, everyMs: number): Promise<number[]> {
  const took: number[] = [];
  for (let healthy = 0; healthy < 6; healthy++) {
    const path = `/healthy-${String.fromCodePoint(97 + healthy)}`;
    rig.server.plan(path, { afterMs: 50 });
    const from = rig.elapsed();
    const queryFn = () => rig.steady.json<string>(api + path);
    const observer = new QueryObserver(rig.client, { queryKey: [path], queryFn });
    observer.subscribe(({ status }) => {
      if (status === 'success') took[healthy] ??= rig.elapsed() - from;
    });
    await rig.time.advance(everyMs);
  }
  return took;
}

test.each([
  [2, 100],
  [2, 5000],
  [3, 1000],
  [5, 1000],
])(
  'beside %i broken endpoints, six healthy queries in a row take what they take, every %i ms',
  async (count, everyMs) => {
    const rig = createRig({ health: {} });
    const broken = ['/a', '/b', '/c', '/d', '/e'].slice(0, count);
    await breakThem(rig, broken);
    const story = watchOrigin(rig);
    expect(await askSix(rig, everyMs)).toEqual([50, 50, 50, 50, 50, 50]);
    // Once, until the first answer, nothing speaks for the origin.
    expect(story.filter((status) => status === 'down')).toEqual(['down']);
    await rig.time.advance(30_000);
    expect(story.filter((status) => status === 'down').length).toBeLessThanOrEqual(1);
  },
);

test('with a page that loads at once, the origin is never down', async () => {
  const rig = createRig({ health: {} });
  const story = watchOrigin(rig);
  for (const path of ['/healthy', '/a', '/b', '/c', '/d', '/e']) {
    if (path !== '/healthy') rig.server.plan(path, ...Array.from({ length: 100 }, () => 503));
    const queryFn = () => rig.steady.json<string>(api + path);
    new QueryObserver(rig.client, { queryKey: [path], queryFn }).subscribe(() => {});
  }
  await rig.time.advance(50_000);
  expect(story).toEqual(['up']);
});

test.each([
  ['2 s', 2000, 7250],
  ['6 s', 6000, 7250],
  ['9 s', 9000, 10_250],
  ['30 s', 30_000, 31_250],
])(
  'a first load fails once its endpoint goes on failing after another was answered, at %s, and no sooner than alone',
  async (_, answeredAt, failsAt) => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', ...Array.from({ length: 1000 }, () => ({ status: 503, afterMs: 50 })));
    let failedAt: number | undefined;
    new QueryObserver(rig.client, {
      queryKey: ['a'],
      queryFn: () => rig.steady.json<string>(`${api}/a`),
    }).subscribe(({ status }) => {
      if (status === 'error') failedAt ??= rig.elapsed();
    });
    await rig.time.advance(answeredAt);
    void rig.steady.json(`${api}/other`);
    await rig.time.advance(60_000 - answeredAt);
    expect(failedAt).toBe(failsAt);
  },
);

test('an endpoint that is down is probed as soon as another is answered: it may be back, too', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/a', ...Array.from({ length: 1000 }, () => 503));
  const observer = new QueryObserver(rig.client, {
    queryKey: ['a'],
    queryFn: () => rig.steady.json<string>(`${api}/a`),
  });
  observer.subscribe(() => {});
  await rig.time.advance(40_000);
  rig.server.unplan('/a');
  const before = rig.server.times('/a').length;
  expect(rig.elapsed() - (rig.server.times('/a').at(-1) ?? 0)).toBeGreaterThan(1200);
  void rig.steady.json(`${api}/other`);
  await rig.time.advance(0);
  expect(rig.server.times('/a').slice(before)).toEqual([40_000]);
  expect(observer.getCurrentResult().status).toBe('success');
});
