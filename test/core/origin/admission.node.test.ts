import { describe, expect, test } from 'vitest';
import { everything } from '../../../src/core/origin/wait-queue.ts';
import { limitConcurrency } from '../../../src/core/origin/origin.ts';
import { http, ok, outage, network, timeout, openAdmission } from './admission-rig.ts';
import { epochMs } from './virtual-clock.ts';

describe('while nothing waits, and nothing is known', () => {
  test('a success changes nothing, and a failure does', () => {
    const { send, changes, clock } = openAdmission();
    send('a', ok);
    expect(changes()).toBe(0);
    send('a', http(404));
    expect(changes()).toBe(1);
    expect(clock.pending()).toBe(0);
  });

  test('a permit that is given back changes nothing, and ends once', () => {
    const { enter, changes, admission } = openAdmission();
    const permit = enter('a');
    permit?.free();
    permit?.end();
    permit?.end(outage);
    expect([changes(), admission.origin.health.of('a')]).toEqual([0, undefined]);
    expect([permit?.isProbe, permit?.isTrial]).toEqual([false, false]);
  });

  test('news of the network, and of what is seen, change nothing', () => {
    const { admission, listeners, changes } = openAdmission();
    for (const listener of listeners.change) listener();
    admission.reconsider();
    expect(changes()).toBe(0);
    for (const listener of listeners.back) listener();
    expect(changes()).toBe(1);
  });

  test.each<[string, (rig: ReturnType<typeof openAdmission>) => void]>([
    ['something waits', ({ wait, device }) => void ((device.isOffline = true), wait('a'))],
    ['a failure is shown', ({ watch }) => void watch('a', { isSeen: () => false })],
    ['a limit is known', ({ admission }) => admission.origin.limits.pause('b', 1000)],
    ['something is down', ({ takeDown }) => takeDown('b')],
  ])('but where %s, they do', async (_what, begin) => {
    const rig = openAdmission();
    begin(rig);
    await rig.turn();
    const before = rig.changes();
    rig.admission.reconsider();
    rig.send('c', ok, { mayBeOffline: true });
    expect(rig.changes()).toBe(before + 2);
  });

  test('nothing is watched for sleep, which is looked for all the same', async () => {
    const { admission, sleep, device, wait, turn } = openAdmission();
    admission.hastenProbes();
    expect([sleep.checks, sleep.untils]).toEqual([1, [0]]);
    device.isOffline = true;
    wait('a');
    await turn();
    expect([sleep.checks, sleep.untils]).toEqual([2, [0, Infinity]]);
  });
});

describe('an instance is idle', () => {
  test.each<[string, boolean, (rig: ReturnType<typeof openAdmission>) => void]>([
    ['with nothing', true, () => {}],
    ['not while something is under way', false, ({ enter }) => void enter('a')],
    ['not while something waits', false, ({ wait }) => void wait('a')],
    ['not while something is down', false, ({ takeDown }) => takeDown('a')],
    [
      'a minute after that, where nothing was asked',
      true,
      ({ takeDown, reach }) => {
        takeDown('a');
        reach(60_000);
      },
    ],
    [
      'not before',
      false,
      ({ takeDown, reach }) => {
        takeDown('a');
        reach(59_999);
      },
    ],
  ])('%s: %s', (_what, expected, begin) => {
    const rig = openAdmission();
    begin(rig);
    expect(rig.admission.isIdle()).toBe(expected);
  });

  test('and open for a new attempt again, which does not count as asked', () => {
    const { admission, takeDown, reach } = openAdmission();
    takeDown('a');
    const isOpen = (): boolean => admission.isOpen({ endpoint: 'a', limitScope: 'a', risk: 0 });
    reach(59_999);
    expect(isOpen()).toBe(false);
    reach(60_000);
    expect(isOpen()).toBe(true);
  });

  test('but an outage is not forgotten while something waits', async () => {
    const { admission, takeDown, wait, reach, turn } = openAdmission();
    takeDown('a');
    wait('a', { maxPauseMs: 100_000, isForeground: () => false });
    await turn();
    reach(1000);
    admission.origin.health.down()[0]?.probes.start();
    reach(70_000);
    expect(admission.origin.health.isDown('a')).toBe(true);
  });
});

describe('what is shown has a timer of its own only while it is watched', () => {
  test.each([
    [true, 1],
    [false, 0],
  ])('watched: %s', (isWatched, fired) => {
    const { admission, takeDown, reach, clock, changes } = openAdmission({ isWatched });
    takeDown('a');
    const before = changes();
    reach(59_999);
    expect(clock.fired()).toBe(0);
    reach(60_000);
    expect([clock.fired(), changes() - before]).toEqual([fired, fired]);
    expect(admission.origin.health.isAnyDown()).toBe(!isWatched);
    reach(600_000);
    expect(clock.fired()).toBe(fired);
  });

  test('at the end of the first limit', () => {
    const { admission, reach, clock } = openAdmission({ isWatched: true });
    admission.origin.limits.pause('a', 1000);
    admission.origin.limits.pause('b', 2000);
    admission.reconsider();
    reach(1050);
    expect(clock.fired()).toBe(1);
    reach(90_000);
    expect(clock.fired()).toBe(2);
  });
});

