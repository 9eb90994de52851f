import { describe, expect, test, vi } from 'vitest';
import type { RateLimitState } from '../../src/policy/rate-limit.ts';
import {
  aborted,
  answered,
  broken,
  firstMs,
  firstTimedMs,
  freshMs,
  nextMs,
  nextTimedMs,
  ok,
  openGate,
  type OpenGate,
  timedOut,
} from './open-gate.ts';
import { catchUnhandled, toldByNow } from './unhandled.ts';
import { epochMs } from './virtual-clock.ts';

describe('while all is well', () => {
  test('everything goes at once, and no timer is set', () => {
    const { gate, clock } = openGate();
    for (let request = 0; request < 100; request++) expect(gate.tryEnter(true)).toBe(true);
    expect(clock.pending()).toBe(0);
    expect(gate.getState()).toEqual({ status: 'up', retryAt: undefined, waiting: 0 });
  });

  test('only outages trip it: not a 4xx, not an abort, and not what was never sent', () => {
    const { gate, send } = openGate();
    for (let request = 0; request < 50; request++) {
      send('a', answered);
      send('b', aborted);
    }
    expect(gate.getState().status).toBe('up');
  });

  test('a success puts something back into the budget, and another answer does not', () => {
    const { gate, send } = openGate({ budget: { maxTokens: 5, tokensPerSuccess: 1 } });
    gate.budget.spend();
    gate.budget.spend();
    send('a', answered);
    expect(gate.budget.getState()).toBe(3);
    send('a', ok);
    expect(gate.budget.getState()).toBe(4);
  });

  test('without a budget or a circuit nothing is refused or held', () => {
    const { gate, send } = openGate({ budget: false, circuit: false });
    for (let request = 0; request < 100; request++) {
      expect(gate.budget.spend()).toBe(true);
      send('a', timedOut);
    }
    expect(gate.isOpen()).toBe(true);
  });

  test('a broken endpoint does not trip it while the others succeed', () => {
    const { gate, send } = openGate();
    for (let round = 0; round < 100; round++) {
      send('broken', broken);
      send('whole', ok);
    }
    expect(gate.getState().status).toBe('up');
  });

  test('a ratio over a window trips it where that was asked for', () => {
    const { gate, send } = openGate({
      circuit: { failureRatio: 0.5, samplingDurationMs: 10_000, minimumCalls: 4 },
    });
    for (let request = 0; request < 3; request++) send('a', broken);
    expect(gate.getState().status).toBe('up');
    send('a', broken);
    expect(gate.getState().status).toBe('down');
  });
});

