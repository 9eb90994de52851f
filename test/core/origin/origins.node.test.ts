import { describe, expect, test } from 'vitest';
import { code } from '../../../src/core/lib/input/made-by.ts';
import {
  checkOrigin,
  limitConcurrency,
  type OriginOptions,
} from '../../../src/core/origin/origin.ts';
import { Origins } from '../../../src/core/origin/origins.ts';
import { originStatus, stateOf, watchOrigins } from '../../../src/core/origin/status.ts';
import { failures, type Outcome } from '../../../src/core/policy/outcome.ts';
import type { Leader, TabMessage } from '../../../src/core/tabs/leader.ts';
import type { TabsCode } from '../../../src/core/tabs/share-across-tabs.ts';
import { openNetwork } from './open-network.ts';
import { createVirtualClock, epochMs } from './virtual-clock.ts';

const ok: Outcome = { kind: 'ok', status: 200, processed: 'yes' };
const [a, b] = ['https://a.test/', 'https://b.test/'] as const;

/** The origins of a page, and what becomes of its listeners and of the line to other tabs. */
function openOrigins(options: OriginOptions = {}, setBackMs?: number) {
  const clock = createVirtualClock();
  const told: string[] = [];
  const listening = new Set<() => void>();
  const leader: Leader = {
    post: ({ kind }: TabMessage) => void told.push(`post ${kind}`),
    close: () => void told.push('close'),
    yieldTo: () => true,
    isElsewhere: () => false,
    waitsUntil: () => 0,
    lead() {},
    rest() {},
    leave() {},
    repeat: () => Infinity,
  };
  const tabs: TabsCode = {
    by: 'shareAcrossTabs',
    open() {
      told.push('open');
      return {
        join(key) {
          told.push(`join ${key}`);
          return leader;
        },
        shareWrites: () => () => {},
        dispose: () => void told.push('dispose'),
      };
    },
  };
  const origins = new Origins({
    clock: { ...clock, ...(setBackMs !== undefined && { setBackMs: () => setBackMs }) },
    random: () => 0.5,
    network: {
      ...openNetwork,
      subscribe: (listener) => {
        listening.add(listener);
        return () => void listening.delete(listener);
      },
    },
    origin: { tabs: { [code]: tabs }, ...options },
  });
  const target = (name: string) => ({
    endpoint: name,
    resource: name,
    limitScope: name,
    isNew: true,
    risk: 0 as const,
  });
  return {
    origins,
    clock,
    told,
    listening,
    enter: (url: string, name: string) => origins.admissionOf(url).enter(target(name)),
    takeDown(url: string): void {
      for (const name of ['a', 'b'])
        origins.admissionOf(url).enter(target(name))?.end(failures.network);
    },
    wait(url: string, name: string) {
      const taken: (boolean | undefined)[] = [];
      const waiter = origins.admissionOf(url).wait(
        {
          ...target(name),
          id: 1,
          priority: 'user-visible',
          isForeground: () => true,
          isFailFast: false,
          askedAt: clock.now(),
          maxPauseMs: 60_000,
        },
        { onPause() {}, take: (permit) => void taken.push(permit?.isProbe) },
      );
      return { waiter, taken };
    },
  };
}

