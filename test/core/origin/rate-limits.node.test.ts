import { describe, expect, test } from 'vitest';
import { RateLimits } from '../../../src/core/origin/limits/rate-limits.ts';
import type { TabMessage } from '../../../src/core/tabs/leader.ts';
import { createVirtualClock, epochMs } from './virtual-clock.ts';

/** The limits of a tab, in milliseconds since the beginning. The draws of chance come in turn, the last one for ever. */
function openLimits(...draws: readonly number[]) {
  const clock = createVirtualClock();
  const left = [...draws];
  const random = (): number => (left.length > 1 ? left.shift() : left[0]) ?? 0.5;
  const messages: TabMessage[] = [];
  const limits = new RateLimits(clock, random, (message) => void messages.push(message));
  const since = (at: number | undefined): number | undefined => at && at - epochMs;
  return {
    clock,
    limits,
    messages,
    reach: (at: number) => clock.advance(at - clock.elapsed()),
    until: (scope = 'a') => since(limits.until({ limitScope: scope })),
    leastUntil: (scope = 'a') => since(limits.leastUntil({ limitScope: scope })),
    pausedUntil: (...scopes: string[]) =>
      since(limits.pausedUntil(scopes.length > 0 ? scopes : undefined)),
    /** Sends a request. `waiting`: how many more wait for each scope. */
    spend: (scope = 'a', waiting = 0) => limits.spend(scope, () => waiting),
    refuse: (scope = 'a', retryAfterMs?: number, cause?: unknown) =>
      limits.refuse(scope, clock.now(), retryAfterMs, cause),
  };
}

test('of what is not known nothing waits, and nothing is said', () => {
  const { limits, messages, until, leastUntil, pausedUntil, spend } = openLimits();
  spend();
  limits.accept('a', epochMs);
  expect([until(), leastUntil(), pausedUntil(), pausedUntil('a'), messages]).toEqual([
    -Infinity,
    -Infinity,
    undefined,
    undefined,
    [],
  ]);
  expect([limits.causeOf('a'), limits.behindFrom('a'), limits.known.size]).toEqual([
    undefined,
    -Infinity,
    0,
  ]);
});

describe('a pause', () => {
  test.each([
    ['is up to a tenth longer, by chance', 1000, 0, 1000],
    ['', 1000, 0.5, 1050],
    ['', 1000, 0.9, 1090],
    ['is up to 30 s longer', 3_600_000, 0.5, 3_615_000],
  ])('%s: %d ms by a draw of %d', (_what, ms, draw, end) => {
    const { limits, messages, until, leastUntil, pausedUntil, reach } = openLimits(draw);
    limits.pause('a', ms);
    expect([until(), leastUntil(), pausedUntil()]).toEqual([end, ms, end]);
    expect(messages).toEqual([{ kind: 'limit', scope: 'a', forMs: ms, remaining: 0 }]);
    reach(ms);
    expect(leastUntil()).toBe(-Infinity);
    reach(end);
    expect([until(), pausedUntil()]).toEqual([-Infinity, undefined]);
  });

  test('is not shortened by another one', () => {
    const { limits, until, leastUntil } = openLimits();
    limits.pause('a', 1000);
    limits.pause('a', 500);
    expect([until(), leastUntil()]).toEqual([1050, 1000]);
  });

  test('has the chance of those that it overlaps, so that the order stays', () => {
    const { limits, until, reach } = openLimits(0, 0.5, 0.9);
    limits.pause('a', 1000);
    reach(999);
    limits.pause('b', 1000);
    limits.allow('c', 1, 0, 4000);
    expect(until('b')).toBe(1999);
    // The window of c holds on.
    reach(4998);
    limits.pause('d', 1000);
    expect(until('d')).toBe(5998);
    reach(5998);
    limits.pause('e', 1000);
    expect(until('e')).toBe(7048);
  });

  test('is over when what was sent in it is accepted, and not by what was sent before', () => {
    const { clock, limits, until, leastUntil, reach } = openLimits();
    limits.pause('a', 1000);
    limits.accept('a', clock.now());
    expect([until(), leastUntil()]).toEqual([1050, 1000]);
    reach(1);
    limits.accept('a', clock.now());
    expect([until(), leastUntil()]).toEqual([-Infinity, -Infinity]);
  });

  test('is shown for the scope of those which ends first', () => {
    const { limits, pausedUntil, reach } = openLimits();
    limits.pause('a', 2000);
    limits.pause('b', 1000);
    limits.allow('c', 1, 0, 100);
    expect([pausedUntil(), pausedUntil('a', 'c', 'd'), pausedUntil('c', 'd')]).toEqual([
      1050,
      2100,
      undefined,
    ]);
    reach(1050);
    expect([pausedUntil(), pausedUntil('b')]).toEqual([2100, undefined]);
  });

  test('has the latest failure that has led to it as its cause', () => {
    const { limits, refuse } = openLimits();
    limits.pause('a', 1000, 'first');
    limits.pause('a', 1000);
    expect(limits.causeOf('a')).toBe('first');
    refuse('a', undefined, 'second');
    expect(limits.causeOf('a')).toBe('second');
  });
});