describe('while its origin is down', () => {
  test('the second failure closes the door, and its error is kept', () => {
    const { gate, trip } = openGate();
    trip();
    expect(gate.tryEnter(true)).toBe(false);
    expect(gate.lastFailure()).toBe('second');
    expect(gate.getState()).toEqual({
      status: 'down',
      retryAt: epochMs + firstTimedMs,
      waiting: 0,
    });
    expect(gate.whyHeld()).toEqual({ reason: 'server-down', retryAt: epochMs + firstTimedMs });
  });

  test('what waits is told why and until when, and again when the canary is out', () => {
    const { clock, ask, trip } = openGate();
    trip();
    const a = ask('a');
    const b = ask('b');
    expect(a.holds).toEqual([['server-down', firstMs]]);
    clock.advance(firstMs);
    expect(b.turns).toEqual([['canary', firstMs]]);
    expect(a.holds).toEqual([
      ['server-down', firstMs],
      ['server-down', undefined],
    ]);
  });

  test.each([
    ['user-visible', firstTimedMs],
    ['user-blocking', firstMs],
  ] as const)(
    'a retry that is %s goes as the canary %d ms after the trip',
    (priority, canaryMs) => {
      const { clock, ask, trip, log } = openGate();
      trip();
      ask('order', { isNew: false, priority });
      clock.advance(canaryMs - 1);
      expect(log).toEqual([]);
      clock.advance(1);
      expect(log).toEqual([`${canaryMs} order canary`]);
    },
  );

  test('one canary at a time, the next new ask after it, a while apart', () => {
    const { clock, ask, trip, log } = openGate();
    trip();
    const first = ask('first canary');
    clock.advance(firstMs);
    first.settle(broken);
    ask('waits');
    clock.advance(nextMs - 1);
    expect(log).toEqual([`${firstMs} first canary canary`]);
    clock.advance(1);
    expect(log).toEqual([`${firstMs} first canary canary`, `${firstMs + nextMs} waits canary`]);
    ask('while it is out');
    clock.advance(10_000);
    expect(log).toHaveLength(2);
  });

  test('a new ask is the canary at once when its time has come', () => {
    const { clock, ask, trip } = openGate();
    trip();
    clock.advance(firstMs + 100);
    expect(ask('new').turns).toEqual([['canary', firstMs + 100]]);
  });

  test('a retry is no new ask: it waits for the timer', () => {
    const { clock, ask, trip } = openGate();
    trip();
    const first = ask('a');
    clock.advance(firstMs);
    first.settle(broken);
    clock.advance(5000);
    const retry = ask('retry', { isNew: false });
    expect(retry.turns).toEqual([]);
    clock.advance(nextTimedMs - 5000 - 1);
    expect(retry.turns).toEqual([]);
    clock.advance(1);
    expect(retry.turns).toEqual([['canary', firstMs + nextTimedMs]]);
  });

  test('canaries go round the endpoints, so that a broken one keeps nobody down', () => {
    const { clock, ask, trip, log } = openGate();
    trip();
    const sick = ask('sick');
    clock.advance(firstMs);
    sick.settle(broken);
    ask('sick');
    ask('well', { isNew: false });
    clock.advance(nextMs);
    expect(log).toEqual([`${firstMs} sick canary`, `${firstMs + nextMs} well canary`]);
  });

  test('a broken endpoint that is asked for again and again leaves others their turn', () => {
    const { clock, ask, trip } = openGate();
    trip();
    const well = ask('well', { isNew: false, holdMs: 120_000 });
    clock.advance(firstTimedMs);
    well.settle(broken);
    const other = ask('other', { isNew: false, holdMs: 120_000 });
    // A poll, each time a little after the next canary was due.
    for (let poll = 0; poll < 5; poll++) {
      clock.advance(nextMs + 500);
      const sick = ask('sick');
      if (sick.turns.length > 0) sick.settle(broken);
    }
    expect(other.turns.map(([turn]) => turn)).toEqual(['canary']);
  });

  test('a new write is no canary while a read waits', () => {
    const { clock, ask, trip } = openGate();
    trip();
    const read = ask('first read');
    clock.advance(firstMs);
    read.settle(broken);
    const waiting = ask('read', { isNew: false });
    clock.advance(5000);
    const write = ask('write', { risk: 2 });
    expect([write.turns, waiting.turns]).toEqual([[], [['canary', firstMs + 5000]]]);
  });

  test('failing fast fails at once, and goes as the canary when that is due', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    expect(ask('early', { isFailFast: true }).turns).toEqual([['expired', 0]]);
    clock.advance(firstMs);
    const due = ask('due', { isFailFast: true });
    expect(due.turns).toEqual([['canary', firstMs]]);
    expect(ask('beside it', { isFailFast: true }).turns).toEqual([['expired', firstMs]]);
    due.settle(ok);
    expect(gate.getState().status).toBe('up');
    expect(clock.pending()).toBe(0);
  });

  test('a wait ends to the millisecond after holdMs, and each by itself', () => {
    const { clock, ask, trip, gate } = openGate();
    trip();
    const long = ask('long', { holdMs: firstMs + 2000 });
    const short = ask('short', { isNew: false, holdMs: firstMs + 500 });
    const canary = ask('canary', { isNew: false });
    clock.advance(firstMs);
    expect(canary.turns).toEqual([['canary', firstMs]]);
    clock.advance(499);
    expect(short.turns).toEqual([]);
    clock.advance(1);
    expect(short.turns).toEqual([['expired', firstMs + 500]]);
    clock.advance(2000);
    expect(long.turns).toEqual([['expired', firstMs + 2000]]);
    expect(gate.getState().waiting).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  test('asked for again, its wait starts anew', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    const canary = ask('canary');
    clock.advance(firstMs);
    expect(canary.turns).toHaveLength(1);
    const { waiter, turns } = ask('a', { holdMs: 3000 });
    clock.advance(2000);
    if (waiter) gate.renew(waiter);
    clock.advance(2999);
    expect(turns).toEqual([]);
    clock.advance(1);
    expect(turns).toEqual([['expired', firstMs + 5000]]);
  });

  test('a wait without an end holds no timer of its own', () => {
    const { gate, clock, ask } = openGate({ slots: { maxInFlight: 1 } });
    gate.tryEnter(true);
    const { turns } = ask('a', { holdMs: Infinity });
    clock.advance(1e9);
    expect(turns).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  test('who leaves is gone, and the canary after it is another', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    const gone = ask('gone');
    ask('stays', { isNew: false });
    if (gone.waiter) gate.leave(gone.waiter);
    expect(gate.getState().waiting).toBe(1);
    clock.advance(firstMs);
    expect(log).toEqual([`${firstMs} stays canary`]);
  });

  test('when the last one leaves, no timer is left', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    const { waiter } = ask('a');
    expect(clock.pending()).toBe(1);
    if (waiter) gate.leave(waiter);
    expect(clock.pending()).toBe(0);
  });

  test('an aborted canary frees its place for the next one', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    const first = ask('first');
    clock.advance(firstMs);
    ask('second');
    first.settle(aborted);
    clock.advance(nextMs);
    expect(log.map((line) => line.replace(/^\d+ /, ''))).toEqual(['first canary', 'second canary']);
    expect(gate.getState().status).toBe('down');
  });

  test('aborted canaries are spaced as well: typing must not be ten canaries a second', () => {
    const { clock, ask, trip, log } = openGate();
    trip();
    clock.advance(firstMs);
    for (let key = 0; key < 40; key++) {
      const typed = ask(`key ${key}`);
      clock.advance(100);
      if (typed.turns[0]?.[0] === 'canary') typed.settle(aborted);
    }
    // In four seconds one at the start, and one 3 s later.
    expect(log).toEqual([`${firstMs} key 0 canary`, `${firstMs + nextMs} key 29 canary`]);
  });

  test('a canary that never comes back does not lock the origin for ever', () => {
    const { clock, ask, trip, log } = openGate();
    trip();
    ask('hangs');
    clock.advance(firstMs);
    for (let minute = 0; minute < 10; minute++) {
      ask(`minute ${minute}`);
      clock.advance(60_000);
    }
    expect(log.filter((line) => line.endsWith('canary')).length).toBeGreaterThan(1);
  });

  test('the late end of a canary that was given up does not end the one that is out', () => {
    const { clock, ask, trip, log } = openGate();
    trip();
    const hangs = ask('hangs');
    clock.advance(firstMs);
    clock.advance(35_000);
    expect(ask('next').turns).toEqual([['canary', firstMs + 35_000]]);
    hangs.settle(broken);
    ask('third');
    clock.advance(10_000);
    expect(log).toHaveLength(2);
  });

  test('sent by hand it goes at once, and as the canary it closes the circuit', () => {
    const { gate, ask, trip } = openGate();
    trip();
    const { waiter, turns, settle } = ask('a');
    if (waiter) gate.force(waiter);
    expect(turns).toEqual([['canary', 0]]);
    settle(ok);
    expect(gate.getState().status).toBe('up');
  });

  test('two sent by hand: when one has come back, the end of the other changes nothing', () => {
    const { gate, ask, trip } = openGate();
    trip();
    const a = ask('a');
    const b = ask('b');
    for (const { waiter } of [a, b]) if (waiter) gate.force(waiter);
    a.settle(ok);
    b.settle(aborted);
    expect(gate.getState().status).toBe('up');
  });

  test('one canary at a time, also when one was sent by hand', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    const a = ask('a');
    const b = ask('b');
    ask('c');
    for (const { waiter } of [a, b]) if (waiter) gate.force(waiter);
    expect(log).toEqual(['0 a canary', '0 b go']);
    a.settle(broken);
    clock.advance(50_000);
    expect(log).toHaveLength(3);
  });
});

