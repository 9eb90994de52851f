import { describe, expect, test } from 'vitest';
import { Pace } from '../../../src/core/policy/pace.ts';

const half = (): number => 0.5;

/** The pause that is told along does not matter here. */
const stateOf = (pace: Pace): readonly [gapMs: number, nextAt: number, isFound: boolean] => {
  const { gapMs, isFound } = pace.toMessage(0);
  return [gapMs, pace.nextAt, isFound];
};

test('none is kept to before a refusal', () => {
  const pace = new Pace(0);
  expect(stateOf(pace)).toEqual([0, 0, false]);
  expect([pace.isOver(0), pace.leastUntil(0)]).toEqual([true, -Infinity]);
});

describe('a refusal', () => {
  test('pauses a quarter of a second, is forgotten after a minute, and is followed by one request each quarter', () => {
    const pace = new Pace(0);
    expect(pace.refuse(1000, 900, 0)).toBe(250);
    expect(stateOf(pace)).toEqual([250, 0, false]);
    expect([pace.isOver(60_999), pace.isOver(61_000)]).toEqual([false, true]);
    pace.spend(1250, 1250, half);
    expect(pace.nextAt).toBe(1500);
    expect([pace.leastUntil(60_999), pace.leastUntil(61_000)]).toEqual([1500, -Infinity]);
  });

  test('with a Retry-After pauses as long as that says, and sets no gap', () => {
    const pace = new Pace(0);
    expect(pace.refuse(1000, 900, 3000)).toBe(3000);
    expect(stateOf(pace)).toEqual([0, 0, false]);
  });

  test('of what was sent before the last one is no new one: it sets a gap where there is none', () => {
    const pace = new Pace(0);
    pace.refuse(1000, 900, 3000);
    expect(pace.refuse(1100, 999, 9000)).toBe(0);
    expect(stateOf(pace)).toEqual([100, 0, false]);
    pace.refuse(90_000, 90_000, 0);
    expect(pace.refuse(90_100, 89_999, 0)).toBe(0);
    expect(pace.gapMs).toBe(250);
    expect(pace.refuse(90_200, 90_000, 0)).toBe(500);
  });

  test('after others measures the rate that the server has taken', () => {
    const pace = new Pace(0);
    pace.refuse(1000, 900, 0);
    pace.spend(1250, 1250, half);
    // A fifth faster with each, while the rate is not known.
    pace.accept(1300, 1250);
    expect(stateOf(pace)).toEqual([200, 1500, false]);
    pace.spend(1500, 1500, () => 0);
    expect(pace.nextAt).toBe(1650);
    pace.accept(1600, 1500);
    expect(pace.gapMs).toBe(160);
    // Two in 700 ms, at most twice the gap that was kept to.
    expect(pace.refuse(1700, 1690, 0)).toBe(320);
    expect(stateOf(pace)).toEqual([320, 1650, true]);
    // A late answer belongs to that round: three. One of the round before does not.
    pace.accept(1710, 1650);
    expect(pace.gapMs).toBe(700 / 3);
    pace.accept(1720, 999);
    expect(pace.gapMs).toBe(700 / 3);
    pace.accept(1720, 1000);
    expect(pace.gapMs).toBe(175);
    // One percent faster with each from here on.
    pace.accept(1900, 1700);
    expect(pace.gapMs).toBe(175);
    pace.accept(2100, 2020);
    expect(pace.gapMs).toBe(0.99 * 175);
  });

  test('measures no time in which nothing waited', () => {
    const pace = new Pace(0);
    pace.refuse(1000, 1000, 0);
    // 10 s after it was due.
    pace.spend(11_250, 1250, half);
    expect(pace.nextAt).toBe(11_500);
    pace.accept(11_250, 11_250);
    pace.accept(11_250, 11_250);
    expect(pace.refuse(11_300, 11_300, 0)).toBe(150);
  });

  test('a minute after the last one is the first again', () => {
    const pace = new Pace(0);
    pace.refuse(1000, 1000, 0);
    expect(pace.refuse(60_999, 60_999, 0)).toBe(500);
    expect(pace.refuse(120_999, 120_999, 0)).toBe(250);
  });

  test('measures from the last one on', () => {
    const pace = new Pace(0);
    pace.refuse(1000, 1000, 0);
    for (let index = 0; index < 2; index++) pace.accept(1010, 1000);
    expect(pace.refuse(1300, 1300, 0)).toBe(150);
    for (let index = 0; index < 4; index++) pace.accept(1310, 1300);
    expect(pace.refuse(1700, 1700, 0)).toBe(100);
  });

  test('after refusals alone pauses twice as long each time, three seconds the fifth time, 15 s at most', () => {
    const pace = new Pace(0);
    const pauses = Array.from({ length: 8 }, (_, index) => pace.refuse(1000 + index, 2000, 0));
    expect(pauses).toEqual([250, 500, 1000, 2000, 3000, 6000, 12_000, 15_000]);
    expect(pace.refuse(2000, 3000, 20_000)).toBe(20_000);
  });
});

