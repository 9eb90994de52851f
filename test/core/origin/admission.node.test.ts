import { describe, expect, test } from 'vitest';
import { Admission } from '../../../src/core/origin/admission.ts';
import type { Ask, Pause, Permit, Target, Waiter } from '../../../src/core/origin/ask.ts';
import { everything } from '../../../src/core/origin/wait-queue.ts';
import type { Reach } from '../../../src/core/origin/health/unreadable.ts';
import {
  limitConcurrency,
  type OriginOptions,
  type Watcher,
} from '../../../src/core/origin/origin.ts';
import { stateOf } from '../../../src/core/origin/status.ts';
import type { Outcome } from '../../../src/core/policy/outcome.ts';
import type { Leader, TabMessage } from '../../../src/core/tabs/leader.ts';
import { createVirtualClock, epochMs } from './virtual-clock.ts';

const http = (status: number): Outcome => ({
  kind: 'http',
  status,
  processed: 'no',
  retryAfterMs: undefined,
  inProgress: false,
});
const ok: Outcome = { kind: 'ok', status: 200, processed: 'yes' };
const outage = http(503);
const network: Outcome = { kind: 'network', processed: 'unknown' };
const timeout: Outcome = { kind: 'timeout', phase: 'headers', processed: 'unknown' };

/** A leader of the tabs that notes what it is told, and answers as it is told to. */
function fakeLeader() {
  const told: unknown[] = [];
  const answers = { yields: true, isElsewhere: false, waitsUntil: 0, repeatAt: Infinity };
  const leader: Leader = {
    post: (message) => void told.push(message),
    close: () => void told.push('close'),
    yieldTo: (scope, from) => {
      told.push(`yield ${scope} to ${from}`);
      return answers.yields;
    },
    isElsewhere: () => answers.isElsewhere,
    waitsUntil: (scope, isForeground, sinceMs, lastAt) => {
      told.push(`wait ${scope} ${isForeground} ${sinceMs - epochMs} ${lastAt - epochMs}`);
      return answers.waitsUntil;
    },
    lead: (scope) => void told.push(`lead ${scope}`),
    rest: (scope) => void told.push(`rest ${scope}`),
    leave: (scope) => void told.push(`leave ${scope}`),
    repeat: () => answers.repeatAt,
  };
  return { leader, told, answers };
}

interface Setting {
  readonly options?: OriginOptions;
  readonly isWatched?: boolean;
  readonly hasTabs?: boolean;
  readonly reach?: Reach;
}