describe('a limit that is over is dropped with the next one', () => {
  test.each<[string, (rig: ReturnType<typeof openLimits>) => void, number]>([
    ['a second after its pause', ({ limits }) => limits.pause('a', 1000), 2050],
    ['with its window', ({ limits }) => limits.allow('a', 5, 0, 3000), 3000],
    ['a minute after a refusal', ({ refuse }) => refuse(), 60_000],
    [
      '28 s after another tab has told of it',
      ({ limits }) => limits.receive({ kind: 'limit', scope: 'a', forMs: 1000, remaining: 5 }),
      28_000,
    ],
  ])('%s', (_what, begin, end) => {
    const rig = openLimits();
    begin(rig);
    const { limits, reach } = rig;
    reach(end - 1);
    limits.pause('b', 10);
    expect([...limits.known.keys()]).toEqual(['a', 'b']);
    reach(end);
    limits.pause('c', 10);
    expect([...limits.known.keys()]).toEqual(['b', 'c']);
  });

  test('also with a refusal', () => {
    const { limits, refuse, reach } = openLimits();
    for (const scope of ['a', 'b']) limits.pause(scope, 10);
    reach(5000);
    refuse('b');
    expect([...limits.known.keys()]).toEqual(['b']);
  });
});

describe('a window', () => {
  /** How many go before the next one waits. */
  const left = ({ until, spend }: ReturnType<typeof openLimits>): number => {
    let count = 0;
    for (; until() === -Infinity && count < 100; count++) spend();
    return count;
  };

  test('lets as many go as it says, less those under way, and then none before its end', () => {
    const rig = openLimits();
    rig.limits.allow('a', 5, 2, 1000);
    expect([left(rig), rig.until(), rig.leastUntil()]).toEqual([3, 1050, 1000]);
    rig.reach(1050);
    expect(left(rig)).toBe(100);
  });

  test('that is over is not told of', () => {
    const { limits, messages, spend, reach } = openLimits();
    limits.allow('a', 5, 0, 1000);
    limits.pause('b', 10);
    messages.length = 0;
    reach(1000);
    for (const scope of ['a', 'b']) spend(scope);
    expect(messages).toEqual([]);
  });

  test('of which nothing is left lets none go', () => {
    const { limits, until } = openLimits();
    limits.allow('a', 2, 2, 1000);
    expect(until()).toBe(1050);
  });

  test.each([
    ['in it, a smaller number counts', 500, 2, 500, 2],
    ['in it, a greater one does not', 500, 9, 500, 5],
    ['nor where it ends a second later', 500, 9, 1500, 5],
    ['later than that, it is another one', 500, 9, 1501, 9],
    ['after its end, it is another one', 1000, 9, 1000, 9],
  ])('%s', (_what, at, remaining, resetInMs, expected) => {
    const rig = openLimits();
    rig.limits.allow('a', 5, 0, 1000);
    rig.reach(at);
    rig.limits.allow('a', remaining, 0, resetInMs);
    expect(left(rig)).toBe(expected);
  });

  test('is told to the others, and so is each request in it', () => {
    const { limits, messages, spend } = openLimits();
    limits.allow('a', 5, 2, 1000);
    spend();
    expect(messages).toEqual([
      { kind: 'limit', scope: 'a', forMs: 1000, remaining: 5 },
      { kind: 'pace', scope: 'a', isUntold: false, gapMs: 0, pauseMs: 0, isFound: false },
    ]);
  });

  test.each([
    ['more are left than are under way', 3, -Infinity],
    ['no more are', 2, 250],
  ])('ends a pace where %s', (_what, remaining, until) => {
    const rig = openLimits();
    rig.refuse();
    rig.reach(263);
    rig.limits.allow('a', remaining, 2, 0);
    rig.spend();
    expect(rig.until()).toBe(until === -Infinity ? until : 263 + until);
  });
});

