import { expect, test, vi } from 'vitest';
import { type Circuit, createCircuit } from '../../src/origin/circuit.ts';
import { createDemand, type Demand } from '../../src/origin/demand.ts';
import { createStreakRule } from '../../src/origin/trip-rule.ts';
import { createVirtualClock, epochMs, type VirtualClock } from './virtual-clock.ts';

interface Rig {
  readonly circuit: Circuit;
  readonly clock: VirtualClock;
  readonly demand: Demand;
  /** State, and when the next canary may go by itself and at a new ask, since the beginning. */
  readonly look: () => readonly [state: string, timerMs: number, probeMs: number | undefined];
}

/** A tab that has just asked for so much; every draw of chance is the same. */
function rig(asks = 12, draw = 0.5): Rig {
  const clock = createVirtualClock();
  const demand = createDemand(60_000);
  for (let ask = 0; ask < asks; ask++) demand.add(clock.now());
  const circuit = createCircuit(clock, () => draw, createStreakRule(), demand);
  return {
    circuit,
    clock,
    demand,
    look: () => {
      const { state, probeAt } = circuit.getState();
      return [state, circuit.timerAt() - epochMs, probeAt && probeAt - epochMs];
    },
  };
}

const trip = ({ circuit }: Rig): void => {
  circuit.fail(1);
  circuit.fail(1);
};

const probeAndFail = ({ circuit }: Rig): void => {
  circuit.startProbe();
  circuit.endProbe('failed', 1);
};

test('it is closed until the rule says otherwise', () => {
  const one = rig();
  one.circuit.fail(1);
  expect(one.circuit.getState()).toEqual({ state: 'closed', probeAt: undefined });
  one.circuit.fail(1);
  expect(one.circuit.isClosed()).toBe(false);
  expect(one.look()).toEqual(['open', 7500, 3000]);
});

test.each([
  [0, 5000, 2500],
  [0.25, 6250, 2750],
  [1, 10_000, 3500],
])(
  'chance %d puts the first canary %d ms after the trip, and %d ms if something new is asked for',
  (draw, timerMs, probeMs) => {
    const one = rig(12, draw);
    trip(one);
    expect(one.look()).toEqual(['open', timerMs, probeMs]);
  },
);

test.each([
  [0, 4000, 2500],
  [0.25, 4750, 2750],
  [1, 7000, 3500],
])(
  'in a tab that asks for little chance %d puts it %d ms after the trip, and %d ms if something new is asked for',
  (draw, timerMs, probeMs) => {
    const one = rig(2, draw);
    trip(one);
    expect(one.look()).toEqual(['open', timerMs, probeMs]);
  },
);

test.each([
  [0, 2000, 2000],
  [0.5, 3000, 3000],
  [1, 4000, 3500],
])(
  'where attempts fail now and then anyway, chance %d puts the first canary %d ms after the trip',
  (draw, timerMs, probeMs) => {
    const one = rig(12, draw);
    // Every tenth call, which is known after a while.
    for (let call = 0; call < 100; call++) {
      if (call % 10 === 0) one.circuit.fail(1);
      else one.circuit.succeed();
    }
    while (one.circuit.isClosed()) one.circuit.fail(1);
    expect(one.look()).toEqual(['open', timerMs, probeMs]);
  },
);

test('a tab that asks for little has two quick canaries, then one in four to eight times its usual gap', () => {
  const one = rig(2);
  trip(one);
  expect(one.look()).toEqual(['open', 5500, 3000]);
  one.clock.advance(5500);
  probeAndFail(one);
  expect(one.look()).toEqual(['open', 5500 + 12_000, 5500 + 3000]);
  one.clock.advance(12_000);
  one.demand.add(one.clock.now());
  probeAndFail(one);
  const now = one.clock.now();
  expect(one.circuit.timerAt()).toBe(now + 6 / one.demand.rate(now));
  expect(one.look()[2]).toBe(17_500 + 3000);
});

test.each([
  [0, 4000, 2500],
  [0.25, 4750, 2750],
  [0.5, 5500, 3000],
])(
  'a time-out has cost more: of the tabs that ask for little, one that draws %d has its quick canary after it',
  (draw, timerMs, probeMs) => {
    const one = rig(1, draw);
    one.circuit.fail(2);
    expect(one.look()).toEqual(['open', timerMs, probeMs]);
  },
);

test.each([
  // One ask a minute: 4 to 8 minutes.
  [0.50390625, 360_937.5, 3003.90625],
  [0.75, 420_000, 3250],
  [1, 480_000, 3500],
])(
  'and one that draws %d has none: it waits for four to eight times its usual gap, or for something new',
  (draw, timerMs, probeMs) => {
    const one = rig(1, draw);
    one.circuit.fail(2);
    expect(one.look()).toEqual(['open', timerMs, probeMs]);
    one.circuit.ask();
    expect(one.look()).toEqual(['open', probeMs, probeMs]);
  },
);