describe('the release', () => {
  test('what was asked for shortly before goes with the canary, the rest does not', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    clock.advance(firstMs - freshMs);
    ask('just too old');
    ask('a write', { risk: 1 });
    clock.advance(1);
    ask('just fresh', { risk: 1 });
    clock.advance(freshMs - 1);
    expect(log).toEqual([`${firstMs} just too old canary`]);
    gate.settle('just too old', true, ok, 50);
    expect(log.slice(1)).toEqual([`${firstMs} just fresh go`]);
  });

  test('it starts slow, newest first, and goes on at a pace that follows the answers', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    clock.advance(firstTimedMs - 2340);
    for (const name of ['a', 'b', 'c', 'd', 'e']) ask(name, { isNew: false });
    clock.advance(2340);
    expect(log).toEqual([`${firstTimedMs} e canary`]);
    gate.settle('e', true, ok, 50);
    // Nobody knows whose turn is when: that is up to the answers.
    expect(gate.getState()).toEqual({ status: 'recovering', retryAt: undefined, waiting: 4 });
    // Four were held for 2.34 s, at 0.3 of that rate: 1.95 s apart, the first after half of that.
    clock.advance(975);
    expect(log.slice(1)).toEqual([`${firstTimedMs + 975} d go`]);
    gate.settle('d', false, ok, 50);
    // At 0.45 of it: 1.3 s.
    clock.advance(1300);
    expect(log.slice(2)).toEqual([`${firstTimedMs + 2275} c go`]);
    gate.settle('c', false, ok, 1000);
    // That was slow. At 0.18 of it: 3.25 s.
    clock.advance(3250);
    expect(log.slice(3)).toEqual([`${firstTimedMs + 5525} b go`]);
    gate.settle('b', false, ok, 50);
    // At 0.27 of it: 2166.7 ms.
    clock.advance(2166);
    expect(log.slice(4)).toEqual([]);
    clock.advance(1);
    expect(log.slice(4).map((line) => line.replace(/^\S+ /, ''))).toEqual(['a go']);
    expect(gate.getState()).toEqual({ status: 'up', retryAt: undefined, waiting: 0 });
  });

  test('what takes more than a second is slow at first where nothing is known, and two minutes later is as quick as it gets', () => {
    const { gate, clock, ask, send, trip } = openGate();
    trip();
    for (let id = 0; id < 1000; id++) ask(`POST /${id}`, { isNew: false, holdMs: 300_000 });
    clock.advance(firstTimedMs + 3000);
    gate.settle('POST /999', true, ok, 3000);
    for (let id = 0; id < 3; id++) send('POST /new', ok, 3000);
    expect(gate.pace.getState()).toBe(0.05);
    clock.advance(120_000);
    send('POST /new', ok, 3000);
    expect(gate.pace.getState()).toBe(0.05);
    clock.advance(1);
    send('POST /new', ok, 3000);
    expect(gate.pace.getState()).toBe(0.05 * 1.5);
    send('POST /new', ok, 12_001);
    expect(gate.pace.getState()).toBe(0.05);
    expect(gate.getState()).toMatchObject({ status: 'recovering' });
  });

  test('what is asked for meanwhile goes at once', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    const a = ask('a');
    ask('b', { isNew: false });
    ask('c', { isNew: false });
    clock.advance(firstMs);
    gate.settle('c', true, ok, 50);
    expect(gate.getState().status).toBe('recovering');
    expect(gate.tryEnter(true)).toBe(true);
    expect(a.turns).toEqual([]);
  });

  test('a canary whose success was a fluke: the next failure holds everything again', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    clock.advance(firstTimedMs - 3000);
    for (const name of ['a', 'b', 'c']) ask(name, { isNew: false });
    clock.advance(3000);
    gate.settle('c', true, ok, 50);
    clock.advance(2500);
    expect(log.at(-1)).toBe(`${firstTimedMs + 2500} b go`);
    gate.settle('b', false, broken, 10);
    expect(gate.getState()).toMatchObject({ status: 'down', waiting: 1 });
    expect(gate.tryEnter(true)).toBe(false);
  });

  test('the fluke is noticed too when all that was held was fresh, and has gone with the canary', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    clock.advance(firstMs - 100);
    for (const name of ['a', 'b', 'c']) ask(name);
    clock.advance(100);
    gate.settle('c', true, ok, 50);
    gate.settle('b', false, broken, 0);
    expect(gate.getState().status).toBe('down');
  });

  test('after one good answer a single failure is no fluke', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    clock.advance(firstTimedMs - 2340);
    for (const name of ['a', 'b', 'c', 'd', 'e']) ask(name, { isNew: false });
    clock.advance(2340);
    gate.settle('e', true, ok, 50);
    clock.advance(975);
    gate.settle('d', false, ok, 50);
    clock.advance(1300);
    expect(log.at(-1)).toBe(`${firstTimedMs + 2275} c go`);
    gate.settle('c', false, broken, 50);
    expect(gate.getState()).toMatchObject({ status: 'recovering', waiting: 2 });
  });

  test.each([
    // 0.0401 of its attempts, at the failure.
    [28, 0.3 * 1.5],
    // 0.0389.
    [29, 0.3 * 1.5 * 0.4],
  ])(
    'a failure slows it, but not where more than one in 25 fails anyway: after %d good answers the pace is %d',
    (answers, pace) => {
      const { gate, clock, ask, send, trip, log } = openGate();
      send('a', broken);
      // With the first of these it is taken for 0.097, and with each one more for 0.97 of that.
      for (let answer = 0; answer <= answers; answer++) send('a', ok);
      trip();
      for (const name of ['a', 'b', 'c', 'd']) ask(name, { isNew: false });
      // Where that many fail, the first canary goes by itself after 2 to 4 s.
      clock.advance(3000);
      expect(log).toEqual(['3000 d canary']);
      gate.settle('d', true, ok, 50);
      // Three were held for 3 s, at 0.3 of that rate: the first goes after half of 3.33 s.
      clock.advance(1667);
      gate.settle('c', false, ok, 50);
      expect(gate.pace.getState()).toBe(0.3 * 1.5);
      send('new', broken);
      expect(gate.getState()).toMatchObject({ status: 'recovering', waiting: 2 });
      expect(gate.pace.getState()).toBe(pace);
    },
  );

  test('a broken endpoint that was seen to be broken is no sign of a fluke', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    const sick = ask('sick');
    clock.advance(firstMs);
    sick.settle(broken);
    const again = ask('sick', { isNew: false });
    ask('waits', { isNew: false });
    ask('well', { isNew: false });
    const canary = ask('canary');
    clock.advance(nextMs);
    expect(canary.turns).toEqual([['canary', firstMs + nextMs]]);
    canary.settle(ok);
    if (again.turns.length === 0 && again.waiter) gate.force(again.waiter);
    again.settle(broken);
    expect(gate.getState().status).not.toBe('down');
  });

  test('the late failure of what was sent in the outage does not bring it back', () => {
    const { gate, clock, ask, trip } = openGate();
    // On its way before anything was known, and hanging.
    gate.tryEnter(true);
    trip();
    const canary = ask('canary');
    clock.advance(firstMs);
    canary.settle(ok);
    expect(gate.getState().status).toBe('up');
    clock.advance(7000);
    gate.settle('hung', false, timedOut, 10_000);
    expect(gate.getState().status).toBe('up');
  });

  test('what was held goes before its patience ends, also in a tab that asks for nothing more', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    const waits = ask('waits');
    const canary = ask('canary', { holdMs: 30_000 });
    clock.advance(firstMs);
    canary.settle(broken);
    clock.advance(10_000 - firstMs);
    expect(ask('new').turns).toEqual([['canary', 10_000]]);
    gate.settle('new', true, ok, 50);
    expect(gate.getState()).toMatchObject({ status: 'recovering', waiting: 1 });
    clock.advance(60_000);
    // Up since 10 s, and with 50 s of patience left.
    expect(waits.turns.map(([turn]) => turn)).toEqual(['go']);
    expect(log).toHaveLength(3);
  });

  test('a held operation is never lost when the circuit closes', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    const all = Array.from({ length: 50 }, (_, index) =>
      ask(`${index}`, { isNew: false, holdMs: 1e9 }),
    );
    clock.advance(firstTimedMs);
    gate.settle('49', true, ok, 50);
    for (let step = 0; step < 2000; step++) {
      clock.advance(100);
    }
    expect(all.map(({ turns }) => turns.length)).toEqual(all.map(() => 1));
    expect(gate.getState()).toEqual({ status: 'up', retryAt: undefined, waiting: 0 });
    expect(clock.pending()).toBe(0);
  });

  test('a canary that is told to wait lets nobody else go', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    const canary = ask('canary');
    clock.advance(firstMs);
    ask('a');
    ask('b');
    // 429 with Retry-After: the origin lives, and wants a pause.
    gate.pause(10_000);
    canary.settle(answered);
    expect(log).toEqual([`${firstMs} canary canary`]);
  });
});

