import { expect, test } from 'vitest';
import { createSteadyClock } from '../../../src/core/lib/clock.ts';
import { TimeLimit, unsettled, withLimit } from '../../../src/core/lib/timer.ts';
import { createVirtualClock, epochMs, type VirtualClock } from '../origin/virtual-clock.ts';

const hour = 3_600_000;

/** A limit of 10 s that is running, when it was over, and what did not count, each in ms since the start. */
function rig(wasAsleep?: boolean) {
  const clock: VirtualClock = createVirtualClock();
  const over: number[] = [];
  const slept: [from: number, to: number][] = [];
  const page = wasAsleep === undefined ? undefined : { wasAsleep: () => wasAsleep };
  const limit = new TimeLimit(
    { clock, page },
    { expire: () => over.push(clock.elapsed()) },
    { count: (from, to) => slept.push([from - epochMs, to - epochMs]) },
  );
  limit.restart(10_000);
  return { clock, limit, over, slept };
}

test('it is over once, at its time', () => {
  const { clock, limit, over, slept } = rig();
  expect(limit.dueAt).toBe(epochMs + 10_000);
  clock.advance(60_000);
  expect([over, slept, limit.dueAt]).toEqual([[10_000], [], Infinity]);
});

test('restarted, it begins anew with its one timer; stopped, it has none', () => {
  const { clock, limit, over } = rig();
  clock.advance(9000);
  limit.restart(5000);
  expect(clock.pending()).toBe(1);
  clock.advance(4999);
  expect(over).toEqual([]);
  limit.stop();
  limit.stop();
  expect([clock.pending(), limit.dueAt]).toEqual([0, Infinity]);
  limit.restart(1000);
  clock.advance(60_000);
  expect(over).toEqual([14_999]);
});

test.each([undefined, Infinity, 2 ** 31])('a limit of %s is none', (limitMs) => {
  const { clock, limit } = rig();
  limit.restart(limitMs);
  expect([clock.pending(), limit.dueAt]).toEqual([0, Infinity]);
});

/** Each sleep begins 4 s after the one before, or the start, and its timer is the first thing after it. */
test.each<[string, page: boolean | undefined, sleeps: readonly number[], over: number | undefined]>(
  [
    ['a timer up to a second late is in time', undefined, [1000], 11_000],
    ['a sleep starts it again', undefined, [hour], undefined],
    ['a timer that is late twice is that of a hidden tab', undefined, [60_000, 60_000], 140_000],
    ['unless the page knows better', true, [60_000, 60_000], undefined],
    ['and a page that was awake believes one', false, [60_000, 60_000], 140_000],
    ['what no throttling explains is sleep each time', undefined, [hour, hour], undefined],
  ],
)('%s', (_, page, sleeps, expected) => {
  const { clock, over } = rig(page);
  for (const ms of sleeps) {
    clock.advance(4000);
    clock.jump(ms);
    clock.advance(6000);
  }
  expect(over).toEqual(expected === undefined ? [] : [expected]);
  const leftMs = expected === undefined ? 10_000 : 0;
  clock.advance(leftMs);
  expect(over.length).toBe(1);
});

test('the time asleep is counted from a second after its end, at its end and where it is stopped', () => {
  const { clock, limit, slept } = rig();
  clock.jump(hour);
  clock.advance(10_000);
  expect(slept).toEqual([[11_000, hour + 10_000]]);
  clock.jump(hour);
  limit.stop();
  expect(slept[1]).toEqual([hour + 21_000, 2 * hour + 10_000]);
});

test('a clock that is set back makes it no longer', () => {
  const wall = createVirtualClock();
  let isOver = false;
  const limit = new TimeLimit(
    { clock: createSteadyClock(wall) },
    { expire: () => (isOver = true) },
  );
  limit.restart(10_000);
  wall.advance(4000);
  wall.jump(-24 * hour);
  wall.advance(5999);
  expect(isOver).toBe(false);
  wall.advance(1);
  expect(isOver).toBe(true);
});

/** Ends with what the work is settled with, or the reason of its limit. */
async function outcomeOf(
  work: () => unknown,
  pass: (clock: VirtualClock) => void,
): Promise<[outcome: unknown, timers: number]> {
  const clock = createVirtualClock();
  const ended = withLimit({ clock }, work, () => unsettled('work')).catch(
    (error: unknown) => (error as Error).message,
  );
  pass(clock);
  return [await ended, clock.pending()];
}

const never = (): Promise<never> => new Promise(() => {});
const fail = (): never => {
  throw new Error('thrown');
};
const late = 'work has not settled for 30 s.';

test.each<[string, work: () => unknown, ms: number, outcome: unknown]>([
  ['a value', () => 1, 0, 1],
  ['a promise', async () => 1, 0, 1],
  ['an error', fail, 0, 'thrown'],
  ['a rejection', async () => fail(), 0, 'thrown'],
  ['nothing in 30 s', never, 30_000, late],
])('work with a limit that ends in %s leaves no timer', async (_, work, ms, outcome) => {
  expect(await outcomeOf(work, (clock) => clock.advance(ms))).toEqual([outcome, 0]);
});

test('work with a limit has the time again that the device slept', async () => {
  let resolve: (value: string) => void = () => {};
  const work = (): Promise<string> => new Promise((done) => (resolve = done));
  const outcome = await outcomeOf(work, (clock) => {
    clock.jump(hour);
    clock.advance(59_999);
    resolve('in time');
  });
  expect(outcome).toEqual(['in time', 0]);
});
