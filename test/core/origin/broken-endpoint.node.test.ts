import { describe, expect, test } from 'vitest';
import { names, openHealth } from './health-rig.ts';
import { epochMs } from './virtual-clock.ts';

describe('an endpoint is broken by itself', () => {
  test('where others have answered since it began to fail, and not where it has alone', () => {
    const { health, fail, answer, reach } = openHealth();
    const isBroken = (): boolean[] => ['a', 'b'].map((name) => health.isBroken(name));
    answer('b');
    reach(10);
    fail('a');
    expect(isBroken()).toEqual([false, false]);
    answer('a', 0);
    fail('a', 'http', 11);
    reach(11);
    answer('b');
    expect(isBroken()).toEqual([true, false]);
  });

  test('again, where one fails that was sent after that', () => {
    const { health, fail, answer, reach } = openHealth();
    const isAgain = (): boolean | undefined => health.of('a')?.isBrokenAgain;
    fail('a');
    reach(10);
    fail('a');
    answer('b');
    expect([health.isBroken('a'), isAgain()]).toEqual([true, false]);
    reach(11);
    fail('a', 'http', 10);
    expect(isAgain()).toBe(false);
    fail('a');
    expect(isAgain()).toBe(true);
    fail('a', 'http', 10);
    expect(isAgain()).toBe(true);
  });

  test('says nothing of its origin, unless that is down', () => {
    const { health, fail, answer, reach } = openHealth();
    fail('a');
    reach(1);
    answer('b');
    for (const at of [2, 3, 4]) {
      reach(at);
      fail('a');
    }
    expect([health.of('')?.failures, health.of('a')?.failures]).toEqual([0, 4]);
    health.follow('');
    fail('a');
    expect(health.of('')?.failures).toBe(1);
  });

  test('is probed soon when another one answers, and the others are not that are broken already', () => {
    const { health, fail, answer, reach } = openHealth();
    const probeAt = (name: string): number =>
      (health.of(name)?.probes.nextAt(true, Infinity) ?? NaN) - epochMs;
    answer('c');
    reach(1);
    for (const _ of [1, 2]) fail('a');
    // Its probes fail, so the gaps grow.
    for (const at of [5000, 10_000]) {
      reach(at);
      health.of('a')?.probes.start()(true);
    }
    expect(probeAt('a')).toBe(14_999.5);
    reach(12_000);
    answer('a', 0);
    expect(probeAt('a')).toBe(14_999.5);
    answer('b');
    expect(probeAt('a')).toBe(12_000);
    for (const at of [12_000, 13_200, 14_400, 15_600]) {
      reach(at);
      health.of('a')?.probes.start()(true);
    }
    expect(probeAt('a')).toBe(17_400);
    reach(17_000);
    answer('b');
    expect(probeAt('a')).toBe(17_400);
  });

  test('is not probed for the answer of what it was answered with itself', () => {
    const { health, fail, answer, reach } = openHealth();
    answer('b');
    reach(1);
    for (const _ of [1, 2]) fail('a');
    reach(5000);
    health.of('a')?.probes.start()(true);
    reach(6400);
    // Another tab has found the origin well: nothing is known of this endpoint.
    health.recover('a');
    expect(health.isDown('a')).toBe(false);
    for (const _ of [1, 2]) fail('a');
    health.recover('');
    expect([health.isDown('a'), health.isBroken('a')]).toEqual([true, true]);
  });
});

