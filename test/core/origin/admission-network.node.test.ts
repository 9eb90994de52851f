import { describe, expect, test } from 'vitest';
import type { Reach } from '../../../src/core/origin/health/unreadable.ts';
import { stateOf } from '../../../src/core/origin/status.ts';
import { http, ok, outage, network, timeout, openAdmission } from './admission-rig.ts';
import { epochMs } from './virtual-clock.ts';

describe('while the device is offline', () => {
  test('what needs a network waits, and is told when that is looked for, until it is back', async () => {
    const { device, listeners, enter, wait, why, log, turn } = openAdmission();
    device.isOffline = true;
    expect([enter('a'), why('a')]).toEqual([undefined, ['offline', 99_000]]);
    expect(enter('b', { mayBeOffline: true })).toBeDefined();
    const waiting = wait('a');
    await turn();
    expect([log, waiting.pause()]).toEqual([[], ['offline', 99_000]]);
    device.isOffline = false;
    for (const listener of listeners.change) listener();
    expect(log).toEqual(['0 a']);
  });

  test('one attempt without an answer is enough, if the browser says so; an error is an answer', () => {
    for (const [outcome, isDown] of [
      [network, true],
      [timeout, true],
      [http(503), false],
    ] as const) {
      const { device, send, admission } = openAdmission();
      device.isDoubtful = true;
      send('a', outcome);
      expect(admission.origin.health.isDown('b')).toBe(isDown);
    }
    const { send, admission } = openAdmission();
    send('a', network);
    expect(admission.origin.health.isDown('b')).toBe(false);
  });

  test('what is down is shown as offline where nothing was answered', async () => {
    const { device, enter, why, admission, wait, turn } = openAdmission();
    for (const _ of [1, 2]) enter('a')?.end(network, 'a');
    expect(why('a')).toEqual(['server-down', undefined]);
    device.isDoubtful = true;
    expect(why('a')).toEqual(['offline', undefined]);
    wait('a', { isForeground: () => false });
    await turn();
    // The browser says when it is back: until then it is asked as in the background.
    expect(why('a')).toEqual(['offline', 7500]);
    expect(stateOf(admission.origin).status).toBe('up');
    const other = openAdmission();
    other.takeDown('a');
    other.device.isDoubtful = true;
    expect(other.why('a')).toEqual(['server-down', undefined]);
  });

  test.each([
    [true, '7500 a probe'],
    [false, '1200 a probe'],
  ])(
    'the probe of a user is rare where the browser says so (%s), and a press of theirs hastens it not',
    async (isDoubtful, expected) => {
      const { device, enter, wait, reach, log, turn } = openAdmission();
      for (const _ of [1, 2]) enter('a')?.end(network, 'a');
      device.isDoubtful = isDoubtful;
      wait('a');
      await turn();
      reach(8000);
      expect(log.slice(0, 1)).toEqual([expected]);
    },
  );

  test.each([
    [true, ['32500 a probe']],
    [false, ['12000 a probe']],
  ])(
    'a press of a user has what is down probed at once, unless that may be (%s)',
    async (isDoubtful, expected) => {
      const { device, enter, wait, reach, log, turn, admission } = openAdmission();
      for (const _ of [1, 2]) enter('a')?.end(network, 'a');
      device.isDoubtful = isDoubtful;
      for (const at of [5000, 10_000]) {
        reach(at);
        admission.origin.health.of('a')?.probes.start()(true);
      }
      reach(12_000);
      wait('a', { isWish: true });
      await turn();
      reach(60_000);
      expect(log.slice(0, 1)).toEqual(expected);
    },
  );

  test('no retry of a user is a time to probe at, where the browser says so', async () => {
    const { device, enter, wait, reach, log, turn } = openAdmission();
    for (const _ of [1, 2]) enter('a')?.end(network, 'a');
    device.isDoubtful = true;
    wait('a', { retriesAt: [epochMs + 1000] });
    await turn();
    reach(8000);
    expect(log[0]).toBe('7500 a probe');
  });
});

