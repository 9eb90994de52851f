import { onlineManager } from '@tanstack/react-query';
import { limitConcurrency, mutationOptions, type SteadfetchConfig } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { createRig, type Rig } from '../react-query/rig.tsx';

const last = { method: 'PUT', body: 'last' } as const;
const keptAlive = { ...last, keepalive: true } as const;

const begin = (rig: Rig, init: RequestInit): void =>
  void rig.steady.fetch('/draft', init as object).catch(() => {});

/** What holds a request back, and how it comes about. */
const pauses: Readonly<
  Record<string, readonly [config: SteadfetchConfig, begin: (rig: Rig) => Promise<void>]>
> = {
  'its endpoint is down': [{}, (rig) => failTwice(rig)],
  'its endpoint is down, and its probe hangs': [
    {},
    async (rig) => {
      await failTwice(rig);
      rig.server.plan('/draft', 'hang');
      begin(rig, last);
      await rig.time.advance(2000);
    },
  ],
  'others have all places': [
    { concurrency: limitConcurrency({ maxInFlight: 1 }) },
    async (rig) => {
      rig.server.plan('/draft', 'hang');
      begin(rig, last);
      await rig.time.settle();
    },
  ],
  'the browser says that it is offline': [
    {},
    async () => {
      onlineManager.setOnline(false);
    },
  ],
};

async function failTwice(rig: Rig): Promise<void> {
  rig.server.plan('/draft', 503, 503);
  for (const _ of Array(2)) {
    begin(rig, last);
    await rig.time.settle();
  }
}

describe('a write with keepalive, which a page sends as it is left', () => {
  test.each(Object.entries(pauses))('goes at once where %s', async (_, [config, hold]) => {
    const rig = createRig({ health: {}, ...config });
    await hold(rig);
    const before = rig.server.sent.length;
    begin(rig, last);
    await rig.time.settle();
    expect(rig.server.sent).toHaveLength(before);
    begin(rig, keptAlive);
    await rig.time.settle();
    expect(rig.server.sent).toHaveLength(before + 1);
  });

  test('is not sent while a limit is known: it would be refused', async () => {
    const rig = createRig({ health: {} });
    rig.server.plan('/draft', { status: 429, headers: { 'retry-after': '30' } });
    begin(rig, last);
    await rig.time.advance(1000);
    begin(rig, keptAlive);
    await rig.time.settle();
    expect(rig.server.times()).toEqual([0]);
    await rig.time.advance(40_000);
    expect(rig.server.times()).toEqual([0, 31_500]);
  });

  test.each<[string, RequestInit, readonly number[]]>([
    ['with keepalive', keptAlive, [0, 1200, 2400]],
    ['without it', last, [1200, 2400, 3600]],
  ])('is a probe like any other once it has failed: %s', async (_, init, times) => {
    const rig = createRig({ health: {} });
    await failTwice(rig);
    rig.server.plan('/draft', 503, 503);
    const options = mutationOptions(rig.steady, {
      mutationFn: (__: void, { fetch }) => fetch('/draft', init),
    });
    const made = rig.client.getMutationCache().build(rig.client, options);
    await Promise.all([made.execute(undefined), rig.time.advance(60_000)]);
    expect(rig.server.times().slice(2)).toEqual(times);
  });
});