describe('after the end of the instance', () => {
  test('nothing is watched, joined or probed any more, and no timer runs', async () => {
    const { admission, takeDown, watch, listeners, told, clock, turn, log } = openAdmission({
      isWatched: true,
      hasTabs: true,
    });
    takeDown('a');
    watch('a');
    await turn();
    expect(clock.pending()).toBe(1);
    told.length = 0;
    admission.dispose();
    expect([listeners.change.size, listeners.back.size, clock.pending()]).toEqual([0, 0, 0]);
    expect(told).toEqual(['close', 'leave ']);
    expect([admission.origin.health.isAnyDown(), log]).toEqual([false, []]);
  });

  test('what waits goes on as before', async () => {
    const { admission, takeDown, wait, reach, turn, log } = openAdmission();
    takeDown('a');
    wait('a');
    await turn();
    admission.dispose();
    reach(1200);
    expect(log).toEqual(['1200 a probe']);
  });

  test('and a limit has no timer', () => {
    const { admission, clock } = openAdmission({ isWatched: true });
    admission.origin.limits.pause('a', 1000);
    admission.dispose();
    expect(clock.pending()).toBe(0);
  });
});

describe('where a place is needed', () => {
  const few = (own: object = {}) =>
    openAdmission({ options: { concurrency: limitConcurrency({ maxInFlight: 1, ...own }) } });

  test('it is free once the headers are there, or the attempt has ended, and once for each', async () => {
    const { enter, wait, log, turn } = few();
    const first = enter('a');
    const [second, third, fourth] = ['b', 'c', 'd'].map((name) => wait(name));
    await turn();
    expect([log, second?.pause(), third?.pause()]).toEqual([
      [],
      ['queued', undefined],
      ['queued', undefined],
    ]);
    first?.free();
    expect(log).toEqual(['0 b']);
    first?.free();
    first?.end(ok);
    expect(log).toEqual(['0 b']);
    second?.end(ok);
    expect(log).toEqual(['0 b', '0 c']);
    third?.end();
    expect(log).toEqual(['0 b', '0 c', '0 d']);
    fourth?.end();
  });

  test('a place that is free says nothing where nothing waits, and once where something does', async () => {
    const { enter, wait, changes, turn } = few();
    const permit = enter('a');
    permit?.free();
    expect(changes()).toBe(0);
    const second = enter('a');
    for (const name of ['b', 'c']) wait(name);
    await turn();
    second?.free();
    const before = changes();
    second?.free();
    expect(changes()).toBe(before);
  });

  test('what comes in one tick is looked at once', async () => {
    const { enter, wait, changes, turn } = few();
    enter('a');
    for (const name of ['b', 'c', 'd']) wait(name);
    expect(changes()).toBe(0);
    await turn();
    expect(changes()).toBe(1);
  });

  test.each([
    ['its time', { queueTimeoutMs: 500 }, '500 b expired'],
    ['the longest pause, where that is shorter', { queueTimeoutMs: 70_000 }, '60000 b expired'],
    ['the longest pause', {}, '60000 b expired'],
    ['no time, where the queue is full', { maxQueued: 0 }, '0 b expired'],
  ])('it is waited for as long as %s', async (_what, own, expected) => {
    const { enter, wait, reach, log, turn } = few(own);
    enter('a');
    wait('b');
    await turn();
    reach(90_000);
    expect(log).toEqual([expected]);
  });

  test('its limits do not hold for what waits for an outage', async () => {
    const { takeDown, wait, reach, log, turn } = few({ maxQueued: 0, queueTimeoutMs: 100 });
    takeDown('a');
    wait('a');
    await turn();
    reach(1200);
    expect(log).toEqual(['1200 a probe']);
  });

  test('what leaves makes room for another one', async () => {
    const { admission, enter, wait, log, turn, changes } = few({ maxQueued: 1 });
    enter('a');
    const { waiter } = wait('b');
    await turn();
    const before = changes();
    admission.leave(waiter);
    await turn();
    admission.leave(waiter);
    await turn();
    expect(changes()).toBe(before + 1);
    wait('c');
    await turn();
    expect(log).toEqual([]);
  });
});

describe('an attempt that is the only one of its operation', () => {
  test('fails at once where its endpoint is down, and waits for the network and for a limit', async () => {
    const { admission, device, takeDown, wait, reach, log, turn } = openAdmission();
    takeDown('a');
    // Nothing is asked of it for a while before, so that it could pass.
    admission.origin.health.recordSent('a', epochMs);
    wait('a', { isOnce: true });
    await turn();
    expect(log.splice(0)).toEqual(['0 a expired']);
    admission.origin.limits.pause('b', 1000);
    wait('b', { isOnce: true });
    await turn();
    reach(1050);
    expect(log.splice(0)).toEqual(['1050 b']);
    device.isOffline = true;
    wait('c', { isOnce: true });
    await turn();
    expect(log).toEqual([]);
  });
});