describe('the origins of a page', () => {
  test('join the other tabs with their first request, and leave them at the end, as all timers do', () => {
    const { origins, told, takeDown, clock, listening } = openOrigins();
    expect(told).toEqual([]);
    origins.admissionOf(a);
    origins.admissionOf(b, 'search');
    origins.admissionOf(a);
    expect(told).toEqual(['open', 'join https://a.test ', 'join https://b.test search']);
    watchOrigins(origins, () => {});
    takeDown(a);
    expect([clock.pending(), listening.size]).toEqual([1, 2]);
    told.length = 0;
    origins.dispose();
    expect([told, clock.pending(), listening.size]).toEqual([['dispose', 'close', 'close'], 0, 0]);
    // It works alone from then on.
    told.length = 0;
    origins.admissionOf('https://c.test/');
    expect([told, origins.openTabs()]).toEqual([[], undefined]);
  });

  test('need no tabs to end', () => {
    const { origins, takeDown, clock } = openOrigins({ tabs: undefined });
    takeDown(a);
    origins.dispose();
    expect(clock.pending()).toBe(0);
  });

  test('are forgotten with all that was learned, which listeners are told', () => {
    const { origins, takeDown, listening, clock } = openOrigins();
    takeDown(a);
    let changes = 0;
    watchOrigins(origins, () => void changes++);
    const before = changes;
    const { health } = origins.admissionOf(a).origin;
    origins.forget();
    expect([origins.known(), listening.size, health.isAnyDown(), clock.pending()]).toEqual([
      [],
      0,
      false,
      0,
    ]);
    expect(changes - before).toBe(2);
    expect(originStatus(origins).getState().status).toBe('up');
  });

  test('that are idle make room, and are ended', () => {
    const { origins, listening } = openOrigins();
    for (let id = 0; id < 51; id++) origins.admissionOf(`https://${id}.test/`);
    expect([origins.known().length, origins.known()[0], listening.size]).toEqual([
      50,
      'https://1.test',
      50,
    ]);
  });

  test('have the options of the instance, and those of their API before them', () => {
    const { origins } = openOrigins({ concurrency: limitConcurrency({ maxInFlight: 8 }) });
    const own = { concurrency: limitConcurrency({ maxInFlight: 2 }) };
    const most = (partition?: string, options?: OriginOptions): number =>
      origins.admissionOf(a, partition, options).origin.maxInFlight;
    expect([most(), most('own', own)]).toEqual([8, 2]);
    expect(openOrigins().origins.admissionOf(a).origin.maxInFlight).toBe(Infinity);
  });

  test('tell of the beginning and the end of each outage', () => {
    const { origins, enter, takeDown, clock } = openOrigins();
    const outages: unknown[] = [];
    origins.outages.add((...outage) => void outages.push(outage));
    const early = enter(a, 'a');
    takeDown(a);
    clock.advance(700);
    early?.end(ok);
    expect(outages).toEqual([
      ['https://a.test ', ''],
      ['https://a.test ', '', 700],
    ]);
  });

  test('are read anew for whom they are watched, and have a timer only then', () => {
    const { origins, takeDown, clock } = openOrigins();
    takeDown(a);
    expect(clock.pending()).toBe(0);
    let changes = 0;
    const stop = watchOrigins(origins, () => void changes++);
    expect([clock.pending(), changes]).toEqual([1, 1]);
    stop();
    expect([clock.pending(), changes]).toEqual([0, 1]);
  });
});

