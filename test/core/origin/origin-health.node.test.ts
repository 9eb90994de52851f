import { describe, expect, test } from 'vitest';
import type { Place } from '../../../src/core/origin/ask.ts';
import { type Kind, names, openHealth } from './health-rig.ts';
import { epochMs } from './virtual-clock.ts';

describe('what is down', () => {
  test('is the endpoint alone, or the whole origin, and begins and ends once', () => {
    const { health, outages, fail, answer, reach, down } = openHealth();
    expect([fail('a'), down(), health.isAnyDown()]).toEqual([undefined, [], false]);
    expect([fail('a'), down(), health.isAnyDown()]).toEqual(['a', ['a'], true]);
    expect([fail('a'), fail('b'), down()]).toEqual([undefined, '', ['']]);
    expect(fail('c')).toBe(undefined);
    expect([health.isDown('a'), health.isDown('z')]).toEqual([true, true]);
    reach(700);
    expect([answer('a'), down()]).toEqual([{ scope: '', downMs: 700 }, []]);
    expect(outages).toEqual(['a down', 'all down', 'a 700', 'all 700']);
    expect([answer('a'), outages.length]).toEqual([undefined, 4]);
  });

  test('with its origin is up again with that, and down with the next failure', () => {
    const { health, outages, fail, answer, reach, down } = openHealth();
    for (const name of ['a', 'a', 'b']) fail(name);
    reach(700);
    answer('c');
    expect([down(), outages.slice(-2)]).toEqual([[], ['a 700', 'all 700']]);
    expect(health.of('a')?.failures).toBe(2);
    reach(701);
    expect(fail('a')).toBe('a');
  });

  test.each<[string, string[], string[]]>([
    ['by its own answer', ['a', 'a', 'a', 'a', 'a'], ['a']],
    ['by the answer of another one', ['a', 'a', 'a', 'a', 'a', 'b'], ['b', 'a']],
    ['by that, after one failure of it', ['b', 'b', 'a'], ['c', 'a', 'b']],
    ['by that, after failures in between', ['b', 'a', 'b', 'a', 'a'], ['b', 'a']],
  ])('and has ended %s is down by two failures again', (_, failed, answered) => {
    const { fail, answer, reach, health } = openHealth();
    for (let outage = 0; outage < 20; outage++) {
      reach(outage * 60_000);
      for (const name of failed) fail(name);
      reach(outage * 60_000 + 10_000);
      for (const name of answered) answer(name);
    }
    expect(health.of('a')?.usualRate).toBe(0);
    reach(20 * 60_000);
    expect([fail('a'), fail('a')]).toEqual([undefined, 'a']);
  });

  test('of an origin says nothing of the next outage of one of its endpoints', () => {
    const { health, fail, answer, reach } = openHealth();
    for (const _ of [1, 2]) fail('a');
    health.of('a')?.probes.promise(epochMs + 700);
    reach(600);
    answer('a');
    reach(601);
    for (const name of ['b', 'c', 'd', 'e']) fail(name);
    expect(health.isDown('z')).toBe(true);
    expect(health.of('')?.probes.nextAt(true, Infinity)).toBe(epochMs + 1801);
  });

  test('was answered at last when the latest was sent that had an answer, whatever has failed since', () => {
    const { health, fail, answer } = openHealth();
    for (const name of ['a', 'b']) fail(name, 'http', 5);
    answer('c', 3);
    expect(health.of('')).toMatchObject({ answeredSentAt: epochMs + 3, failures: 0 });
    answer('c', 1);
    expect(health.of('')?.answeredSentAt).toBe(epochMs + 3);
  });

  test('of endpoints in turn is each of them, and ends with its own answer', () => {
    const { health, outages, fail, answer, clock, down } = openHealth();
    for (const name of ['a', 'b']) {
      answer('c');
      clock.advance(1);
      for (const _ of [1, 2]) fail(name);
    }
    expect([down(), health.isDown('a'), health.isDown('c')]).toEqual([['a', 'b'], true, false]);
    clock.advance(500);
    expect(answer('b')).toEqual({ scope: 'b', downMs: 500 });
    expect([down(), outages]).toEqual([['a'], ['a down', 'b down', 'b 500']]);
  });

  test('is what is exactly as unlikely as it may be', () => {
    const { fail } = openHealth(0.04 ** 2);
    expect([fail('a'), fail('a')]).toEqual([undefined, 'a']);
  });

  test('is nothing with health: false, whoever says so', () => {
    const { health, fail, down } = openHealth(-1);
    for (const name of ['a', 'b', 'a', 'b']) fail(name);
    health.follow('');
    health.follow('a');
    expect(down()).toEqual([]);
  });

  test('is followed where no chance is too small', () => {
    const { health, down } = openHealth(0);
    health.follow('a');
    expect(down()).toEqual(['a']);
  });

  test('is kept of fifty endpoints: the first that is up makes room', () => {
    const { health, fail, down, outages } = openHealth();
    health.follow('down');
    for (const name of names(49)) fail(name, 'http', -1000);
    expect(health.all()).toHaveLength(51);
    fail('one more', 'http', -1000);
    expect([health.all().length, health.of('0'), health.of('1')?.failures]).toEqual([
      51,
      undefined,
      1,
    ]);
    expect(health.of('one more')?.failures).toBe(1);
    expect([down(), outages]).toEqual([[''], ['down down', 'all down']]);
  });

  test('is kept of fifty endpoints: where all are down, the first makes room, and has recovered', () => {
    const { health, outages, reach } = openHealth();
    for (const name of names(50)) health.follow(name);
    reach(10);
    health.follow('one more');
    expect([health.of('0'), health.isDown('1'), outages.slice(-2)]).toEqual([
      undefined,
      true,
      ['0 10', 'one more down'],
    ]);
  });
});

