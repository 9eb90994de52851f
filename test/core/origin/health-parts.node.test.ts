import { describe, expect, test } from 'vitest';
import { FailingUrls, LastAnswer } from '../../../src/core/origin/health/failing.ts';
import { type Reach, Unreadable } from '../../../src/core/origin/health/unreadable.ts';
import { type Kind, names, openHealth } from './health-rig.ts';
import { epochMs } from './virtual-clock.ts';

test('the answer that one had last is told from those that others had', () => {
  const last = new LastAnswer();
  expect(last.elsewhereAt('a')).toBe(-Infinity);
  last.record('a', 5);
  expect([last.elsewhereAt('a'), last.elsewhereAt('b')]).toEqual([-Infinity, 5]);
  last.record('a', 9);
  last.record('a', 7);
  expect([last.elsewhereAt('a'), last.elsewhereAt('b')]).toEqual([-Infinity, 9]);
  last.record('b', 8);
  expect([last.elsewhereAt('a'), last.elsewhereAt('b'), last.elsewhereAt('c')]).toEqual([9, 9, 9]);
});

describe('of the URLs that fail', () => {
  test('the number since the last answer, and the first time, are known', () => {
    const failing = new FailingUrls();
    expect([failing.failures('a'), failing.since('a')]).toEqual([0, Infinity]);
    for (const sentAt of [7, 5, 9]) failing.record('a', 'all', sentAt);
    expect([failing.failures('a'), failing.since('a')]).toEqual([3, 5]);
    failing.recordAnswer('a');
    expect([failing.failures('a'), failing.since('a')]).toEqual([0, Infinity]);
  });

  test('the latest thousand are kept, and as many that were answered', () => {
    const failing = new FailingUrls();
    const all = ['a', 'b', 'a', ...names(999)];
    for (const name of all) failing.record(name, 'all', 1);
    expect([failing.failures('a'), failing.failures('b')]).toEqual([2, 0]);
    for (const name of all) failing.recordAnswer(name);
    expect([failing.wasAnswered('a'), failing.wasAnswered('b')]).toEqual([true, false]);
  });
});

describe('answers that the page may not read', () => {
  const open = (own: Partial<Reach> | undefined = {}) => {
    const opened = openHealth();
    let [checks, found] = [0, 0];
    const reach: Reach = {
      wasReached: () => false,
      check: () => Promise.resolve(++checks > 0),
      ...own,
    };
    const unreadable = new Unreadable(opened.clock, opened.health, reach, () => void found++);
    return {
      ...opened,
      unreadable,
      counts: async (): Promise<number[]> => {
        await Promise.resolve();
        return [checks, found];
      },
      /** Fails, as the outcomes say it. */
      lose(name: string, kind: Kind = 'network') {
        opened.fail(name, kind);
        unreadable.recordFailure(name, opened.clock.now(), kind === 'network');
      },
    };
  };

  test('are looked for once an outage has begun, and once in it', async () => {
    const { lose, counts, unreadable, reach } = open();
    lose('a');
    expect(await counts()).toEqual([0, 0]);
    lose('a');
    expect(await counts()).toEqual([1, 1]);
    reach(59_999);
    expect([unreadable.has('a'), unreadable.has('b')]).toEqual([true, true]);
    reach(60_000);
    expect(unreadable.has('a')).toBe(false);
    lose('a');
    expect(await counts()).toEqual([1, 1]);
  });

  test('are not there where no check is answered, or there is no check', async () => {
    const { lose, counts, unreadable } = open({ check: () => Promise.resolve(false) });
    for (const _ of [1, 2]) lose('a');
    expect([await counts(), unreadable.has('a')]).toEqual([[0, 0], false]);
    const { clock, health, fail } = openHealth();
    const without = new Unreadable(clock, health, undefined, () => {});
    for (const _ of [1, 2]) fail('a', 'network');
    without.recordFailure('a', clock.now(), true);
    expect(without.has('a')).toBe(false);
  });

  test('are found without a check where one was answered since that was sent', async () => {
    const since: number[] = [];
    const { lose, counts, unreadable } = open({
      wasReached: (sinceMs) => since.push(sinceMs - epochMs) > 0,
    });
    for (const _ of [1, 2]) lose('a');
    expect([await counts(), unreadable.has('a'), since]).toEqual([[0, 1], true, [0]]);
  });

  test('are not looked for where one was answered, if with an error', async () => {
    const { lose, counts } = open();
    lose('a', 'http');
    lose('a');
    lose('b');
    lose('b');
    expect(await counts()).toEqual([0, 0]);
  });

  test('are those of the endpoint, or of the whole origin, and not of another endpoint', async () => {
    const { lose, counts, answer, clock, health } = open();
    answer('c');
    clock.advance(1);
    health.follow('b');
    lose('a');
    expect(await counts()).toEqual([0, 0]);
    health.follow('');
    lose('z');
    expect(await counts()).toEqual([1, 1]);
  });

  test('are looked for once a minute in outages of which nothing was answered', async () => {
    const { lose, counts, reach, health, unreadable } = open();
    const outage = (at: number): Promise<number[]> => {
      reach(at);
      health.reset();
      for (const _ of [1, 2]) lose('a');
      return counts();
    };
    expect(await outage(0)).toEqual([1, 1]);
    expect(await outage(1)).toEqual([1, 1]);
    expect(await outage(59_999)).toEqual([1, 1]);
    expect(await outage(60_000)).toEqual([2, 2]);
    unreadable.recordAnswer();
    expect(await outage(60_001)).toEqual([3, 3]);
    expect(await outage(60_002)).toEqual([3, 3]);
    // At the same time as an outage begins, it was looked for in that.
    unreadable.recordAnswer();
    expect(await outage(60_002)).toEqual([4, 4]);
  });

  test('are no longer there once one is answered, or fails in another way', async () => {
    const { lose, counts, answer, unreadable, reach } = open();
    for (const _ of [1, 2]) lose('a');
    await counts();
    answer('a', -1);
    expect(unreadable.has('a')).toBe(true);
    answer('a', 0);
    expect(unreadable.has('a')).toBe(false);
    expect(unreadable.has('b')).toBe(true);
    reach(1);
    unreadable.recordFailure('b', epochMs + 1, false);
    expect(unreadable.has('b')).toBe(false);
  });
});
