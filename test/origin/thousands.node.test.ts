import { expect, test } from 'vitest';
import { openOrigin } from './rig.ts';

/** Pauses so many, and lets them go. Counted is how often it was asked whether somebody waits for one. */
async function pauseMany(count: number) {
  const { ask, send, advance, clock, log } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  let asked = 0;
  const isForeground = (): boolean => ++asked > 0;
  const waiting = Array.from({ length: count }, () => ask('a', { isForeground }));
  await advance(0);
  const askedAtFirst = asked;
  await advance(1200);
  expect(log.slice(2)).toEqual(['1200 a probe']);
  const answered = new Set<(typeof waiting)[number]>();
  /** Answers what has gone. */
  const answer = (): void => {
    for (const one of waiting) {
      if (one.story.length === 0 || answered.has(one)) continue;
      answered.add(one);
      one.settle('success');
    }
  };
  return { waiting, askedAtFirst, asked: () => asked, clock, log, answer };
}

test('twice as many that are paused in one turn are twice the work, and not four times', async () => {
  const one = await pauseMany(1000);
  const two = await pauseMany(2000);
  expect(two.askedAtFirst).toBe(2 * one.askedAtFirst);
});

test('letting go twice as many is about twice the work, and not four times', async () => {
  const work = async (count: number): Promise<number> => {
    const { waiting, asked, clock, answer } = await pauseMany(count);
    for (let beat = 0; beat < 200; beat++) {
      answer();
      clock.advance(10);
    }
    expect(waiting.every(({ story }) => story.length === 1)).toBe(true);
    return asked();
  };
  const [one, two] = [await work(1000), await work(2000)];
  expect(two / one).toBeLessThan(2.5);
});

test('of thousands whose turn it is, fifty go in one task', async () => {
  const { waiting, clock, log, answer } = await pauseMany(2000);
  answer();
  // All are told that it is their turn.
  clock.advance(0);
  // The timers of a busy page are late: now it is the turn of four hundred.
  const [sent, fired] = [log.length, clock.fired()];
  clock.jump(900);
  clock.advance(1);
  expect([log.length - sent, clock.fired() - fired]).toEqual([412, 13]);
  for (let beat = 0; beat < 40; beat++) {
    answer();
    clock.advance(50);
  }
  expect(waiting.every(({ story }) => story.length === 1)).toBe(true);
});

test('eight thousand go within the time that eight would have, also where a timer rings every 50 ms', async () => {
  const { waiting, clock, answer } = await pauseMany(8000);
  for (let beat = 0; beat < 40; beat++) {
    answer();
    clock.jump(49);
    clock.advance(1);
  }
  expect(waiting.filter(({ story }) => story.length === 0)).toEqual([]);
});

test('of hundreds whose pause is over, fifty give up in one task', async () => {
  const { ask, send, clock } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const waiting = Array.from({ length: 200 }, () => ask('a', { maxPauseMs: 1000 }));
  await Promise.resolve();
  clock.advance(999);
  const fired = clock.fired();
  clock.advance(1);
  expect(waiting.map(({ story }) => story)).toEqual(waiting.map(() => ['1000 expired']));
  expect(clock.fired() - fired).toBe(4);
});

test('of thousands that are paused, five hundred are told why in one task', async () => {
  const { ask, send, advance, clock } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const waiting = Array.from({ length: 2000 }, () => ask('a'));
  const told = (): number => waiting.filter((one) => one.paused() !== undefined).length;
  await advance(0);
  expect(told()).toBe(500);
  clock.advance(1);
  expect(told()).toBe(2000);
  expect(clock.fired()).toBe(3);
});