/** An answer that says what is left. */
function answerWith({ gate }: OpenGate, limit: RateLimitState): void {
  gate.tryEnter(true);
  gate.allow(limit);
  gate.settle('a', false, ok, 10);
}

describe('a rate limit', () => {
  test('holds everything that is new, and says until when', () => {
    const { gate, clock, ask } = openGate();
    gate.pause(10_000);
    expect(gate.tryEnter(true)).toBe(false);
    const { holds, turns } = ask('a');
    expect(holds).toEqual([['rate-limited', 12_500]]);
    clock.advance(12_499);
    expect(turns).toEqual([]);
  });

  test('after it something new goes at once, and what was held or is a retry a little later', () => {
    const { gate, clock, ask, log } = openGate();
    gate.pause(10_000);
    ask('held');
    clock.advance(10_000);
    expect(gate.tryEnter(true)).toBe(true);
    expect(gate.tryEnter(false)).toBe(false);
    clock.advance(2499);
    expect(log).toEqual([]);
    clock.advance(1);
    expect(log).toEqual(['12500 held go']);
  });

  test('what could only wait in vain is not held', () => {
    const { gate, ask } = openGate();
    gate.pause(60_001);
    expect(ask('a').waiter).toBeUndefined();
    expect(ask('b', { holdMs: 60_001 }).waiter).toBeDefined();
  });

  test('failing fast does not wait for it', () => {
    const { gate, ask } = openGate();
    gate.pause(1000);
    expect(ask('a', { isFailFast: true }).turns).toEqual([['expired', 0]]);
  });

  test('no canary goes before it is over, due or asked for', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    gate.pause(10_000);
    ask('a');
    ask('b');
    clock.advance(9999);
    expect(log).toEqual([]);
    clock.advance(1);
    expect(ask('new').turns).toEqual([['canary', 10_000]]);
  });

  test('what is left counts those under way, which the server has not counted yet', () => {
    const { gate } = openGate();
    for (let request = 0; request < 3; request++) gate.tryEnter(true);
    // What an answer tells is heard before its attempt is over: two more are under way.
    gate.allow({ remaining: 3, resetAt: epochMs + 10_000 });
    gate.settle('a', false, ok, 10);
    expect(gate.tryEnter(true)).toBe(true);
    expect(gate.tryEnter(true)).toBe(false);
  });

  test('the release after the allowance was used up starts slowly as well', () => {
    const one = openGate();
    const { gate, clock, ask, log } = one;
    answerWith(one, { remaining: 1, resetAt: epochMs + 10_000 });
    expect(gate.tryEnter(true)).toBe(true);
    expect(gate.tryEnter(true)).toBe(false);
    for (let index = 0; index < 20; index++) ask(`${index}`, { isNew: false });
    clock.advance(13_000);
    // At 0.3 of the rate, which is 20 in 12.5 s: never all at once.
    expect(log.length).toBeLessThanOrEqual(2);
  });

  test('the state does not say rate-limited when the time is over', () => {
    const { gate, clock } = openGate();
    gate.pause(1000);
    expect(gate.getState().status).toBe('rate-limited');
    clock.advance(10_000);
    expect(gate.isOpen()).toBe(true);
    expect(gate.getState().status).toBe('up');
  });

  test('whoever watches is told when the time is over, though nobody waits', () => {
    const { gate, clock } = openGate();
    gate.pause(1000);
    const seen: string[] = [];
    gate.subscribe(() => seen.push(gate.getState().status));
    clock.advance(10_000);
    expect(seen.at(-1)).toBe('up');
  });

  test('the state says rate-limited as soon as the last of the allowance has gone', () => {
    const one = openGate();
    answerWith(one, { remaining: 1, resetAt: epochMs + 10_000 });
    expect(one.gate.getState().status).toBe('up');
    one.gate.tryEnter(true);
    expect(one.gate.getState().status).toBe('rate-limited');
  });

  test.each([
    ['Retry-After: 0', 0],
    ['a day', 86_400_000],
    ['31,700 years', 1e15],
  ])('%s neither throws nor spins', (_what, pauseMs) => {
    const { gate, clock, ask } = openGate();
    ask('before', { holdMs: Infinity });
    gate.pause(pauseMs);
    ask('after', { holdMs: Infinity });
    clock.advance(1e11);
    expect(clock.fired()).toBeLessThan(60);
  });

  test('a reset beyond what a Date or a timer holds neither throws nor spins', () => {
    const one = openGate();
    const { clock, ask } = one;
    answerWith(one, { remaining: 0, resetAt: epochMs + 1e18 });
    expect(ask('a', { holdMs: Infinity }).turns).toEqual([]);
    expect(() => clock.advance(1e10)).not.toThrow();
    expect(clock.fired()).toBeLessThan(10);
  });

  test('a long-over pause does not slow down a queue for a place', () => {
    const { gate, clock, ask } = openGate({ slots: { maxInFlight: 1 } });
    gate.pause(1000);
    clock.advance(60_000);
    gate.tryEnter(true);
    const queued = ask('a');
    gate.settle('x', false, ok, 10);
    expect(queued.turns).toEqual([['go', 60_000]]);
  });
});

