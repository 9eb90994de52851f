import { describe, expect, test } from 'vitest';
import { SlowStart } from '../../../src/core/origin/slow-start.ts';
import { WaitQueue } from '../../../src/core/origin/wait-queue.ts';
import { createVirtualClock, epochMs } from './virtual-clock.ts';

/** So many that wait for an endpoint, for so long. */
function queueOf(count: number, maxPauseMs = Infinity, endpoint = 'a', queue = new WaitQueue()) {
  for (let id = 0; id < count; id++)
    queue.add(
      {
        endpoint,
        resource: endpoint,
        limitScope: endpoint,
        isNew: true,
        risk: 0,
        priority: 'user-visible',
        isForeground: () => true,
        isFailFast: false,
        id,
        askedAt: epochMs,
        maxPauseMs,
      },
      { expiresAt: epochMs + maxPauseMs, endsFrom: 0, hasFailed: false, isOther: true },
      { onPause() {}, take() {} },
    );
  return queue;
}

function openSlowStart(share = 0.5) {
  const clock = createVirtualClock();
  const slowStart = new SlowStart(clock, () => share);
  const nextAt = (endpoint = 'a'): number => slowStart.nextAt(endpoint) - epochMs;
  return {
    clock,
    slowStart,
    nextAt,
    recover: (downMs: number, queue: WaitQueue, firstMs = 0, scope = 'a') =>
      slowStart.recover({ scope, downMs }, queue.groups(), firstMs),
    /** Sends the next one at its time. @returns how long that was after the last one. */
    send(): number {
      const gapMs = Math.round(10 * (nextAt() - clock.elapsed())) / 10;
      clock.advance(nextAt() - clock.elapsed());
      slowStart.advance('a');
      return gapMs;
    },
  };
}

/** The gaps with fast answers, and those with very slow ones, in milliseconds. */
const gaps: [outage: string, downMs: number, count: number, fastMs: number, slowMs: number][] = [
  ['a short one', 1000, 10, 100, 1000 / 9],
  ['one of 4 s', 4000, 10, 100, 1000 / 9],
  ['one of 11 s', 11_000, 20, 220, 8000 / 19],
  ['one of 20 s', 20_000, 100, 80, 80_000 / 99],
  ['one of 30 s', 30_000, 100, 120, 90_000 / 99],
  ['a long one', 300_000, 100, 120, 90_000 / 99],
  ['one that few wait for', 60_000, 2, 400, 12_000],
];

describe('after an outage', () => {
  test.each(gaps)(
    'that was %s, %d ms long, %d go with gaps that are planned for',
    (_what, downMs, count, fastMs, slowMs) => {
      const { slowStart, recover, send } = openSlowStart();
      recover(downMs, queueOf(count));
      expect(send()).toBe(0);
      slowStart.finish();
      expect(send()).toBe(fastMs);
      slowStart.finish();

      const other = openSlowStart();
      other.recover(downMs, queueOf(count));
      other.send();
      other.slowStart.observe(false, 100_000);
      expect(other.send()).toBe(Math.round(10 * slowMs) / 10);
    },
  );

  test('all have gone when its bound is over, however slow the answers are', () => {
    const { slowStart, recover, send, clock } = openSlowStart();
    recover(11_000, queueOf(4));
    slowStart.observe(false, 100_000);
    const sent = [1, 2, 3, 4, 5, 6].map(() => {
      send();
      return Math.round(clock.elapsed());
    });
    expect(sent).toEqual([0, 2667, 5333, 8000, 8000, 8000]);
  });

  test('all go before the first of them expires', () => {
    const { recover, send } = openSlowStart();
    recover(60_000, queueOf(5, 500, 'a', queueOf(5, 2000, 'b')), 0, '');
    send();
    expect(send()).toBe(50);
  });

  test('the first goes when it is told to, and has as much longer for it', () => {
    const { slowStart, recover, send, nextAt } = openSlowStart();
    recover(11_000, queueOf(3), 1500);
    expect(nextAt()).toBe(1500);
    send();
    slowStart.observe(false, 100_000);
    expect(send()).toBe(4000);
  });

  test('that nobody waits for nothing is slow, nor where another endpoint is waited for', () => {
    const { slowStart, recover, nextAt } = openSlowStart();
    recover(60_000, queueOf(3));
    recover(60_000, queueOf(3, Infinity, 'b'));
    expect([slowStart.isUnderWay(), nextAt()]).toEqual([false, -Infinity]);
  });

  test('the length counts from when the device was online', () => {
    const { slowStart, recover, send, clock } = openSlowStart();
    clock.advance(60_000);
    slowStart.countFromNow();
    clock.advance(3000);
    recover(60_000, queueOf(10));
    send();
    expect(send()).toBe(100);
    // And where it was shorter than that, it was.
    clock.advance(100_000);
    recover(11_000, queueOf(20));
    send();
    expect(send()).toBe(220);
  });

  test('each gap is drawn, from half of it to half as much again', () => {
    const gapOf = (share: number): number => {
      const { recover, send } = openSlowStart(share);
      recover(1000, queueOf(10));
      send();
      return send();
    };
    expect([gapOf(0), gapOf(0.5), gapOf(0.9)]).toEqual([50, 100, 140]);
  });
});

