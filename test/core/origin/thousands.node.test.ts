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

test('twice as many that are paused in one turn are no more work: the first is read', async () => {
  const one = await pauseMany(1000);
  const two = await pauseMany(2000);
  expect([one.askedAtFirst, two.askedAtFirst]).toEqual([2, 2]);
});

/** How often it is read whether users wait, until so many have been let go. */
async function readsOf(
  count: number,
  isSeen: boolean,
  how: 'in one turn' | 'each in a turn' | 'the last first' | 'leave, the last first',
): Promise<number> {
  const { ask, send, advance, clock } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  let reads = 0;
  const isForeground = (): boolean => ++reads > 0 && isSeen;
  const waiting: ReturnType<typeof ask>[] = [];
  for (let id = 0; id < count; id++) {
    const askedAt = how === 'the last first' ? clock.now() - id : clock.now();
    waiting.push(ask('a', { isForeground, askedAt }));
    if (how === 'each in a turn') await Promise.resolve();
  }
  await advance(0);
  if (how === 'leave, the last first') {
    for (const { leave } of waiting.toReversed()) leave();
    await advance(0);
    return reads;
  }
  const answered = new Set<(typeof waiting)[number]>();
  for (let beat = 0; answered.size < count && beat < 2000; beat++) {
    clock.advance(10);
    for (const one of waiting) {
      if (one.story.length === 0 || answered.has(one)) continue;
      answered.add(one);
      one.settle('success');
    }
  }
  expect(answered.size).toBe(count);
  return reads;
}

test.each([
  ['are let go', true, 'in one turn', 1],
  ['of the background are let go', false, 'in one turn', 2],
  ['come one after the other', true, 'each in a turn', 3],
  ['of the background come one after the other', false, 'each in a turn', 2],
  ['come with the oldest last', true, 'the last first', 1],
  ['leave', true, 'leave, the last first', 0],
] as const)(
  'a thousand more that %s (seen: %s, %s) are %d readings each',
  async (_, isSeen, how, each) => {
    const [one, two] = [await readsOf(1000, isSeen, how), await readsOf(2000, isSeen, how)];
    expect(two - one).toBe(1000 * each);
  },
);

test('of thousands whose turn it is, fifty go in one task', async () => {
  const { waiting, clock, log, answer } = await pauseMany(2000);
  answer();
  // All are told that it is their turn.
  clock.advance(0);
  // The timers of a busy page are late: now it is the turn of a thousand.
  const [sent, fired] = [log.length, clock.fired()];
  clock.jump(900);
  clock.advance(1);
  expect([log.length - sent, clock.fired() - fired]).toEqual([1007, 27]);
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
  expect(clock.fired()).toBe(4);
});