describe('of those that wait for the end of a pause', () => {
  const gapOf = (waiting: number): number => {
    const { limits, until, spend, reach } = openLimits();
    limits.pause('a', 1000);
    reach(1050);
    spend('a', waiting);
    return Math.max(0, (until() ?? NaN) - 1050);
  };

  test('each goes with a gap that has them all go within a second, from 20 to 400 ms', () => {
    expect([0, 1, 2, 4, 30, 49, 1000].map(gapOf)).toEqual([0, 400, 333, 200, 32, 20, 20]);
  });

  test('those of all scopes count that share its limit', () => {
    const { limits, refuse, reach, until } = openLimits();
    for (const scope of ['a', 'b', 'c']) refuse(scope);
    reach(250);
    // After so many answers there is no gap any more.
    for (let answers = 0; answers < 13; answers++) limits.accept('a', epochMs);
    limits.pause('d', 10);
    reach(263);
    const asked: string[] = [];
    limits.spend('a', (scope) => {
      asked.push(scope);
      return 1;
    });
    expect([asked, until('b')]).toEqual([['a', 'b', 'c'], 513]);
  });

  test('only the first one spreads the others, and none where there was no pause', () => {
    const { limits, until, spend, reach } = openLimits();
    limits.pause('a', 1000);
    reach(1050);
    spend('a', 0);
    spend('a', 3);
    expect(until()).toBe(-Infinity);
    limits.allow('b', 5, 0, 1000);
    spend('b', 3);
    expect(until('b')).toBe(-Infinity);
  });

  test('one whose timer is late does not delay the next', () => {
    const { limits, until, spend, reach } = openLimits();
    limits.pause('a', 1000);
    reach(1150);
    spend('a', 4);
    expect(until()).toBe(1250);
  });
});

describe('a refusal', () => {
  const pace = (own: object) => ({
    kind: 'pace',
    scope: 'a',
    isUntold: true,
    gapMs: 250,
    pauseMs: 250,
    isFound: false,
    ...own,
  });

  test('without a time is waited for by a pace, and told to the others', () => {
    const { refuse, until, leastUntil, messages } = openLimits();
    refuse();
    expect([until(), leastUntil(), messages]).toEqual([263, 250, [pace({})]]);
  });

  test('has each request that follows told to the others', () => {
    const { refuse, messages, spend, reach } = openLimits();
    refuse();
    reach(263);
    messages.length = 0;
    spend();
    expect(messages).toEqual([pace({ isUntold: false, pauseMs: 0 })]);
  });

  test('is behind others for ten answers to those that share its limit, and not to others', () => {
    const { limits, refuse } = openLimits();
    for (const scope of ['a', 'b', 'c']) refuse(scope);
    limits.pause('own', 10);
    for (let count = 0; count < 10; count++) limits.accept('own', epochMs);
    expect(limits.behindFrom('a')).toBe(epochMs);
    for (let count = 0; count < 9; count++) limits.accept('b', epochMs);
    expect([limits.behindFrom('a'), limits.behindFrom('b')]).toEqual([epochMs, -Infinity]);
    limits.accept('b', epochMs);
    expect(limits.behindFrom('a')).toBe(-Infinity);
  });

  test('with a time is waited for so long', () => {
    const { refuse, until, messages } = openLimits();
    refuse('a', 1000);
    expect([until(), messages]).toEqual([
      1050,
      [pace({ isUntold: false, gapMs: 0, pauseMs: 1000 })],
    ]);
  });

  test('in a window that is used up is waited for until its end', () => {
    const { limits, refuse, until, messages, reach } = openLimits();
    limits.allow('a', 0, 0, 1000);
    reach(1);
    messages.length = 0;
    refuse();
    expect([until(), messages]).toEqual([1050, [pace({ gapMs: 0, pauseMs: 999 })]]);
  });

  test('after that end, or where something is left, is waited for by a pace', () => {
    const { limits, refuse, until, reach } = openLimits();
    limits.allow('a', 0, 0, 1000);
    reach(1100);
    refuse();
    expect(until()).toBe(1363);
    const other = openLimits();
    other.limits.allow('a', 1, 0, 1000);
    other.refuse();
    expect(other.until()).toBe(263);
  });

  test('of what was sent before the last one adds nothing, and is not told', () => {
    const { limits, clock, refuse, until, messages, reach } = openLimits();
    refuse();
    reach(10);
    limits.refuse('a', clock.now() - 11, undefined);
    expect([until(), messages.length]).toEqual([263, 1]);
    reach(263);
    limits.refuse('a', epochMs - 1, undefined);
    expect([until(), messages.length]).toEqual([-Infinity, 1]);
  });

  test('of a scope that shares a limit adds nothing either where it was sent before', () => {
    const { limits, refuse, reach, messages } = openLimits();
    for (const scope of ['a', 'b', 'c']) refuse(scope);
    reach(263);
    messages.length = 0;
    limits.refuse('a', epochMs - 1, undefined);
    expect(messages).toEqual([]);
  });

  test('of one of two is its own', () => {
    const { refuse, messages } = openLimits();
    for (const scope of ['a', 'b']) refuse(scope);
    expect(messages).toEqual([pace({}), pace({ scope: 'b' })]);
  });

  test('with a time is no sign that others share its limit', () => {
    const { limits, refuse } = openLimits();
    for (const scope of ['a', 'b']) refuse(scope);
    refuse('a', 100);
    refuse('c');
    expect(new Set(limits.known.values()).size).toBe(3);
  });

  test('of a scope that has a limit of its own since it shared one is waited for longer each time', () => {
    const { limits, clock, refuse, reach, until, messages } = openLimits();
    for (const scope of ['a', 'b', 'c']) refuse(scope);
    for (const at of [10_000, 20_000]) {
      reach(at);
      for (let count = 0; count < 10; count++) limits.accept('b', clock.now());
      refuse('a');
    }
    expect(limits.known.get('a')).not.toBe(limits.known.get('b'));
    const waits = [30_000, 31_000, 32_000].map((at) => {
      reach(at);
      refuse('a');
      return (until() ?? NaN) - at;
    });
    expect(waits).toEqual([525, 1050, 2100]);
    reach(40_000);
    messages.length = 0;
    limits.refuse('a', epochMs + 30_000, undefined);
    expect(messages).toEqual([]);
  });

  test('of one more scope of a limit that is shared is told with what is left of its pause', () => {
    const { limits, refuse, messages, reach } = openLimits();
    for (const scope of ['a', 'b', 'c']) refuse(scope);
    reach(63);
    messages.length = 0;
    limits.refuse('d', epochMs - 1, undefined);
    expect(messages).toEqual([
      {
        kind: 'pace',
        scope: 'd',
        isUntold: true,
        gapMs: 83.333_333_333_333_33,
        pauseMs: 200,
        isFound: false,
      },
    ]);
  });
});