describe('a wait that ends', () => {
  test.each([
    ['after its limit, and before its turn, is sent', 1020, {}, '1020 a'],
    ['before its limit is not, and is told at once', 999, {}, '0 a expired'],
    ['with its limit is sent', 1000, {}, '1000 a'],
    [
      'after its limit is not sent where it does not wait',
      1020,
      { isFailFast: true },
      '0 a expired',
    ],
  ])('%s', async (_what, maxPauseMs, own, expected) => {
    const { admission, wait, reach, log, turn } = openAdmission();
    admission.origin.limits.pause('a', 1000);
    wait('a', { maxPauseMs, ...own });
    await turn();
    reach(5000);
    expect(log).toEqual([expected]);
  });

  test('in a slow start goes in its turn, if nothing else holds it back', async () => {
    const { admission, takeDown, wait, reach, log, turn } = openAdmission();
    takeDown('a');
    reach(29_000);
    const [probe] = [1, 2, 3].map(() => wait('a', { isForeground: () => false, maxPauseMs: 2000 }));
    await turn();
    admission.probeNow();
    probe?.end(ok);
    admission.origin.slowStart.observe(false, 100_000);
    admission.origin.limits.pause('limited', 90_000);
    wait('a', { limitScope: 'limited' });
    await turn();
    expect(log).toEqual(['29000 a probe', '29000 a trial', '29000 a expired']);
    reach(90_000);
    expect(log.slice(3)).toEqual(['41000 a trial']);
  });
});

test('what shows nothing of an origin changes nothing there', () => {
  const { send, admission } = openAdmission();
  for (const _ of [1, 2, 3]) send('a', { kind: 'aborted', processed: 'unknown' });
  expect([admission.origin.health.of('a'), admission.outcomes.lastFailure]).toEqual([
    undefined,
    undefined,
  ]);
  send('a', timeout);
  expect(admission.outcomes.lastFailure).toBe('a');
});

test.each([
  ['before the end of an outage, or as it ends', 1200, false],
  ['after it', 1201, true],
])('time-outs of what was sent %s count, or not', async (_what, sentAt, isDown) => {
  const { takeDown, enter, wait, reach, admission, turn } = openAdmission();
  takeDown('a');
  const probe = wait('a');
  await turn();
  reach(1200);
  probe.end(ok);
  reach(sentAt);
  const hanging = [1, 2].map(() => enter('b'));
  reach(9000);
  for (const one of hanging) one?.end(timeout);
  expect(admission.origin.health.isDown('b')).toBe(isDown);
});

test('a refusal of what a user has forced leaves the pause as it was', async () => {
  const { admission, wait, reach, turn } = openAdmission();
  admission.origin.limits.pause('a', 1000);
  const forced = wait('a');
  await turn();
  reach(1);
  admission.force(forced.waiter);
  forced.end(http(429));
  expect(admission.origin.limits.until({ limitScope: 'a' }) - epochMs).toBe(1050);
});

test('what is left of a limit is less only those that are under way in it', () => {
  const { admission, enter } = openAdmission();
  for (const name of ['a', 'b', 'c']) enter(name);
  admission.allow('a', { remaining: 1, resetAt: epochMs + 5000 });
  expect([enter('a') !== undefined, enter('a')]).toEqual([true, undefined]);
  expect(admission.origin.limits.until({ limitScope: 'a' }) - epochMs).toBe(5250);
});

test('a probe that has shown nothing is followed by one 2 s after it, and one that was not sent at once', async () => {
  for (const [isUnused, at] of [
    [false, 3200],
    [true, 2000],
  ] as const) {
    const { takeDown, wait, reach, log, turn } = openAdmission();
    takeDown('a');
    const [probe] = [wait('a'), wait('a')];
    await turn();
    reach(2000);
    probe?.end(undefined, isUnused);
    reach(4000);
    expect(log).toEqual(['1200 a probe', `${at} a probe`]);
  }
});

test('with health: false nothing is down, whatever fails, and whoever says so', () => {
  const { send, receive, admission, device } = openAdmission({
    options: { health: false },
    hasTabs: true,
  });
  device.isDoubtful = true;
  for (const _ of [1, 2, 3, 4]) send('a', network);
  receive({ kind: 'down', scope: everything, isProbed: false });
  expect(admission.origin.health.isAnyDown()).toBe(false);
});

test('what is down for a second time has no time of its probe until one is planned', async () => {
  const { takeDown, wait, why, reach, turn, clock } = openAdmission();
  takeDown('a');
  const first = wait('a');
  await turn();
  expect(why('a')).toEqual(['server-down', 1200]);
  reach(1200);
  first.end(ok);
  clock.advance(1);
  takeDown('a');
  wait('a');
  expect(why('a')).toEqual(['server-down', undefined]);
  await turn();
  expect(why('a')).toEqual(['server-down', 2401]);
});
