import { describe, expect, test } from 'vitest';
import { stateOf } from '../../../src/core/origin/status.ts';
import type { Outcome } from '../../../src/core/policy/outcome.ts';
import { ok, outage, network, openAdmission } from './admission-rig.ts';
import { epochMs } from './virtual-clock.ts';

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
