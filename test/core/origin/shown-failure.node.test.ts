import { describe, expect, test } from 'vitest';
import { everything } from '../../../src/core/origin/wait-queue.ts';
import { http, ok, network, openAdmission } from './admission-rig.ts';
import { epochMs } from './virtual-clock.ts';

describe('a failure that is shown', () => {
  test('is fetched again at once where nothing is down, one at a time, and nothing else is under way', async () => {
    const { watch, enter, log, turn, admission } = openAdmission();
    const other = enter('x');
    watch('a');
    watch('b', { isSeen: () => false });
    watch('c');
    await turn();
    expect(log).toEqual([]);
    other?.end();
    expect(log).toEqual(['0 a watched']);
    admission.reconsider();
    expect(log).toEqual(['0 a watched', '0 c watched']);
    admission.reconsider();
    expect(log).toHaveLength(2);
  });

  test('is not while its limit lasts, or it is not watched any more', async () => {
    const { watch, admission, log, turn } = openAdmission();
    admission.origin.limits.pause('a', 1000);
    watch('a');
    watch('b')();
    await turn();
    expect(log).toEqual([]);
  });

  test.each<[string, object, string[]]>([
    ['after the length of the outage, 5 s at least', {}, ['5000 a watched']],
    [
      'as for a user, while one waits for it',
      { awaitedUntil: epochMs + 99_000 },
      ['1200 a watched'],
    ],
    ['no longer than that', { awaitedUntil: epochMs }, ['5000 a watched']],
    ['once more before that ends', { awaitedUntil: epochMs + 4000 }, ['1200 a watched']],
    ['not while nobody sees it', { isSeen: () => false }, []],
  ])('of what is down is fetched again %s', async (_what, own, expected) => {
    const { watch, takeDown, reach, log, turn } = openAdmission();
    takeDown('a');
    watch('a', own);
    await turn();
    reach(20_000);
    expect(log).toEqual(expected);
  });

  test('is seen or not when its time has come, and not before', async () => {
    const { watch, takeDown, reach, log, turn } = openAdmission();
    let isSeen = false;
    takeDown('a');
    watch('a', { isSeen: () => isSeen });
    await turn();
    reach(4000);
    isSeen = true;
    reach(5000);
    expect(log).toEqual(['5000 a watched']);
  });

  test('is awaited until its time, and not at it', async () => {
    const { watch, takeDown, reach, log, turn } = openAdmission();
    takeDown('a');
    reach(1200);
    watch('a', { awaitedUntil: epochMs + 1200 });
    await turn();
    reach(6000);
    expect(log).toEqual(['5000 a watched']);
  });

  test('is told where anything is answered while nothing is down', async () => {
    const { watch, send, log, turn } = openAdmission();
    watch('a', { isSeen: () => false });
    await turn();
    send('b', http(404));
    expect(log).toEqual(['0 a back']);
  });

  test('of several that are down is that whose time comes first', async () => {
    const { watch, takeDownEach, reach, log, turn } = openAdmission();
    takeDownEach('a', 'b');
    watch('a');
    watch('b', { awaitedUntil: epochMs + 99_000 });
    await turn();
    reach(1500);
    expect(log).toEqual(['1202 b watched']);
    reach(6000);
    expect(log).toEqual(['1202 b watched', '5002 a watched']);
  });

  test('of two that are due at once is the first', async () => {
    const { watch, takeDown, reach, log, turn } = openAdmission();
    takeDown('a', 'b');
    watch('a');
    watch('b');
    await turn();
    reach(5000);
    expect(log[0]).toBe('5000 a watched');
  });

  test('is not awaited where its endpoint is broken by itself, or the device may be offline', async () => {
    const broken = openAdmission();
    broken.takeDown('a');
    broken.reach(1);
    broken.send('b', ok);
    broken.watch('a', { awaitedUntil: epochMs + 99_000 });
    await broken.turn();
    broken.reach(1300);
    // Its next probe is due at once since another one was answered.
    expect(broken.log).toEqual(['1200 a watched']);

    const doubtful = openAdmission();
    for (const _ of [1, 2]) doubtful.enter('a')?.end(network);
    doubtful.device.isDoubtful = true;
    doubtful.watch('a', { awaitedUntil: epochMs + 99_000 });
    await doubtful.turn();
    doubtful.reach(6000);
    expect(doubtful.log).toEqual(['5000 a watched']);
  });

  test('leaves the probe to what waits', async () => {
    const { watch, wait, takeDown, reach, log, turn } = openAdmission();
    takeDown('a');
    wait('a', { isForeground: () => false });
    watch('a');
    await turn();
    reach(7500);
    expect(log).toEqual(['7500 a probe']);
  });

  test('leaves the probe to another tab, which is told when it was probed last', async () => {
    const { watch, takeDown, told, answers, reach, log, turn } = openAdmission({ hasTabs: true });
    takeDown('a');
    answers.waitsUntil = epochMs + 9000;
    told.length = 0;
    watch('a');
    await turn();
    expect(told.at(-1)).toBe('wait a false 0 Infinity');
    reach(9000);
    expect(log).toEqual(['9000 a watched']);
  });

  test('is told when its outage ends, once, and not of another one', async () => {
    const { watch, send, takeDown, wait, reach, log, turn } = openAdmission();
    for (const name of ['a', 'b']) {
      send('ok', ok);
      reach(name === 'a' ? 1 : 2);
      takeDown(name);
    }
    watch('a');
    watch('b');
    const probe = wait('a');
    await turn();
    reach(1201);
    probe.end(ok);
    expect(log.slice(1)).toEqual(['1201 a back']);
    send('a', ok);
    expect(log).toHaveLength(2);
  });

  test('is told when another tab has found the end', async () => {
    const { watch, receive, log, turn } = openAdmission({ hasTabs: true });
    receive({ kind: 'down', scope: everything, isProbed: false });
    watch('a');
    await turn();
    receive({ kind: 'up', scope: everything });
    expect(log).toEqual(['0 a back']);
  });
});