describe('it is under way', () => {
  test.each([
    ['a', [true, true, false]],
    ['', [true, true, true]],
  ])('of %j: at all, for a, for b', (scope, expected) => {
    const { slowStart, recover, nextAt } = openSlowStart();
    recover(60_000, queueOf(3), 0, scope);
    const isUnderWay = (): boolean[] =>
      [undefined, 'a', 'b'].map((one) => slowStart.isUnderWay(one));
    expect(isUnderWay()).toEqual(expected);
    expect(nextAt('b')).toBe(scope === '' ? 0 : -Infinity);
    expect(slowStart.advance('b')).toBe(scope === '');
    slowStart.stop();
    expect(isUnderWay()).toEqual([false, false, false]);
    expect([slowStart.advance('a'), nextAt()]).toEqual([false, -Infinity]);
  });

  test('not before the first outage', () => {
    const { slowStart } = openSlowStart();
    expect([slowStart.isUnderWay(), slowStart.isUnderWay('a')]).toEqual([false, false]);
  });
});

describe('the gap', () => {
  const begin = () => {
    const opened = openSlowStart();
    opened.recover(60_000, queueOf(100));
    opened.send();
    return opened;
  };

  test('doubles with each that has no answer after 300 ms', () => {
    const { slowStart, send } = begin();
    expect([send(), send(), send()]).toEqual([120, 120, 240]);
    slowStart.finish();
    expect([send(), send()]).toEqual([240, 480]);
  });

  test('counts an answer once, also one that is known before', () => {
    const { slowStart, send } = begin();
    for (let times = 0; times < 5; times++) slowStart.finish();
    expect([send(), send(), send(), send()]).toEqual([120, 120, 120, 240]);
  });

  test('is at most 12 s, also between those that have no answer', () => {
    const { recover, send, slowStart } = openSlowStart();
    recover(60_000, queueOf(4));
    slowStart.observe(false, 1000);
    expect([send(), send(), send()]).toEqual([0, 12_000, 12_000]);
  });

  test('is seven tenths after a fast answer, and no less than a quarter of what was planned', () => {
    const { slowStart, send } = begin();
    const observed = Array.from({ length: 6 }, () => {
      slowStart.finish();
      slowStart.observe(true, 50);
      return send();
    });
    expect(observed).toEqual([84, 58.8, 41.2, 30, 30, 30]);
  });

  test('is ten times as long as a slow answer takes, and never shorter for that', () => {
    const { slowStart, send } = begin();
    const observe = (latencyMs: number): number => {
      slowStart.finish();
      slowStart.observe(false, latencyMs);
      return send();
    };
    expect([observe(10), observe(50), observe(20)]).toEqual([120, 500, 500]);
  });

  test('is no longer for a timer that is late, by a tenth of a second', () => {
    const lateBy = (ms: number): number => {
      const { slowStart, send, clock, nextAt } = begin();
      slowStart.finish();
      clock.advance(nextAt() - clock.elapsed() + ms);
      slowStart.advance('a');
      slowStart.finish();
      return send();
    };
    expect([lateBy(0), lateBy(100), lateBy(150)]).toEqual([120, 20, 20]);
  });

  test('begins anew with the next outage', () => {
    const { recover, send } = begin();
    send();
    send();
    recover(60_000, queueOf(100));
    expect([send(), send(), send(), send()]).toEqual([0, 120, 120, 240]);
  });
});