function openAdmission({ options = {}, isWatched = false, hasTabs = false, reach }: Setting = {}) {
  const clock = createVirtualClock();
  const { leader, told, answers } = fakeLeader();
  const device = { isOffline: false, isDoubtful: false, retryAt: epochMs + 99_000 };
  const listeners = { change: new Set<() => void>(), back: new Set<() => void>() };
  const sleep = { checks: 0, untils: [] as number[], wake: (_asleepMs: number): void => {} };
  let changes = 0;
  let receive = (_message: TabMessage, _from: number): void => {};
  const admission = new Admission(options, {
    clock,
    random: () => 0.5,
    network: {
      isOffline: () => device.isOffline,
      isDoubtful: () => device.isDoubtful,
      retryAt: () => device.retryAt,
      subscribe: (listener) => {
        listeners.change.add(listener);
        return () => void listeners.change.delete(listener);
      },
      onBack: (listener) => {
        listeners.back.add(listener);
        return () => void listeners.back.delete(listener);
      },
      sleepDetector: {
        check: () => void sleep.checks++,
        watch: (onWake) => {
          sleep.wake = onWake;
          return (until) => void sleep.untils.push(until);
        },
      },
    },
    isWatched: () => isWatched,
    reach,
    ...(hasTabs && {
      joinTabs: (listener) => {
        receive = listener;
        return leader;
      },
    }),
    onChange: () => void changes++,
  });
  const log: string[] = [];
  let lastId = 0;
  const targetOf = (name: string, own: Partial<Ask> = {}): Ask => ({
    endpoint: name,
    resource: name,
    limitScope: name,
    isNew: true,
    id: ++lastId,
    risk: 0,
    priority: 'user-visible',
    isForeground: () => true,
    isFailFast: false,
    askedAt: clock.now(),
    maxPauseMs: 60_000,
    ...own,
  });
  const enter = (name: string, own?: Partial<Target>): Permit | undefined =>
    admission.enter(targetOf(name, own));
  return {
    admission,
    clock,
    told,
    answers,
    device,
    listeners,
    sleep,
    log,
    enter,
    changes: () => changes,
    receive: (message: TabMessage, from = 0) => receive(message, from),
    reach: (at: number) => clock.advance(at - clock.elapsed()),
    /** Sends it, and ends it at once. */
    send: (name: string, outcome: Outcome, own?: Partial<Target>) =>
      enter(name, own)?.end(outcome, name),
    /** Waits, and notes when it goes or expires. */
    wait(name: string, own: Partial<Ask> = {}) {
      let permit: Permit | undefined;
      let pause: Pause | undefined;
      const request = targetOf(name, own);
      const waiter: Waiter = admission.wait(request, {
        onPause: (why) => void (pause = why),
        take: (given) => {
          permit = given;
          const how = given
            ? given.isProbe
              ? ' probe'
              : given.isTrial
                ? ' trial'
                : ''
            : ' expired';
          log.push(`${clock.elapsed()} ${name}${how}`);
        },
      });
      return {
        waiter,
        end: (outcome?: Outcome, isUnused?: boolean) => permit?.end(outcome, name, isUnused),
        free: () => permit?.free(),
        pause: () => pause && [pause.reason, pause.retryAt && pause.retryAt - epochMs],
      };
    },
    why: (name: string, own: Partial<Ask> = {}) => {
      const { reason, retryAt, probedBy } = admission.whyPaused(targetOf(name, own));
      return [reason, retryAt && retryAt - epochMs, ...(probedBy ? [probedBy] : [])];
    },
    /** A failure that is shown, which is fetched again. */
    watch(name: string, { isSeen = (): boolean => true, awaitedUntil = -Infinity } = {}) {
      const watcher: Watcher = {
        place: { endpoint: name, resource: name, limitScope: name, risk: 0 },
        isSeen,
        awaitedUntil: () => awaitedUntil,
        probe: () => void log.push(`${clock.elapsed()} ${name} watched`),
        onBack: () => void log.push(`${clock.elapsed()} ${name} back`),
      };
      return admission.watch(watcher);
    },
    /** Takes an endpoint down, or the whole origin by two of them. */
    takeDown(...names: readonly string[]) {
      for (const name of names.length === 1 ? [...names, ...names] : names)
        enter(name, { isNew: true })?.end(outage, name);
    },
    /** Takes endpoints down, each by itself, and all at the same time: it has failed, and another tab says the rest. */
    takeDownEach(...names: readonly string[]) {
      for (const name of names) {
        enter('ok')?.end(ok);
        clock.advance(1);
        enter(name)?.end(outage, name);
      }
      for (const name of names) admission.origin.health.follow(name);
    },
    turn: () => Promise.resolve(),
  };
}

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

describe('a probe goes with the retry of a user', () => {
  test.each([
    ['that comes before it', [1000], 1000],
    ['that comes up to 300 ms later', [1500], 1500],
    ['and not with one that comes later', [1501], 1200],
    ['and not with one that was before the outage', [-1, 0, 1400], 1400],
  ])('%s: %j, at %d', async (_what, retries, at) => {
    const { takeDown, wait, why, reach, log, turn } = openAdmission();
    takeDown('a');
    wait('a', { retriesAt: retries.map((ms) => epochMs + ms) });
    await turn();
    expect(why('a')).toEqual(['server-down', at]);
    reach(2000);
    expect(log).toEqual([`${at} a probe`]);
  });
});