describe('after sleep', () => {
  test('waits are as much longer, and what was rejected is probed at once', async () => {
    const { enter, wait, sleep, reach, clock, log, turn } = openAdmission();
    for (const _ of [1, 2]) enter('a')?.end(network, 'a');
    const first = wait('a', { isForeground: () => false, maxPauseMs: 10_000 });
    wait('a', { isForeground: () => false, maxPauseMs: 10_000 });
    await turn();
    reach(3000);
    sleep.wake(5000);
    expect(log).toEqual(['3000 a probe']);
    expect(first.waiter.expiresAt - epochMs).toBe(10_000 + 5000);
    reach(14_999);
    expect(log).toHaveLength(1);
    reach(15_000);
    expect([log.at(-1), clock.elapsed()]).toEqual(['15000 a expired', 15_000]);
  });
});

describe('answers that the page may not read', () => {
  const found: Reach = { wasReached: () => true, check: () => Promise.resolve(true) };

  test('are no outage: what waits goes, the other tabs hear of it, and what follows counts for nothing', async () => {
    const { send, why, told, admission } = openAdmission({
      hasTabs: true,
      reach: found,
    });
    send('a', network);
    told.length = 0;
    send('a', network);
    expect(told).toEqual([
      { kind: 'down', scope: 'a', isProbed: false },
      { kind: 'up', scope: 'a' },
      'leave a',
    ]);
    for (const _ of [1, 2, 3]) send('a', network);
    expect([admission.origin.health.isAnyDown(), why('a')]).toEqual([false, ['queued', undefined]]);
  });

  test('are so without tabs; a time-out there is an outage', () => {
    const { send, admission } = openAdmission({ reach: found });
    for (const _ of [1, 2, 3]) send('a', network);
    expect(admission.origin.health.isAnyDown()).toBe(false);
    for (const _ of [1, 2]) send('a', timeout);
    expect(admission.origin.health.isAnyDown()).toBe(true);
  });

  test('end only outages that they explain, after which what waits goes', async () => {
    let isReached = false;
    const { send, wait, admission, log, turn } = openAdmission({
      reach: { wasReached: () => isReached, check: () => Promise.resolve(false) },
    });
    for (const _ of [1, 2]) send('b', outage);
    send('c', ok);
    for (const _ of [1, 2]) send('a', network);
    wait('a');
    await turn();
    isReached = true;
    admission.outcomes.unreadable.recordFailure('a', epochMs, true);
    expect([log, admission.origin.health.isDown('b')]).toEqual([['0 a'], true]);
  });

  test('are no failures of their endpoint, and are no longer believed after a time-out', () => {
    const { send, admission, told } = openAdmission({ hasTabs: true, reach: found });
    for (const _ of [1, 2]) send('a', network);
    told.length = 0;
    for (const _ of [1, 2, 3]) send('a', network);
    expect([told, admission.origin.health.of('a')?.failures]).toEqual([[], 0]);
    send('b', timeout);
    expect(admission.outcomes.unreadable.has('a')).toBe(false);
  });

  test('are looked for again in the minute after an answer', async () => {
    let checks = 0;
    const { send, clock } = openAdmission({
      reach: { wasReached: () => false, check: () => Promise.resolve(++checks < 0) },
    });
    for (const [name, count] of [
      ['a', 1],
      ['b', 2],
    ] as const) {
      for (const _ of [1, 2]) send(name, network);
      expect(checks).toBe(count);
      clock.advance(500);
      send('c', ok);
      clock.advance(1);
    }
  });

  test('end with an answer that is read', () => {
    let isReached = true;
    const { send, admission, reach } = openAdmission({
      reach: { wasReached: () => isReached, check: () => Promise.resolve(false) },
    });
    for (const _ of [1, 2]) send('a', network);
    isReached = false;
    reach(1);
    send('a', ok);
    reach(2);
    for (const _ of [1, 2]) send('a', network);
    expect(admission.origin.health.isAnyDown()).toBe(true);
  });
});
