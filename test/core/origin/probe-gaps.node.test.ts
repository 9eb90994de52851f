import { describe, expect, test } from 'vitest';
import { ProbeSchedule } from '../../../src/core/origin/health/probe-schedule.ts';
import { createVirtualClock, epochMs } from './virtual-clock.ts';

/** A schedule whose draws of chance are all the same, and when it probes, in milliseconds since its beginning. */
function openSchedule(share = 0.5) {
  const clock = createVirtualClock();
  const probes = new ProbeSchedule(clock, () => share);
  const since = (at: number): number => at - epochMs;
  const nextAt = (isForeground: boolean, expiresAt = Infinity): number =>
    since(probes.nextAt(isForeground, epochMs + expiresAt));
  return {
    probes,
    advance: clock.advance,
    nextAt,
    promisedAt: () => since(probes.promisedAt),
    /** In the foreground, in the background, and while nobody waits. */
    times: () => [nextAt(true), nextAt(false), since(probes.idleAt())],
    /** Lets time pass until then. */
    reach: (at: number) => clock.advance(at - clock.elapsed()),
  };
}

const never = [Infinity, Infinity, Infinity];

test('what is up is not probed, whatever is promised, or heard of the network', () => {
  const { probes, times, promisedAt } = openSchedule();
  probes.promise(epochMs + 1000);
  probes.hasten(true);
  probes.hasten();
  expect([times(), promisedAt(), probes.isProbing()]).toEqual([never, Infinity, false]);
});

test.each([
  ['least', 0, [900, 5000, 3750], 400],
  ['middle', 0.5, [1200, 7500, 5000], 800],
  ['most', 0.9, [1440, 9500, 6000], 1120],
])(
  'the first probe of an outage, by the %s draw of chance',
  (_draw, share, expected, earlyForegroundAt) => {
    const { probes, times } = openSchedule(share);
    probes.begin(false);
    expect(times().map(Math.round)).toEqual(expected);
    probes.begin(true);
    expect(times().map(Math.round)).toEqual([earlyForegroundAt, ...expected.slice(1)]);
  },
);

describe('the gaps between probes that fail at once', () => {
  test.each([
    [
      'in the foreground are half of the outage, from 1.2 to 12 s',
      0,
      [1200, 2400, 3600, 5400, 8100, 12_150, 18_225, 27_338, 39_338, 51_338],
    ],
    [
      'in the background grow thrice, and are 30 s then',
      1,
      [7500, 22_500, 45_000, 75_000, 105_000],
    ],
    [
      'while nobody waits are the outage, from 5 to 30 s',
      2,
      [5000, 10_000, 20_000, 40_000, 70_000, 100_000],
    ],
  ])('%s', (_what, which, expected) => {
    const { probes, times, reach } = openSchedule();
    probes.begin(false);
    const sentAt = expected.map(() => {
      const at = times()[which] ?? NaN;
      reach(at);
      probes.start()(true);
      return Math.round(at);
    });
    expect(sentAt).toEqual(expected);
  });

  test('begin anew with the next outage', () => {
    const { probes, times, reach } = openSchedule();
    probes.begin(false);
    reach(30_000);
    probes.start()(true);
    probes.close();
    expect(times()).toEqual(never);
    probes.begin(false);
    expect(times()).toEqual([31_200, 37_500, 35_000]);
  });
});

/** A probe goes at 1200, and ends so much later. */
const probe = (endsAfterMs: number, ...how: [hasFailed: boolean, isUnused?: boolean]) => {
  const schedule = openSchedule();
  const { probes, reach, advance } = schedule;
  probes.begin(false);
  reach(1200);
  probes.promise(epochMs + 1300);
  const end = probes.start();
  advance(endsAfterMs);
  end(...how);
  return schedule;
};

test.each<[string, number, [boolean, boolean?], number[]]>([
  ['fails within the gap: it counts from its start', 1000, [true], [2400, 17_200, 7200]],
  ['fails after the gap: the next one goes at once', 5000, [true], [6200, 21_200, 12_400]],
  ['shows nothing: the gap is 2 s', 1000, [false], [3200, 17_200, 7200]],
  ['was not sent: the next one goes at once', 1000, [false, true], [2200, 2200, 7200]],
])('after a probe that %s', (_what, endsAfterMs, how, expected) => {
  const { times, probes, promisedAt } = probe(endsAfterMs, ...how);
  expect([times(), probes.isProbing()]).toEqual([expected, false]);
  expect(promisedAt()).toBe(how[1] ? 2200 : Infinity);
});

test('while a probe is under way, another one goes after 15 s, and nothing is promised', () => {
  const { probes, times, reach, advance, promisedAt } = openSchedule();
  probes.begin(false);
  reach(1200);
  probes.start();
  probes.promise(epochMs + 2000);
  expect([times(), promisedAt(), probes.isProbing()]).toEqual([
    [16_200, 16_200, 16_200],
    Infinity,
    true,
  ]);
  advance(14_999);
  expect(probes.isProbing()).toBe(true);
  advance(1);
  expect([probes.isProbing(), times()]).toEqual([false, [16_200, 16_200, 16_200]]);
});

