import { describe, expect, test } from 'vitest';
import { OriginHealth } from '../../../src/core/origin/health/health.ts';
import { FailingUrls, LastAnswer } from '../../../src/core/origin/health/failing.ts';
import { type Reach, Unreadable } from '../../../src/core/origin/health/unreadable.ts';
import type { Place } from '../../../src/core/origin/ask.ts';
import type { Outcome } from '../../../src/core/policy/outcome.ts';
import { createVirtualClock, epochMs } from './virtual-clock.ts';

type Kind = Outcome['kind'];

/** The health of an origin of which every endpoint has a URL of its own name, unless another one is given. */
function openHealth(maxChance?: number) {
  const clock = createVirtualClock();
  const outages: string[] = [];
  const health = new OriginHealth(
    clock,
    () => 0.5,
    { maxChance },
    (scope, downMs) => void outages.push(`${scope || 'all'} ${downMs ?? 'down'}`),
  );
  const named = (name: string) => {
    const [endpoint = '', id] = name.split('/');
    return { endpoint, resource: id === undefined ? endpoint : name };
  };
  return {
    health,
    clock,
    outages,
    named,
    reach: (at: number) => clock.advance(at - clock.elapsed()),
    /** Fails now, sent at the same time unless another one is given. @returns what went down. */
    fail: (name: string, kind: Kind = 'http', sentAt = clock.elapsed()) =>
      health.recordFailure(named(name), epochMs + sentAt, kind)?.scope,
    /** @returns what has recovered. */
    answer: (name: string, sentAt = clock.elapsed()) =>
      health.recordSuccess(named(name), epochMs + sentAt),
    send: (name: string) => health.recordSent(named(name).endpoint, clock.now()),
    /** What holds an attempt back. */
    heldBy: (name: string, own: Partial<Place> = {}) =>
      health.downFor({ ...named(name), risk: 0, ...own })?.scope,
    down: () => health.down().map(({ scope }) => scope),
  };
}

const names = (count: number, prefix = ''): string[] =>
  Array.from({ length: count }, (_, id) => `${prefix}${id}`);

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