describe('slots', () => {
  test('only so many are in flight, and a place goes to the next at the headers of one', () => {
    const { gate, ask } = openGate({ slots: { maxInFlight: 2 } });
    expect([gate.tryEnter(true), gate.tryEnter(true), gate.tryEnter(true)]).toEqual([
      true,
      true,
      false,
    ]);
    const queued = ask('a');
    expect(queued.holds).toEqual([['queued', undefined]]);
    gate.settle('x', false, aborted, 0);
    expect(queued.turns).toEqual([['go', 0]]);
    expect(gate.isOpen()).toBe(false);
  });

  test('a full queue refuses at once', () => {
    const { gate, ask } = openGate({ slots: { maxInFlight: 1, maxQueued: 1 } });
    gate.tryEnter(true);
    expect(ask('a').waiter).toBeDefined();
    expect(ask('b').waiter).toBeUndefined();
  });

  test('a wait for a place is bounded by queueTimeoutMs, and by holdMs if that is less', () => {
    const { gate, clock, ask } = openGate({ slots: { maxInFlight: 1, queueTimeoutMs: 500 } });
    gate.tryEnter(true);
    const a = ask('a');
    const b = ask('b', { holdMs: 200 });
    clock.advance(1000);
    expect([a.turns, b.turns]).toEqual([[['expired', 500]], [['expired', 200]]]);
  });

  test('failing fast waits for a place all the same', () => {
    const { gate, clock, ask } = openGate({ slots: { maxInFlight: 1 } });
    gate.tryEnter(true);
    const a = ask('a', { isFailFast: true });
    clock.advance(1000);
    gate.settle('x', false, ok, 10);
    expect(a.turns).toEqual([['go', 1000]]);
  });

  test('what fails fast leaves the queue when the origin goes down', () => {
    const { gate, clock, ask } = openGate({ slots: { maxInFlight: 2 } });
    gate.tryEnter(true);
    gate.tryEnter(true);
    const a = ask('a', { isFailFast: true });
    // The second one: nothing more is needed.
    gate.settle('x', false, timedOut, 10);
    clock.advance(0);
    expect(a.turns).toEqual([['expired', 0]]);
  });

  test('those that go with the canary keep to the places, too', () => {
    const { gate, clock, ask, trip, log } = openGate({ slots: { maxInFlight: 2 } });
    trip();
    clock.advance(firstMs - 100);
    for (let index = 0; index < 10; index++) ask(`${index}`);
    clock.advance(100);
    gate.settle('9', true, ok, 50);
    expect(log.filter((line) => line.endsWith(' go'))).toHaveLength(2);
  });

  test('those that go with the canary keep to what the origin allows, too', () => {
    const { gate, clock, ask, trip, log } = openGate();
    trip();
    clock.advance(firstMs - 100);
    for (let index = 0; index < 10; index++) ask(`${index}`);
    clock.advance(100);
    gate.allow({ remaining: 2, resetAt: epochMs + 60_000 });
    gate.settle('9', true, ok, 50);
    expect(log.filter((line) => line.endsWith(' go')).length).toBeLessThanOrEqual(2);
  });
});