test('after a time-out there is one quick canary at most, however the next ones fail', () => {
  const one = rig(2);
  one.circuit.fail(2);
  one.clock.advance(5500);
  probeAndFail(one);
  const now = one.clock.now();
  expect(one.circuit.timerAt()).toBe(now + 6 / one.demand.rate(now));
});

test.each([
  [0.5, 12_000],
  // One ask a minute, and so seven minutes.
  [0.75, 420_000],
])(
  'after a canary that timed out, too, one that draws %d waits for %d ms: the second quick one or none',
  (draw, timerMs) => {
    const one = rig(1, draw);
    trip(one);
    one.circuit.startProbe();
    one.circuit.endProbe('failed', 2);
    expect(one.look()[1]).toBe(timerMs);
  },
);

test('after twenty minutes it has its two quick canaries again', () => {
  const one = rig(2);
  one.circuit.fail(2);
  const failAfter = (ms: number): number => {
    one.clock.advance(ms);
    one.demand.add(one.clock.now());
    probeAndFail(one);
    return one.circuit.timerAt() - one.clock.now();
  };
  failAfter(1_200_000);
  const now = one.clock.now();
  expect(one.circuit.timerAt()).toBe(now + 6 / one.demand.rate(now));
  expect([failAfter(1), failAfter(60_000)]).toEqual([5500, 12_000]);
});

test('in a tab that asks for more, chance does not deny it the canary after a time-out', () => {
  const one = rig(3, 0.75);
  one.circuit.fail(2);
  expect(one.look()).toEqual(['open', 8750, 3250]);
});

test('what is asked for sooner draws the next canary to the earliest time for it', () => {
  const one = rig();
  trip(one);
  one.circuit.ask();
  expect(one.look()).toEqual(['open', 3000, 3000]);
  // It is drawn no further by what is asked for later.
  one.clock.advance(4000);
  one.circuit.ask();
  expect(one.look()).toEqual(['half-open', 3000, 3000]);
});

test('with nothing held it is half-open from the time of the next canary, and not before', () => {
  const one = rig();
  trip(one);
  one.clock.advance(2999);
  expect([one.look()[0], one.circuit.mayProbe()]).toEqual(['open', false]);
  one.clock.advance(1);
  expect([one.look()[0], one.circuit.mayProbe()]).toEqual(['half-open', true]);
});

test('one canary at a time', () => {
  const one = rig();
  trip(one);
  one.clock.advance(3000);
  one.circuit.startProbe();
  expect(one.look()).toEqual(['half-open', 3000 + 35_000, 3000]);
  one.clock.advance(34_999);
  expect(one.circuit.mayProbe()).toBe(false);
});

test('a canary that has not come back after 35 s is given up, and another one may go', () => {
  const one = rig();
  trip(one);
  one.clock.advance(3000);
  one.circuit.startProbe();
  one.clock.advance(35_000);
  expect([one.circuit.isProbing(), one.circuit.mayProbe()]).toEqual([false, true]);
  expect(one.circuit.timerAt()).toBe(one.clock.now());
});

test.each([
  [0, 4000 + 10_000, 3000 + 2500],
  [0.5, 4000 + 15_000, 3000 + 3000],
  [1, 4000 + 20_000, 3000 + 3500],
])(
  'with chance %d, after a canary that went at 3 s and died at 4 s the next goes at %d ms, and at %d ms if something new is asked for',
  (draw, timerMs, probeMs) => {
    const one = rig(12, draw);
    trip(one);
    one.clock.advance(3000);
    one.circuit.startProbe();
    one.clock.advance(1000);
    one.circuit.endProbe('failed', 1);
    expect(one.look()).toEqual(['open', timerMs, probeMs]);
  },
);

test('a canary that hung for 10 s is followed at once by what is new, and by the timer much later', () => {
  const one = rig();
  trip(one);
  one.clock.advance(3000);
  one.circuit.startProbe();
  one.clock.advance(10_000);
  one.circuit.endProbe('failed', 2);
  expect(one.circuit.mayProbe()).toBe(true);
  // The server has been left alone for more than 3 s since it was asked.
  expect(one.circuit.timerAt() - epochMs).toBe(13_000 + 15_000);
  one.circuit.ask();
  expect(one.look()).toEqual(['half-open', 13_000, 13_000]);
});

test('in a tab that asks for more, each one that dies puts the next further off, up to 20 to 40 s', () => {
  const one = rig(1e6);
  trip(one);
  const gaps = [0, 1, 2, 3].map(() => {
    one.clock.advance(one.circuit.timerAt() - one.clock.now());
    probeAndFail(one);
    return one.circuit.timerAt() - one.clock.now();
  });
  expect(gaps).toEqual([15_000, 22_500, 30_000, 30_000]);
});

