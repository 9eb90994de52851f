import { describe, expect, test } from 'vitest';
import { ok, outage, openAdmission } from './admission-rig.ts';
import { epochMs } from './virtual-clock.ts';

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