describe('the time of the next probe is shown', () => {
  test('where something waits for it that may go, whatever else waits', async () => {
    const { admission, takeDown, wait, why, turn } = openAdmission();
    takeDown('a');
    admission.origin.limits.pause('limited', 30_000);
    wait('b', { limitScope: 'limited' });
    await turn();
    expect(why('a')).toEqual(['server-down', undefined]);
    wait('a', { limitScope: 'limited', hasFailed: true, isForeground: () => false });
    await turn();
    expect(why('a')).toEqual(['server-down', undefined]);
    wait('a');
    await turn();
    expect(why('a')).toEqual(['server-down', 1200]);
  });

  test('as that of a user as soon as the page is seen', async () => {
    const { admission, takeDown, wait, why, reach, turn } = openAdmission();
    let isSeen = false;
    takeDown('a');
    wait('a', { isForeground: () => isSeen });
    await turn();
    expect(why('a')).toEqual(['server-down', 7500]);
    isSeen = true;
    reach(500);
    admission.reconsider();
    expect(why('a')).toEqual(['server-down', 1200]);
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

describe('a slow start', () => {
  /** An endpoint was down for 29 s, and so many wait when its probe is answered. */
  const begin = async (count: number, downMs = 29_000, latencyMs = 0) => {
    const rig = openAdmission();
    rig.send('a', ok);
    rig.reach(1);
    rig.takeDown('a');
    // A URL that has not failed goes at once.
    const old = rig.enter('a', { resource: 'old' });
    rig.reach(downMs + 1);
    const waiting = Array.from({ length: count }, () =>
      rig.wait('a', { isForeground: () => false }),
    );
    await rig.turn();
    if (rig.log.length === 0) rig.admission.probeNow();
    rig.reach(downMs + 1 + latencyMs);
    const early = rig.clock.elapsed();
    waiting[0]?.end(ok);
    /** When the others go, after the answer to the probe. */
    const sent = (): number[] =>
      rig.log.slice(1).map((line) => Math.round(Number.parseFloat(line) - early));
    return { ...rig, old, waiting, sent, early, after: (ms: number) => rig.reach(early + ms) };
  };

  test('has its gaps by the length of the outage, until the probe that ended it began', async () => {
    const { sent, after } = await begin(11, 10_000, 2000);
    after(300);
    // A bound of 1 s: it was down for 10 s.
    expect(sent().slice(0, 2)).toEqual([0, 111]);
  });

  test('counts an outage from when the device had a network, or another one', async () => {
    const rig = openAdmission();
    for (const _ of [1, 2]) rig.enter('a')?.end(network);
    rig.reach(40_000);
    rig.admission.hastenProbes();
    const waiting = Array.from({ length: 21 }, () => rig.wait('a'));
    await rig.turn();
    waiting[0]?.end(ok);
    rig.reach(40_060);
    expect(rig.log).toEqual(['40000 a probe', '40000 a trial', '40035 a trial']);
  });

  test('is over when nothing waits any more: then a retry goes at once', async () => {
    const { admission, enter, log } = await begin(2);
    expect(log).toHaveLength(2);
    expect(stateOf(admission.origin).status).toBe('up');
    expect(enter('a', { isNew: false })).toBeDefined();
  });

  test.each<[string, Outcome | undefined, Outcome | undefined, number]>([
    ['nothing', undefined, undefined, 208],
    ['a failure of what it has sent', outage, undefined, 1000],
    ['an answer to what it has sent', ok, undefined, 146],
    ['a failure of what was sent before', undefined, outage, 208],
    ['an answer to what was sent before', undefined, ok, 208],
  ])('goes on after %s', async (_what, own, earlier, nextMs) => {
    const { waiting, sent, after, old } = await begin(40);
    after(100);
    waiting[1]?.end(own);
    old?.end(earlier);
    after(3000);
    expect(sent()[1]).toBe(nextMs);
  });

  test('counts each of its attempts once, and no others', async () => {
    const nextMs = async (
      act: (rig: Awaited<ReturnType<typeof begin>>) => void,
    ): Promise<number> => {
      const rig = await begin(40);
      rig.after(1500);
      act(rig);
      return Math.round(rig.admission.origin.slowStart.nextAt('a') - epochMs - rig.early);
    };
    const one = await nextMs(({ waiting }) => waiting[1]?.end());
    expect([
      await nextMs(() => {}),
      one,
      await nextMs(({ waiting }) => {
        waiting[1]?.free();
        waiting[1]?.free();
        waiting[1]?.end();
      }),
      await nextMs(({ enter }) => enter('x')?.end()),
    ]).toEqual([3123, one, one, 3123]);
  });

  test('ends where what it is for is down again, and not where a part of it is', async () => {
    const { admission, send, after } = await begin(40);
    const isUnderWay = (): boolean => admission.origin.slowStart.isUnderWay();
    after(1);
    for (const resource of ['a/1', 'a/2']) send('a', outage, { resource });
    expect([admission.origin.health.isDown('a'), isUnderWay()]).toEqual([true, false]);

    const whole = openAdmission();
    const { slowStart, health } = whole.admission.origin;
    const early = whole.enter('c');
    whole.takeDown('a', 'b');
    for (let count = 0; count < 9; count++) whole.wait('a');
    whole.clock.advance(500);
    early?.end(ok);
    whole.clock.advance(1);
    for (const _ of [1, 2]) whole.send('d', outage);
    expect([health.isDown('d'), health.isDown('e'), slowStart.isUnderWay()]).toEqual([
      true,
      false,
      true,
    ]);
    whole.send('e', outage);
    expect([health.isDown('e'), slowStart.isUnderWay()]).toEqual([true, false]);
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

describe('a user', () => {
  test('who asks again waits from then on', async () => {
    const { admission, takeDown, wait, reach, log, turn } = openAdmission();
    takeDown('a');
    const { waiter } = wait('a', { isForeground: () => false, maxPauseMs: 5000 });
    admission.origin.health.down()[0]?.probes.start();
    await turn();
    reach(4000);
    admission.renew(waiter);
    reach(8999);
    expect(log).toEqual([]);
    reach(9000);
    expect(log).toEqual(['9000 a expired']);
  });

  test('may send one whatever is known, as the probe, and what waits behind it goes on', async () => {
    const { admission, takeDown, wait, log, turn } = openAdmission();
    takeDown('a');
    const { waiter } = wait('a');
    const other = wait('a');
    await turn();
    admission.force(waiter);
    expect([log, other.pause()]).toEqual([['0 a probe'], ['server-down', undefined]]);
    admission.force(waiter);
    expect(log).toHaveLength(1);
  });

  test('who forces one in a slow start does not send it as a part of that', async () => {
    const { admission, takeDown, wait, reach, log, turn } = openAdmission();
    takeDown('a');
    const waiting = Array.from({ length: 6 }, () => wait('a'));
    await turn();
    reach(1200);
    waiting[0]?.end(ok);
    const forced = waiting.at(-1);
    if (forced) admission.force(forced.waiter);
    expect(log).toEqual(['1200 a probe', '1200 a trial', '1200 a']);
  });

  test('who asks for a probe of all that is down has one of each, and a second one 1.2 s later', async () => {
    const { admission, takeDownEach, wait, reach, log, turn } = openAdmission();
    takeDownEach('a', 'b', 'c');
    reach(1000);
    for (const name of ['a', 'b']) wait(name, { isForeground: () => false });
    // It has no time of its own: it waits for its limit.
    admission.origin.limits.pause('limited', 60_000);
    wait('c', { isForeground: () => false, limitScope: 'limited' });
    await turn();
    reach(2000);
    admission.probeNow();
    expect(log).toEqual(['2000 a probe', '2000 b probe']);
    for (const name of ['a', 'b']) wait(name, { isForeground: () => false });
    await turn();
    reach(3199);
    admission.probeNow();
    expect(log).toHaveLength(2);
    reach(3200);
    admission.probeNow();
    expect(log).toHaveLength(4);
  });

  test('who asks for it just after an outage began has it as early as may be', async () => {
    const { admission, takeDown, wait, reach, log, turn } = openAdmission();
    takeDown('a');
    wait('a', { isForeground: () => false });
    await turn();
    reach(500);
    admission.probeNow();
    expect(log).toEqual([]);
    reach(1200);
    expect(log).toEqual(['1200 a probe']);
  });

  test('has that URL probed which has failed least', async () => {
    const { admission, enter, wait, reach, log, turn } = openAdmission();
    for (const resource of ['often', 'often', 'once']) enter('a', { resource })?.end(outage);
    for (const resource of ['often', 'once'])
      wait('a', { resource, isForeground: () => false, priority: 'background' });
    await turn();
    reach(2000);
    admission.probeNow();
    expect([log, admission.origin.queue.groups()[0]?.waiters[0]?.request.resource]).toEqual([
      ['2000 a probe'],
      'often',
    ]);
  });
});

describe('what a tab tells the others', () => {
  test('that something is down, that it probes it, and that it is up', async () => {
    const { send, takeDown, wait, reach, told, turn } = openAdmission({ hasTabs: true });
    takeDown('a');
    expect(told.splice(0)).toEqual([
      { kind: 'down', scope: 'a', isProbed: false },
      'rest a',
      'rest a',
    ]);
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
    expect(told).toEqual(['rest a', 'rest a']);
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
    expect([limits.until('a') - epochMs, limits.until('b') - epochMs]).toEqual([1625, 500]);
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
      ['yield  to 3', 'rest ', 'rest '],
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
  expect(admission.origin.limits.until('a') - epochMs).toBe(1050);
});

test('what is left of a limit is less only those that are under way in it', () => {
  const { admission, enter } = openAdmission();
  for (const name of ['a', 'b', 'c']) enter(name);
  admission.allow('a', { remaining: 1, resetAt: epochMs + 5000 });
  expect([enter('a') !== undefined, enter('a')]).toEqual([true, undefined]);
  expect(admission.origin.limits.until('a') - epochMs).toBe(5250);
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