describe('one URL of an endpoint is broken by itself', () => {
  test('where others of it have answered since it began to fail: it counts for nothing else', () => {
    const { health, named, fail, answer, reach } = openHealth();
    const isBroken = (): boolean => health.isUrlBroken(named('a/1'));
    fail('a/1', 'http', 5);
    expect(isBroken()).toBe(false);
    answer('a/2', 4);
    expect(isBroken()).toBe(false);
    answer('a/2', 5);
    expect(isBroken()).toBe(true);
    reach(6);
    for (const _ of [1, 2, 3]) fail('a/1');
    expect([health.of('a')?.failures, health.of('')?.failures]).toEqual([0, 0]);
    // Those that were sent before the latest answer count towards what is usual.
    expect(health.of('a')?.usualRate.toFixed(3)).toBe('0.094');
    fail('a/1', 'http', 5);
    expect(health.of('a')?.usualRate.toFixed(3)).toBe('0.185');
  });

  test.each([
    [5, true],
    [6, false],
  ])('where no more than five fail: %d do, %s', (count, isBroken) => {
    const { health, named, fail, answer } = openHealth();
    for (const name of names(count, 'a/')) fail(name);
    for (const name of names(9, 'b/')) fail(name);
    answer('a/ok');
    expect(health.isUrlBroken(named('a/0'))).toBe(isBroken);
  });

  test('never with health: false', () => {
    for (const [maxChance, isBroken] of [
      [-1, false],
      [0, true],
    ] as const) {
      const { health, named, fail, answer } = openHealth(maxChance);
      fail('a/1');
      answer('a/2');
      expect(health.isUrlBroken(named('a/1'))).toBe(isBroken);
    }
  });

  test('as far as the answers of fifty endpoints are known', () => {
    const { health, named, fail, answer } = openHealth();
    for (const endpoint of ['a', 'b']) fail(`${endpoint}/1`);
    const isBroken = (): boolean[] => ['a/1', 'b/1'].map((name) => health.isUrlBroken(named(name)));
    answer('a/2');
    answer('b/2');
    answer('a/2');
    for (const name of names(49)) answer(name);
    expect(isBroken()).toEqual([true, false]);
    answer('49');
    expect(isBroken()).toEqual([false, false]);
  });
});

describe('a URL that was never answered is all that fails at an origin that has answered', () => {
  type Rig = ReturnType<typeof openHealth>;
  test.each<[string, boolean, (rig: Rig) => void]>([
    ['it is answered with errors', true, ({ fail }) => void fail('a')],
    ['it is rejected', true, ({ fail }) => void fail('a', 'network')],
    ['it hangs', false, ({ fail }) => void fail('a', 'timeout')],
    ['it has not failed', false, () => {}],
    [
      'it was answered before',
      false,
      ({ answer, fail, reach }) => {
        answer('a');
        reach(11);
        fail('a');
      },
    ],
    [
      'another one fails, too',
      false,
      ({ fail }) => {
        fail('b');
        fail('a');
      },
    ],
    [
      'another one has failed in its place',
      false,
      ({ fail, answer, reach }) => {
        fail('a', 'http', 1);
        answer('b', 0);
        reach(11);
        fail('b');
      },
    ],
    [
      'its origin says nothing of that, because it was broken before',
      true,
      ({ fail, answer, reach }) => {
        fail('a', 'http', 1);
        reach(11);
        answer('b', 0);
      },
    ],
    [
      'six of its URLs do',
      false,
      ({ fail }) => {
        for (const name of names(5, 'a/')) fail(name);
        fail('a');
      },
    ],
    [
      'the origin has answered what was sent as it began to fail',
      false,
      ({ fail, answer }) => {
        fail('a');
        answer('b');
      },
    ],
    [
      'the origin has answered less than a minute before',
      true,
      ({ fail, reach }) => {
        reach(59_999);
        fail('a');
      },
    ],
    [
      'the origin has answered a minute before',
      false,
      ({ fail, reach }) => {
        reach(60_000);
        fail('a');
      },
    ],
  ])('where %s: %s', (_what, expected, happen) => {
    const rig = openHealth();
    rig.answer('b');
    if (rig.clock.elapsed() === 0) rig.reach(10);
    rig.answer('b', 0);
    happen(rig);
    expect(rig.health.isOnlyFailure(rig.named('a'))).toBe(expected);
  });
});