test('a canary that comes back closes it, and the count of failures starts anew', () => {
  const one = rig();
  trip(one);
  one.clock.advance(3000);
  one.circuit.startProbe();
  one.circuit.endProbe('succeeded', 0);
  expect(one.circuit.getState()).toEqual({ state: 'closed', probeAt: undefined });
  one.circuit.fail(1);
  expect(one.circuit.isClosed()).toBe(true);
});

test('a canary that was called off leaves it open, and the next goes as long after it, asked for or not', () => {
  const one = rig();
  trip(one);
  one.clock.advance(3000);
  one.circuit.startProbe();
  one.clock.advance(500);
  one.circuit.endProbe('unknown', 0);
  expect(one.look()).toEqual(['open', 6000, 6000]);
});

test('down again within a minute, the timer goes on where it was; a new ask may still probe soon', () => {
  const one = rig();
  trip(one);
  one.clock.advance(3000);
  one.circuit.startProbe();
  one.circuit.endProbe('succeeded', 0);
  one.clock.advance(57_000);
  trip(one);
  expect(one.look()).toEqual(['open', 60_000 + 15_000, 60_000 + 3000]);
});

test('down again after a minute, it begins as the first time', () => {
  const one = rig();
  trip(one);
  one.clock.advance(3000);
  one.circuit.startProbe();
  one.circuit.endProbe('succeeded', 0);
  one.clock.advance(57_001);
  trip(one);
  expect(one.look()).toEqual(['open', 60_001 + 7500, 60_001 + 3000]);
});

test('failures and answers while it is open change nothing', () => {
  const one = rig();
  trip(one);
  const before = one.look();
  one.circuit.fail(2);
  one.circuit.succeed();
  expect(one.look()).toEqual(before);
});

test('the state is the same object until something changes, half-open included', () => {
  const one = rig();
  expect(one.circuit.getState()).toBe(one.circuit.getState());
  trip(one);
  expect(one.circuit.getState()).toBe(one.circuit.getState());
  one.clock.advance(3000);
  expect(one.circuit.getState()).toBe(one.circuit.getState());
});

test('every change is told once', () => {
  const one = rig();
  const states: string[] = [];
  one.circuit.subscribe(() => states.push(one.circuit.getState().state));
  trip(one);
  one.clock.advance(3000);
  one.circuit.startProbe();
  one.circuit.endProbe('failed', 1);
  one.clock.advance(3000);
  one.circuit.startProbe();
  one.circuit.endProbe('succeeded', 0);
  expect(states).toEqual(['open', 'half-open', 'open', 'half-open', 'closed']);
});

test('reading the state changes nothing: a component may do it while it renders', () => {
  const one = rig();
  trip(one);
  one.clock.advance(3000);
  const listener = vi.fn<() => void>();
  one.circuit.subscribe(listener);
  one.circuit.getState();
  expect(listener).not.toHaveBeenCalled();
});

test('a clock that is set back by an hour does not keep the next canary from going for an hour', () => {
  const one = rig();
  trip(one);
  one.clock.jump(-3_600_000);
  one.clock.advance(7000);
  expect(one.circuit.mayProbe()).toBe(true);
});

test('another tab has found it down, and what that tab tells of its canaries is taken over', () => {
  const one = rig();
  one.circuit.follow(epochMs + 4000, epochMs + 9000);
  expect(one.look()).toEqual(['open', 9000, 4000]);
  one.circuit.follow(epochMs + 1000, epochMs + 1000);
  expect(one.look()).toEqual(['open', 1000, 1000]);
});

test('while its own canary is out it does not heed what another tab tells of theirs', () => {
  const one = rig();
  trip(one);
  one.clock.advance(3000);
  one.circuit.startProbe();
  const before = one.circuit.getState();
  one.circuit.follow(epochMs + 60_000, epochMs + 60_000);
  expect(one.circuit.getState()).toBe(before);
});

test('a laptop that has slept for hours may probe at once', () => {
  const one = rig();
  trip(one);
  one.clock.sleep(5 * 3_600_000);
  expect(one.look()[0]).toBe('half-open');
  expect(one.circuit.mayProbe()).toBe(true);
});

test('a tab that has asked for nothing for hours tries its origin within twenty minutes all the same', () => {
  const one = rig(1);
  one.clock.advance(7_200_000);
  trip(one);
  probeAndFail(one);
  probeAndFail(one);
  const [, timerMs] = one.look();
  expect(timerMs - one.clock.elapsed()).toBe(1_200_000);
});
