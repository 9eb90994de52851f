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

/** A component asks for `path` now. @returns when its query failed and when it had data, from then on. */
function ask(rig: Rig, path: string): { failed?: number; succeeded?: number } {
  const from = rig.elapsed();
  const told: { failed?: number; succeeded?: number } = {};
  const queryFn = () => rig.steady.json<string>(api + path);
  new QueryObserver(rig.client, { queryKey: [path], queryFn }).subscribe(({ status }) => {
    if (status === 'error') told.failed ??= rig.elapsed() - from;
    if (status === 'success') told.succeeded ??= rig.elapsed() - from;
  });
  return told;
}

const broken = [
  ['a broken id', '/items/1', '/items/2'],
  ['a broken endpoint', '/me', '/reports'],
  ['a broken operation of one path', '/graphql?op=A', '/graphql?op=B'],
] as const;
const causes = [503, 500, 'network', 502] as const;

test.each(
  broken.flatMap(([what, good, bad]) => causes.map((cause) => [what, cause, good, bad] as const)),
)(
  '%s (%s) is told as soon as with React Query alone, though nothing else is asked meanwhile',
  async (_what, cause, good, bad) => {
    const rig = createRig({ health: {} });
    rig.server.plan(bad, ...Array.from({ length: 100 }, () => cause));
    ask(rig, good);
    await rig.time.advance(5000);
    const told = ask(rig, bad);
    await rig.time.advance(30_000);
    expect(told.failed).toBeLessThanOrEqual(7500);
    expect(told.failed).toBeGreaterThanOrEqual(7000);
  },
);

test.each([
  ['2 s', 2000, undefined, 2250],
  ['10 s', 10_000, 7249, 10_711],
  ['20 s', 20_000, 7249, 24_069],
  ['30 s', 30_000, 7249, 36_069],
  ['50 s', 50_000, 7249, 56_997],
])(
  'and if it was an outage after all, of %s, its data come as soon as if nothing had been told',
  async (_, outageMs, failed, succeeded) => {
    const rig = createRig({ health: {} });
    ask(rig, '/me');
    await rig.time.advance(5000);
    rig.server.plan('/items', ...Array.from({ length: 100 }, () => 503 as const));
    const told = ask(rig, '/items');
    await rig.time.advance(outageMs);
    rig.server.unplan('/items');
    await rig.time.advance(60_000);
    expect(told).toEqual({ failed, succeeded });
  },
);

test('where a second endpoint fails, too, it is an outage, and the first load waits for its end', async () => {
  const rig = createRig({ health: {} });
  ask(rig, '/me');
  await rig.time.advance(5000);
  for (const path of ['/a', '/b']) rig.server.plan(path, ...Array.from({ length: 100 }, () => 503));
  const told = ['/a', '/b'].map((path) => ask(rig, path));
  await rig.time.advance(20_000);
  for (const path of ['/a', '/b']) rig.server.unplan(path);
  await rig.time.advance(20_000);
  expect(told.map(({ failed }) => failed)).toEqual([undefined, undefined]);
  expect(told.every(({ succeeded = 0 }) => succeeded > 20_000)).toBe(true);
});

test('the same in a page that has asked nothing else yet', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/a', ...Array.from({ length: 100 }, () => 503));
  const told = ask(rig, '/a');
  await rig.time.advance(20_000);
  rig.server.unplan('/a');
  await rig.time.advance(20_000);
  expect(told.failed).toBeUndefined();
  expect(told.succeeded).toBeGreaterThan(20_000);
});

test.each([
  ['a number', { retry: 5, retryDelay: 1000 }, 5300],
  ['a function', { retry: 5, retryDelay: (retry: number) => 500 * (retry + 1) }, 7800],
  ['no wait at all', { retryDelay: 0 }, 250],
  ['one that tells no number', { retryDelay: () => NaN }, 250],
])(
  'with a `retryDelay` of its own, %s, a broken id is told when React Query would have made the last retry',
  async (_, own, failed) => {
    const rig = createRig({ health: {} });
    ask(rig, '/me');
    await rig.time.advance(5000);
    rig.server.plan('/items', ...Array.from({ length: 100 }, () => ({ status: 503, afterMs: 50 })));
    expect((await askWith(rig, own)).failed).toBe(failed);
  },
);

const ownDelays = [
  [500, 0, 1500],
  [500, 1000, 1500],
  [500, 5000, 1500],
  [2000, 0, 6000],
  [2000, 1000, 6000],
  // Another one is answered at 4.5 s, and the attempt at 6 s fails all the same.
  [2000, 5000, 6000],
] as const;

test.each(
  ([503, 500, 'network'] as const).flatMap((cause) =>
    ownDelays.map((one) => [cause, ...one] as const),
  ),
)(
  'a broken endpoint (%s) with a `retryDelay` of %i ms, beside one that is polled every %i ms, is told with the last retry of React Query alone',
  async (cause, retryDelay, refetchInterval, failed) => {
    const rig = createRig({ health: {} });
    new QueryObserver(rig.client, {
      queryKey: ['/me'],
      queryFn: () => rig.steady.json<string>(`${api}/me`),
      refetchInterval: refetchInterval || false,
    }).subscribe(() => {});
    await rig.time.advance(5500);
    rig.server.plan('/items', ...Array.from({ length: 100 }, () => cause));
    expect((await askWith(rig, { retryDelay })).failed).toBe(failed);
    const last = rig.events.findLast(({ type }) => type === 'decision');
    expect(last).toMatchObject({ decision: { kind: 'stop', reason: 'paused-too-long' } });
  },
);

async function askWith(rig: Rig, own: object): Promise<{ failed?: number }> {
  const from = rig.elapsed();
  const told: { failed?: number } = {};
  const queryFn = () => rig.steady.json<string>(`${api}/items`);
  const observer = new QueryObserver(rig.client, { queryKey: ['items'], queryFn, ...own });
  observer.subscribe(({ status }) => {
    if (status === 'error') told.failed ??= rig.elapsed() - from;
  });
  await rig.time.advance(60_000);
  return told;
}

/** When each request to an endpoint goes that stays broken beside another one that is answered every 5 s. */
async function requestsToBroken(
  brokenForMs: number,
): Promise<{ times: number[]; data: number | undefined }> {
  const rig = createRig({ health: {} });
  const me = () => rig.steady.json<string>(`${api}/me`);
  new QueryObserver(rig.client, {
    queryKey: ['/me'],
    queryFn: me,
    refetchInterval: 5000,
  }).subscribe(() => {});
  rig.server.plan('/a', ...Array.from({ length: 100 }, () => 503));
  const told = ask(rig, '/a');
  await rig.time.advance(brokenForMs);
  rig.server.unplan('/a');
  await rig.time.advance(60_000 - brokenForMs);
  return { times: rig.server.times('/a'), data: told.succeeded };
}

test('a shown endpoint that stays broken gets seven requests until React Query gives up, and three more in a minute', async () => {
  const { times } = await requestsToBroken(60_000);
  // The fast retry; React Query's retries (1050, 3100, 7150), and probes between them; the page that heals itself.
  expect(times).toEqual([0, 25, 1050, 2250, 3100, 4637, 7149, 14_274, 28_524, 57_024]);
});

test.each([
  [500, 1050],
  [1500, 2250],
  [2500, 3100],
  [4000, 4637],
  [6000, 7149],
  [10_000, 14_274],
  [20_000, 28_524],
])(
  'each of these requests may be the one that brings the data: broken for %i ms, it has them at %i',
  async (brokenForMs, data) => {
    expect((await requestsToBroken(brokenForMs)).data).toBe(data);
  },
);