describe('those who watch', () => {
  test('the state is the same object until something changes', () => {
    const { gate, ask, trip } = openGate();
    expect(gate.getState()).toBe(gate.getState());
    trip();
    const { waiter } = ask('a');
    const state = gate.getState();
    if (waiter) gate.leave(waiter);
    if (waiter) gate.leave(waiter);
    expect(state.waiting).toBe(1);
    expect(gate.getState()).toBe(gate.getState());
  });

  test('a success while all is well tells nobody', () => {
    const { gate, send } = openGate();
    const listener = vi.fn<() => void>();
    gate.subscribe(listener);
    for (let request = 0; request < 10; request++) send('a', ok);
    expect(listener).not.toHaveBeenCalled();
  });

  test('a watcher that throws loses nobody their turn', async () => {
    const unhandled = catchUnhandled();
    const { gate, clock, ask, trip } = openGate();
    trip();
    const a = ask('a');
    for (const part of [gate, gate.circuit, gate.limit, gate.pace, gate.budget]) {
      part.subscribe(() => {
        throw new Error('a mistake of a watcher');
      });
    }
    expect(() => clock.advance(firstMs)).not.toThrow();
    expect(a.turns).toEqual([['canary', firstMs]]);
    await toldByNow();
    expect(unhandled).toHaveBeenCalled();
  });

  test('who leaves while the others are given their turn is not given one as well', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    clock.advance(firstMs - 1000);
    const later: { leave?: () => void } = {};
    // What a screen does that has got what it needed.
    const leave = (): void => later.leave?.();
    const first = ask('first', {}, leave);
    const second = ask('second', {}, leave);
    const third = ask('third');
    later.leave = () => {
      for (const { waiter, turns } of [first, second]) {
        if (waiter && turns.length === 0) gate.leave(waiter);
      }
    };
    clock.advance(1000);
    expect(third.turns).toEqual([['canary', firstMs]]);
    third.settle(ok);
    expect(first.turns.length + second.turns.length).toBe(1);
  });

  test('who leaves when told that it waits is told nothing more', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    const told: string[] = [];
    const second: { leave?: () => void } = {};
    ask('first', { onHold: () => second.leave?.() });
    const { waiter } = ask('second', { onHold: () => void told.push('second') });
    told.length = 0;
    second.leave = () => waiter && gate.leave(waiter);
    ask('canary');
    clock.advance(firstMs);
    expect(told).toEqual([]);
  });

  test('a release of a hundred is no flood of news', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    const all = Array.from({ length: 100 }, (_, index) =>
      ask(`${index}`, { isNew: false, holdMs: 1e6 }),
    );
    clock.advance(firstTimedMs);
    gate.settle('99', true, ok, 50);
    clock.advance(1e5);
    const news = all.reduce((sum, { holds }) => sum + holds.length, 0);
    expect(news).toBeLessThan(1000);
  });
});

describe('clocks that jump', () => {
  test('after a sleep of hours one canary goes for what was asked for with patience', () => {
    const { clock, ask, trip, log } = openGate();
    trip();
    ask('patient', { holdMs: Infinity });
    ask('impatient', { isNew: false });
    clock.advance(1000);
    clock.jump(8 * 3_600_000);
    clock.advance(5000);
    expect(log.map((line) => line.replace(/^\d+ /, ''))).toEqual([
      'impatient expired',
      'patient canary',
    ]);
  });

  test('a clock that is set back by hours holds nobody for hours', () => {
    const { clock, ask, trip } = openGate();
    trip();
    const { turns } = ask('a', { isNew: false });
    clock.jump(-8 * 3_600_000);
    clock.advance(60_000);
    expect(turns).toHaveLength(1);
  });

  test('it spins neither way', () => {
    const { gate, clock, ask, trip } = openGate();
    trip();
    for (let index = 0; index < 10; index++) ask(`${index}`);
    gate.pause(5000);
    for (const jump of [-1e10, 2e10, -1e10, 1e13, -1e13]) {
      clock.jump(jump);
      clock.advance(60_000);
    }
    expect(clock.fired()).toBeLessThan(100);
  });
});