test('the end of a probe that another one, or another outage, has replaced changes nothing', () => {
  const { probes, times, reach } = openSchedule();
  probes.begin(false);
  reach(1200);
  const [first, second] = [probes.start(), probes.start()];
  first(true);
  expect(times()).toEqual([16_200, 16_200, 16_200]);
  probes.close();
  probes.begin(false);
  const before = times();
  reach(2000);
  second(true);
  expect(times()).toEqual(before);
});

describe('a last probe goes 3 s before the wait of a user ends', () => {
  test.each([
    ['8 s after the start of the last one, or later', 4000, 1000],
    ['not less than 8 s after it', 3999, 1200],
    ['not after the usual one', 5000, 1200],
  ])('%s', (_what, expiresAt, at) => {
    const { probes, nextAt } = openSchedule();
    probes.begin(false);
    // The outage counts as the start of a probe.
    probes.startedAt = epochMs - 4000;
    expect(nextAt(true, expiresAt)).toBe(at);
    expect(nextAt(false, expiresAt)).toBe(7500);
  });

  test.each([
    ['8 s after the start of the last one, or later', 9200, 6200],
    ['not less than 8 s after it', 9199, 16_200],
  ])('while a probe is under way: %s', (_what, expiresAt, at) => {
    const { probes, nextAt, reach } = openSchedule();
    probes.begin(false);
    reach(1200);
    probes.start();
    expect([nextAt(true, expiresAt), nextAt(false, expiresAt)]).toEqual([at, 16_200]);
  });

  test('and none where its outage began less than 8 s before', () => {
    const { probes, nextAt } = openSchedule();
    probes.begin(false);
    expect([nextAt(true, 4000), nextAt(true, 8000)]).toEqual([1200, 1200]);
  });
});

test('a probe goes no later than any time that was promised, and none is after it has gone, or up', () => {
  const { probes, times, promisedAt } = openSchedule();
  probes.begin(false);
  probes.promise(epochMs + 1000);
  probes.promise(epochMs + 1100);
  expect([times(), promisedAt()]).toEqual([[1000, 1000, 5000], 1000]);
  probes.start();
  expect(promisedAt()).toBe(Infinity);
  probes.begin(false);
  probes.promise(epochMs + 1000);
  probes.close();
  expect(promisedAt()).toBe(Infinity);
});

describe('news', () => {
  test.each<[string, boolean, number, number]>([
    ['of a user: at once, where the last probe began 1.2 s ago', false, 1200, 1200],
    ['of a user: 1.2 s after it, where not', false, 500, 1200],
    ['of the network: at once, whenever that was', true, 500, 500],
  ])('%s', (_what, isCertain, now, at) => {
    const { probes, times, reach } = openSchedule();
    probes.begin(false);
    reach(now);
    probes.hasten(isCertain);
    expect(times()).toEqual([at, at, at]);
  });

  test('of the network are followed once in 1.2 s, and count as the start of a probe for a user', () => {
    const { probes, times, reach, nextAt } = openSchedule();
    probes.begin(false);
    reach(10_000);
    probes.hasten(true);
    probes.start()(true);
    reach(10_300);
    probes.hasten(true);
    expect(times()).toEqual([11_200, 11_200, 11_200]);
    probes.hasten();
    expect(nextAt(true)).toBe(11_200);
    probes.start()(true);
    reach(10_400);
    probes.hasten();
    // From the last news, because the probe is older.
    expect(nextAt(true)).toBe(11_500);
  });

  test('of a user do not delay those of the network', () => {
    const { probes, times, reach } = openSchedule();
    probes.begin(false);
    reach(10_000);
    probes.hasten();
    probes.start()(true);
    reach(10_300);
    probes.hasten(true);
    expect(times()).toEqual([10_300, 10_300, 10_300]);
  });

  test('are followed while a probe is under way, which then says nothing of the next', () => {
    const { probes, times, reach } = openSchedule();
    probes.begin(false);
    reach(1200);
    const end = probes.start();
    reach(3000);
    probes.hasten();
    expect([times(), probes.isProbing()]).toEqual([[3000, 3000, 3000], false]);
    end(true);
    expect(times()).toEqual([3000, 3000, 3000]);
  });

  test('never delay what was promised, and are a promise themselves', () => {
    const { probes, times, reach, promisedAt } = openSchedule();
    probes.begin(false);
    probes.promise(epochMs + 700);
    reach(500);
    probes.hasten();
    expect([times(), promisedAt()]).toEqual([[700, 700, 700], 700]);
  });

  test('let the gaps begin anew', () => {
    const { probes, times, reach } = openSchedule();
    probes.begin(false);
    for (const at of [7500, 22_500, 45_000]) {
      reach(at);
      probes.start()(true);
    }
    probes.hasten();
    reach(46_200);
    probes.start()(true);
    expect(times()).toEqual([47_400, 53_700, 51_200]);
  });
});