describe('an attempt is held back', () => {
  test('by nothing while all is up, whatever has failed', () => {
    const { fail, heldBy } = openHealth();
    fail('a');
    expect([heldBy('a'), heldBy('a', { isNew: false }), heldBy('b')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each<[string, string, Partial<Place>, string | undefined]>([
    ['its URL has failed', 'a/1', {}, 'a'],
    ['its URL has not', 'a/3', {}, undefined],
    ['its URL has not, and its operation is sent again', 'a/3', { isNew: false }, 'a'],
    ['its URL had, as it was read before', 'a/3', { hasFailed: true }, 'a'],
    ['its URL had not, as it was read before', 'a/1', { hasFailed: false }, undefined],
    ['its endpoint has failed, and no URL is known', 'a', { resource: 'a/2' }, 'a'],
    ['its endpoint has not failed, though it is sent again', 'b', { isNew: false }, undefined],
  ])('where its endpoint is down, and %s', (_what, name, own, scope) => {
    const { fail, heldBy } = openHealth();
    for (const url of ['a/1', 'a/2']) fail(url);
    expect(heldBy(name, own)).toBe(scope);
  });

  test('by its origin, where that is down, and has failed for it', () => {
    const { fail, heldBy } = openHealth();
    for (const url of ['a', 'a', 'b']) fail(url);
    expect([heldBy('a'), heldBy('b'), heldBy('c'), heldBy('c', { isNew: false })]).toEqual([
      '',
      '',
      undefined,
      undefined,
    ]);
  });

  test('by its origin, where another tab has found that down, unless it needs no network', () => {
    const { health, heldBy } = openHealth();
    health.follow('');
    expect([heldBy('a'), heldBy('a', { mayBeOffline: true })]).toEqual(['', undefined]);
  });

  const press = { risk: 2, isNew: true } as const;

  test.each<[string, Partial<Place>, (string | undefined)[]]>([
    ['a press of Save', press, ['a', 'a', undefined]],
    ['one that may be repeated', { risk: 1, isNew: true }, ['a', 'a', 'a']],
    ['one that is sent again', { risk: 2, isNew: false }, ['a', 'a', 'a']],
    ['a query that is never retried', { risk: 0, isOnce: true }, ['a', 'a', undefined]],
  ])('%s passes 1.2 s after the last request, or does not', (_what, own, expected) => {
    const { fail, heldBy, send, reach } = openHealth();
    for (const _ of [1, 2]) fail('a');
    send('a');
    const held = [0, 1199, 1200].map((at) => {
      reach(at);
      return heldBy('a', own);
    });
    expect(held).toEqual(expected);
  });

  test('a press of Save passes at once where its endpoint was asked before fifty others, or never', () => {
    const { health, heldBy, send } = openHealth();
    health.follow('');
    for (const name of ['a', 'b', 'a', ...names(49)]) send(name);
    expect([heldBy('a', press), heldBy('b', press), heldBy('never', press)]).toEqual([
      '',
      undefined,
      undefined,
    ]);
  });
});

describe('all that is used', () => {
  test('is down where each endpoint of the last minute is', () => {
    const { health, send, fail, reach } = openHealth();
    expect(health.isAllDown()).toBe(true);
    send('old');
    reach(1);
    send('a');
    for (const _ of [1, 2]) fail('a');
    expect(health.isAllDown()).toBe(false);
    reach(59_999);
    expect(health.isAllDown()).toBe(false);
    reach(60_000);
    expect(health.isAllDown()).toBe(true);
  });
});

describe('outages are forgotten', () => {
  const open = () => {
    const opened = openHealth();
    opened.answer('c');
    opened.clock.advance(1);
    for (const kind of ['network', 'http'] as const)
      for (const _ of [1, 2]) {
        opened.fail(kind, kind);
        opened.answer('c');
        opened.clock.advance(1);
      }
    for (const kind of ['network', 'http'] as const)
      for (const _ of [1, 2]) opened.fail(kind, kind);
    return opened;
  };

  test('all of them, and what has failed', () => {
    const { health, down, heldBy } = open();
    expect(down()).toEqual(['network', 'http']);
    expect(health.reset()).toEqual(['network', 'http']);
    expect([down(), health.failing.failures('http')]).toEqual([[], 0]);
    expect([health.of('http')?.failures, health.of('')?.failures]).toEqual([0, 0]);
    health.follow('http');
    expect(heldBy('http')).toBe(undefined);
  });

  test('those in which every attempt was rejected, and not what has failed', () => {
    const { health, down } = open();
    expect(health.reset(true)).toEqual(['network']);
    expect([down(), health.failing.failures('network')]).toEqual([['http'], 4]);
    expect([health.of('network')?.failures, health.of('http')?.failures]).toEqual([0, 4]);
  });

  test('but not what is up', () => {
    const { health, fail, outages } = openHealth();
    fail('a', 'network');
    expect([health.reset(true), health.reset(), outages]).toEqual([[], [], []]);
  });
});

describe('what an endpoint has shown since its last success', () => {
  test.each<[Kind[], boolean, boolean]>([
    [[], true, false],
    [['network', 'network'], true, false],
    [['network', 'timeout'], false, false],
    [['http', 'network'], false, true],
    [['timeout', 'http', 'network'], false, true],
  ])('%j: every attempt was rejected: %s, it was answered: %s', (kinds, isRejected, isAnswered) => {
    const { health, fail, answer, clock } = openHealth();
    fail('a', 'timeout');
    answer('a');
    clock.advance(1);
    for (const kind of kinds) fail('a', kind);
    expect(health.of('a')).toMatchObject({ isRejected, isAnswered, failures: kinds.length });
    answer('a');
    expect(health.of('a')).toMatchObject({
      isRejected: true,
      isAnswered: false,
      isBrokenAgain: false,
      failures: 0,
      failingSince: Infinity,
    });
    expect(health.of('a')?.failed.size).toBe(0);
  });
});

describe('a failure stands alone', () => {
  const alone = (happen: (rig: ReturnType<typeof openHealth>) => void, maxChance?: number) => {
    const rig = openHealth(maxChance);
    happen(rig);
    return rig.health.isAlone('a');
  };

  test.each<[string, boolean, (rig: ReturnType<typeof openHealth>) => void, number?]>([
    ['soon after it was sent', true, ({ fail }) => void fail('a')],
    ['not a second after it was sent', false, ({ fail }) => void fail('a', 'http', -999)],
    [
      'for a second',
      true,
      ({ fail, reach }) => {
        fail('a');
        reach(1000);
      },
    ],
    [
      'no longer',
      false,
      ({ fail, reach }) => {
        fail('a');
        reach(1001);
      },
    ],
    ['nor without a failure', false, () => {}],
    ['nor as the second one', false, ({ fail }) => [1, 2].forEach(() => fail('a'))],
    [
      'nor beside another one',
      false,
      ({ fail }) => {
        fail('a');
        fail('b');
      },
    ],
    ['nor with health: false', false, ({ fail }) => void fail('a'), -1],
    ['but where no chance is too small', true, ({ fail }) => void fail('a'), 0],
    [
      'nor where another tab has found an outage',
      false,
      ({ fail, health }) => {
        health.follow('');
        fail('a');
      },
    ],
  ])('%s: %s', (_what, expected, happen, maxChance) => {
    expect(
      alone((rig) => {
        rig.answer('b');
        rig.reach(1);
        happen(rig);
      }, maxChance),
    ).toBe(expected);
  });

  test('not before the first answer', () => {
    expect(alone(({ fail }) => void fail('a'))).toBe(false);
  });

  test('nor beside another one, if what has failed was sent before an answer', () => {
    const { health, fail, answer, reach } = openHealth();
    reach(1);
    answer('b');
    reach(2);
    fail('c');
    fail('a', 'http', 1);
    expect([health.of('')?.failures, health.isAlone('a')]).toEqual([1, false]);
  });

  test('nor an outage that another tab has found, without a failure here', () => {
    const { health } = openHealth();
    health.follow('a');
    expect(health.isAlone('a')).toBe(false);
  });

  test('nor the first of all, which is no retry though it is an outage', () => {
    const { health, fail } = openHealth(0.5);
    fail('a');
    expect(health.of('a')?.probes.nextAt(true, Infinity)).toBe(epochMs + 1200);
  });

  test('and what is sent within a tenth of a second after it is its fast retry: it has an early probe', () => {
    const probeAt = (sentAt: number): number => {
      const { health, fail, answer, reach } = openHealth();
      answer('b');
      reach(1);
      fail('a');
      reach(sentAt);
      fail('a', 'http', sentAt);
      return (health.of('a')?.probes.nextAt(true, Infinity) ?? NaN) - epochMs - sentAt;
    };
    expect([probeAt(2), probeAt(100), probeAt(101)]).toEqual([800, 800, 1200]);
  });

  test('what was sent together with it is no retry of it', () => {
    const { health, fail, answer, reach } = openHealth();
    answer('b');
    reach(1);
    fail('a');
    fail('a');
    expect(health.of('a')?.probes.nextAt(true, Infinity)).toBe(epochMs + 1201);
  });
});

test.each([
  [499, '0.184'],
  [500, '0.000'],
])('the failures of an outage of %d ms leave a usual rate of %s', (ms, rate) => {
  const { health, fail, answer, reach } = openHealth();
  for (const _ of [1, 2]) fail('a');
  reach(ms);
  answer('a');
  expect(health.of('a')?.usualRate.toFixed(3)).toBe(rate);
});