describe('the state of an origin', () => {
  test('shows the limits of what waits, where something does', async () => {
    const { origins, wait } = openOrigins();
    const { limits, queue } = origins.admissionOf(a).origin;
    const state = (): unknown => {
      const { status, retryAt, waiting } = originStatus(origins, a).getState();
      return [status, retryAt && retryAt - epochMs, waiting];
    };
    limits.pause('a', 1000);
    limits.pause('b', 2000);
    expect(state()).toEqual(['rate-limited', 1050, 0]);
    wait(a, 'b');
    await Promise.resolve();
    expect(state()).toEqual(['rate-limited', 2100, 1]);
    expect(queue.size).toBe(1);
  });

  test('is limited while a pace is kept to, of which no time is shown, and up where nothing is', async () => {
    const { origins, clock, wait } = openOrigins();
    const admission = origins.admissionOf(a);
    admission.origin.limits.refuse('a', clock.now(), undefined);
    clock.advance(263);
    for (const _ of [1, 2]) wait(a, 'a');
    await Promise.resolve();
    expect(stateOf(admission.origin)).toEqual({
      status: 'rate-limited',
      retryAt: undefined,
      waiting: 1,
    });
    clock.advance(250);
    expect(stateOf(admission.origin)).toEqual({ status: 'up', retryAt: undefined, waiting: 0 });
  });

  test('is up while what waits needs nothing but a place', async () => {
    const { origins, enter, wait } = openOrigins({
      concurrency: limitConcurrency({ maxInFlight: 1 }),
    });
    enter(a, 'a');
    wait(a, 'b');
    await Promise.resolve();
    expect(stateOf(origins.admissionOf(a).origin)).toEqual({
      status: 'up',
      retryAt: undefined,
      waiting: 1,
    });
  });

  test('is recovering while what waited goes', () => {
    const { origins, enter, takeDown, wait } = openOrigins();
    const early = enter(a, 'c');
    takeDown(a);
    for (const _ of [1, 2, 3]) wait(a, 'a');
    early?.end(ok);
    const { status, waiting } = originStatus(origins, a).getState();
    expect([status, waiting]).toEqual(['recovering', 2]);
  });

  test('of two that are as bad is that of the first', () => {
    const { origins } = openOrigins();
    origins.admissionOf(a).origin.limits.pause('a', 1000);
    origins.admissionOf(b).origin.limits.pause('a', 2000);
    const { retryAt = NaN } = originStatus(origins).getState();
    expect(retryAt - epochMs).toBe(1050);
  });

  test('has times by the wall clock, also where that was set back', () => {
    const { origins } = openOrigins({}, 400);
    origins.admissionOf(a).origin.limits.pause('a', 1000);
    const { retryAt = NaN } = originStatus(origins).getState();
    expect(retryAt - epochMs).toBe(650);
  });
});

describe('the options of an origin', () => {
  const tabs = { [code]: { by: 'shareAcrossTabs' } } as const;
  const concurrency = limitConcurrency({ maxInFlight: 1, maxQueued: 2, queueTimeoutMs: 3 });

  test.each<[OriginOptions, unknown]>([
    [{}, { health: undefined, tabs: undefined, concurrency: undefined }],
    [
      { health: false, tabs, concurrency },
      { health: false, tabs, concurrency },
    ],
    [
      { health: { maxChance: 0.5 } },
      { health: { maxChance: 0.5 }, tabs: undefined, concurrency: undefined },
    ],
  ])('%j are kept', (options, expected) => {
    expect(checkOrigin('create', options)).toEqual(expected);
  });

  test('carry what limitConcurrency was told', () => {
    expect(concurrency[code]).toEqual({
      by: 'limitConcurrency',
      maxInFlight: 1,
      maxQueued: 2,
      queueTimeoutMs: 3,
    });
  });

  test.each<[object, string]>([
    [
      { health: { maxChance: 2 } },
      'create: health: maxChance is 2, and must be a number from 0 to 1.',
    ],
    [
      { health: { threshold: 1 } },
      'create: health: threshold is 1, and must be left out: the options are maxChance.',
    ],
    [{ tabs: true }, 'create: tabs is true, and must be what shareAcrossTabs() returns.'],
    [{ concurrency: 8 }, 'create: concurrency is 8, and must be what limitConcurrency() returns.'],
  ])('%j is a mistake that is named', (options, message) => {
    expect(() => checkOrigin('create', options)).toThrow(new TypeError(message));
  });

  test.each<[object, string]>([
    [{ maxInFlight: '8' }, "maxInFlight is '8', and must be a number from 1 to Infinity."],
    [{ maxInFlight: 0.5 }, 'maxInFlight is 0.5, and must be a number from 1 to Infinity.'],
    [{ queueTimeoutMs: -1 }, 'queueTimeoutMs is -1, and must be a number from 0 to Infinity.'],
    [{ maxQueued: -1 }, 'maxQueued is -1, and must be a number from 0 to Infinity.'],
    [
      { most: 1 },
      'most is 1, and must be left out: the options are maxInFlight, maxQueued, queueTimeoutMs.',
    ],
  ])('limitConcurrency(%j) is a mistake that is named', (options, message) => {
    expect(() => limitConcurrency(options)).toThrow(new TypeError(`limitConcurrency: ${message}`));
  });
});