describe('what another tab tells', () => {
  const limit = { kind: 'limit', scope: 'a', forMs: 1000, remaining: 0 } as const;
  const pace = {
    kind: 'pace',
    scope: 'a',
    gapMs: 200,
    pauseMs: 0,
    isFound: true,
    isUntold: false,
  } as const;

  test('of a limit is kept to, behind that tab, and not told on', () => {
    const { limits, until, leastUntil, messages } = openLimits();
    limits.receive(limit);
    expect([until(), leastUntil(), messages]).toEqual([1625, 1000, []]);
  });

  test('of a window lets as many go', () => {
    const { limits, until, spend } = openLimits();
    limits.receive({ ...limit, remaining: 2 });
    spend();
    expect(until()).toBe(-Infinity);
    spend();
    expect(until()).toBe(1050);
  });

  test('is believed for 14 s, and after 28 s again', () => {
    const { limits, until, reach } = openLimits();
    const tell = (at: number, forMs: number): number | undefined => {
      reach(at);
      limits.receive({ ...limit, forMs });
      return until();
    };
    expect(tell(0, 10_000)).toBe(10_625);
    expect(tell(9000, 60_000)).toBe(14_625);
    expect([tell(16_000, 60_000), tell(27_999, 60_000)]).toEqual([-Infinity, -Infinity]);
    expect(tell(28_000, 60_000)).toBe(42_700);
  });

  test('of a request counts in the window, and delays the next of this tab', () => {
    const { limits, until, spend } = openLimits();
    limits.allow('a', 2, 0, 1000);
    limits.receive({ ...pace, gapMs: 0 });
    expect(until()).toBe(-Infinity);
    spend();
    expect(until()).toBe(1050);
    limits.receive({ ...pace, scope: 'b' });
    expect(until('b')).toBe(500);
  });

  test('of a refusal is waited for', () => {
    const { limits, until, pausedUntil } = openLimits();
    limits.receive({ ...pace, pauseMs: 1000 });
    expect([until(), pausedUntil('a')]).toEqual([1625, 1050]);
    limits.receive({ ...pace, scope: 'b', pauseMs: 60_000 });
    expect([until('b'), pausedUntil('b')]).toEqual([30_000, 14_700]);
  });

  test('of refusals gives no scope a limit of its own, however many there are', () => {
    const { limits, reach } = openLimits();
    const refused = { ...pace, pauseMs: 250, isUntold: true };
    for (const scope of ['a', 'b', 'c']) limits.receive({ ...refused, scope });
    for (const at of [15_000, 30_000, 45_000]) {
      reach(at);
      for (let count = 0; count < 10; count++) limits.accept('b', epochMs + at);
      limits.receive(refused);
      expect(limits.known.get('a')).toBe(limits.known.get('b'));
    }
  });

  test.each([
    [true, 3],
    [false, 1],
  ])('of refusals without a time (%s) has them share a limit', (isUntold, shared) => {
    const { limits } = openLimits();
    for (const scope of ['a', 'b', 'c']) limits.receive({ ...pace, scope, pauseMs: 250, isUntold });
    const known = [...limits.known.values()];
    expect(known.filter((one) => one === known.at(-1))).toHaveLength(shared);
  });
});