describe('a request', () => {
  test('that is late by less than the gap does not make the next one late', () => {
    const pace = new Pace(0);
    pace.spread(70_000, 90);
    pace.spend(70_089, 70_000, () => 1);
    expect(pace.nextAt).toBe(70_113);
    pace.spend(70_090, 70_000, half);
    expect(pace.nextAt).toBe(70_180);
  });

  test('a minute later has no gap', () => {
    const pace = new Pace(0);
    pace.spread(70_000, 90);
    pace.spend(130_000, 130_000, half);
    expect(stateOf(pace)).toEqual([0, 130_000, true]);
  });

  test('that is accepted before the end of a pause says nothing, and a gap of less than 5 ms is none', () => {
    const pace = new Pace(0);
    pace.refuse(1000, 1000, 0);
    pace.accept(1249, 1000);
    expect(pace.gapMs).toBe(250);
    pace.accept(1250, 1000);
    expect(pace.gapMs).toBe(200);
    // No faster than twice what was taken since: 3 in 1000 ms.
    pace.accept(2250, 1000);
    expect(pace.gapMs).toBe(1000 / 6);
    for (let index = 0; index < 15; index++) pace.accept(1250, 1250);
    expect(pace.gapMs).toBeGreaterThan(5);
    pace.accept(1250, 1250);
    expect(pace.gapMs).toBe(0);
  });
});

describe('what waits for the end of a pause', () => {
  test('is spread, but by no other gap than one that is known', () => {
    const pace = new Pace(0);
    pace.spread(4000, 40);
    expect(stateOf(pace)).toEqual([40, 0, true]);
    pace.spread(63_999, 400);
    expect(pace.gapMs).toBe(40);
    pace.spread(64_000, 400);
    expect(pace.gapMs).toBe(400);
  });

  test('is spread after a Retry-After as well', () => {
    const pace = new Pace(0);
    pace.refuse(1000, 1000, 3000);
    pace.spread(4000, 40);
    expect(stateOf(pace)).toEqual([40, 0, true]);
  });

  test('is spread by 5 ms at least', () => {
    const pace = new Pace(0);
    pace.spread(4000, 5);
    pace.accept(4100, 4050);
    expect(pace.gapMs).toBe(5);
  });

  test('goes at once where the server reports what is left', () => {
    const pace = new Pace(0);
    pace.spread(4000, 40);
    pace.release();
    expect(stateOf(pace)).toEqual([0, 0, false]);
  });
});

describe('another tab', () => {
  test('that sends has its turn first', () => {
    const pace = new Pace(0);
    pace.receive(1000, { gapMs: 200, pauseMs: 0, isFound: true }, half);
    expect(stateOf(pace)).toEqual([200, 1500, true]);
    expect(pace.leastUntil(1001)).toBe(-Infinity);
    pace.receive(3000, { gapMs: 0, pauseMs: 0, isFound: false }, half);
    expect(stateOf(pace)).toEqual([200, 3500, true]);
  });

  test('that sends was accepted: the pace grows as with an answer of this one', () => {
    const pace = new Pace(0);
    pace.receive(100, { gapMs: 200, pauseMs: 0, isFound: true }, half);
    expect(pace.gapMs).toBe(198);
  });

  test('that is refused pauses this one, too', () => {
    const pace = new Pace(0);
    pace.receive(2000, { gapMs: 0, pauseMs: 3000, isFound: true }, half);
    expect(stateOf(pace)).toEqual([0, 0, false]);
    pace.receive(2000, { gapMs: 200, pauseMs: 3000, isFound: true }, half);
    expect(stateOf(pace)).toEqual([200, 5625, true]);
    expect(pace.leastUntil(2001)).toBe(5625);
    for (let index = 0; index < 20; index++) pace.accept(4999, 2000);
    expect(pace.gapMs).toBe(200);
    expect(pace.refuse(2500, 1999, 0)).toBe(0);
    // Twenty were taken in 500 ms.
    expect(pace.refuse(2500, 2400, 0)).toBe(25);
  });

  test('without a pace of its own changes none', () => {
    const pace = new Pace(0);
    pace.receive(2000, { gapMs: 0, pauseMs: 0, isFound: true }, half);
    expect(stateOf(pace)).toEqual([0, 0, false]);
  });

  test('goes first for so long as there may be others, and never for more than 30 s', () => {
    const pace = new Pace(0);
    pace.yield(1000, 0, () => 0);
    expect(stateOf(pace)).toEqual([100, 1100, false]);
    pace.yield(1000, 500, () => 1);
    expect(stateOf(pace)).toEqual([100, 2500, false]);
    pace.receive(4000, { gapMs: 40_000, pauseMs: 0, isFound: false }, half);
    expect(pace.nextAt).toBe(30_000);
    pace.spend(50_000, 50_000, half);
    pace.receive(51_000, { gapMs: 40_000, pauseMs: 0, isFound: false }, half);
    expect(pace.nextAt).toBe(80_000);
  });
});
