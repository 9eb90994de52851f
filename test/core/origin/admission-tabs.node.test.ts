import { describe, expect, test } from 'vitest';
import { everything } from '../../../src/core/origin/wait-queue.ts';
import { ok, outage, openAdmission } from './admission-rig.ts';
import { epochMs } from './virtual-clock.ts';

describe('what a tab tells the others', () => {
  test('that something is down, that it probes it, and that it is up', async () => {
    const { send, takeDown, wait, reach, told, turn } = openAdmission({ hasTabs: true });
    takeDown('a');
    expect(told.splice(0)).toEqual([{ kind: 'down', scope: 'a', isProbed: false }, 'rest a']);
    const waiting = wait('a');
    await turn();
    told.length = 0;
    reach(1200);
    expect(told.filter((one) => !String(one).startsWith('wait'))).toEqual(['lead a']);
    told.length = 0;
    waiting.end(ok);
    expect(told).toEqual([{ kind: 'up', scope: 'a' }, 'leave a']);
    told.length = 0;
    send('a', ok);
    expect(told).toEqual([]);
  });

  test('that a probe is under way, until it has ended, though nothing waits', async () => {
    const { wait, takeDown, reach, told, turn } = openAdmission({ hasTabs: true });
    takeDown('a');
    const waiting = wait('a');
    await turn();
    reach(1200);
    told.length = 0;
    reach(2000);
    waiting.free();
    expect(told).toEqual([]);
    waiting.end(outage);
    expect(told).toEqual(['rest a']);
  });

  test('again what it probes, when that is due', async () => {
    const { answers, takeDown, wait, clock, reach, turn } = openAdmission({ hasTabs: true });
    answers.repeatAt = epochMs + 3000;
    answers.waitsUntil = epochMs + 50_000;
    takeDown('a');
    wait('a');
    await turn();
    reach(2999);
    expect(clock.fired()).toBe(0);
    answers.repeatAt = Infinity;
    reach(3000);
    expect(clock.fired()).toBe(1);
    reach(49_999);
    expect(clock.fired()).toBe(1);
  });

  test('what it hears of limits, and tells of them', () => {
    const { admission, receive, told, changes } = openAdmission({ hasTabs: true });
    receive({ kind: 'limit', scope: 'a', forMs: 1000, remaining: 0 });
    receive({
      kind: 'pace',
      scope: 'b',
      gapMs: 200,
      pauseMs: 0,
      isFound: true,
      isUntold: false,
    });
    const { limits } = admission.origin;
    expect([
      limits.until({ limitScope: 'a' }) - epochMs,
      limits.until({ limitScope: 'b' }) - epochMs,
    ]).toEqual([1625, 500]);
    expect([told, changes()]).toEqual([[], 2]);
    limits.pause('c', 1000);
    expect(told).toEqual([{ kind: 'limit', scope: 'c', forMs: 1000, remaining: 0 }]);
  });
});

describe('what a tab hears from another', () => {
  test.each([
    ['down', false, true, true],
    ['down and probed there', true, true, true],
    ['down and probed there, where this one probes itself', true, false, false],
  ])('that its origin is %s', (_what, isProbed, yields, isDown) => {
    const { admission, answers, receive, changes } = openAdmission({ hasTabs: true });
    answers.yields = yields;
    receive({ kind: 'down', scope: everything, isProbed }, 3);
    expect([admission.origin.health.isDown('a'), changes()]).toEqual([isDown, 1]);
  });

  test('is shown, with whose probe is waited for', () => {
    const { answers, receive, why, told } = openAdmission({ hasTabs: true });
    receive({ kind: 'down', scope: everything, isProbed: true }, 3);
    expect([why('a'), told]).toEqual([
      ['server-down', undefined],
      ['yield  to 3', 'rest '],
    ]);
    answers.isElsewhere = true;
    expect(why('a')).toEqual(['server-down', undefined, 'another-tab']);
  });

  test('that it is up: what waits goes at a time by chance within a second and a half', async () => {
    const { admission, receive, wait, told, reach, log, turn } = openAdmission({ hasTabs: true });
    receive({ kind: 'down', scope: everything, isProbed: false });
    wait('a');
    await turn();
    told.length = 0;
    receive({ kind: 'up', scope: everything });
    expect([log, told, admission.origin.health.isAnyDown()]).toEqual([[], ['leave '], false]);
    reach(750);
    expect(log).toEqual(['750 a trial']);
  });

  test('is asked until when to leave the probe to it', async () => {
    const { takeDown, wait, told, answers, reach, log, turn } = openAdmission({ hasTabs: true });
    takeDown('a');
    answers.waitsUntil = epochMs + 5000;
    reach(700);
    wait('a', { isForeground: () => false, maxPauseMs: 20_000 });
    await turn();
    expect(told.at(-1)).toBe('wait a false Infinity 17700');
    wait('a', { maxPauseMs: 30_000 });
    await turn();
    expect(told.at(-1)).toBe('wait a true 700 17700');
    reach(4999);
    expect(log).toEqual([]);
    reach(5000);
    expect(log).toEqual(['5000 a probe']);
    expect(told.at(-1)).toBe('wait a false Infinity 17700');
    wait('a', { maxPauseMs: 40_000 });
    await turn();
    expect(told.at(-1)).toBe('wait a true 5000 17700');
  });
});
