import { expect, test } from 'vitest';
import { openOrigin, type OriginRig } from './rig.ts';

/** Asks for so many at once, and says of each whether it is refused when it is sent. */
function askAll(rig: OriginRig, count: number): ReturnType<OriginRig['ask']>[] {
  return Array.from({ length: count }, () => rig.ask('a'));
}

const sentAt = (asked: readonly ReturnType<OriginRig['ask']>[]): (string | undefined)[] =>
  asked.map(({ story }) => story[0]);

test('what was never refused is not paced, however fast it is asked', () => {
  const rig = openOrigin();
  const asked = askAll(rig, 500);
  expect(new Set(sentAt(asked))).toEqual(new Set(['0']));
});

test('after one odd refusal one request waits a quarter of a second, and ten have gone in 1.4 s', async () => {
  const rig = openOrigin();
  rig.send('a', 'success');
  rig.admission.origin.limits.refuse('a', rig.clock.now(), undefined);
  const asked = askAll(rig, 10);
  for (const one of asked) {
    while (one.story.length === 0) await rig.advance(50);
    one.settle('success');
  }
  const times = ['263', '513', '713', '873', '1001', '1103', '1185', '1260', '1328', '1394'];
  expect(sentAt(asked)).toEqual(times);
});

test('a minute after its last refusal nothing is paced', async () => {
  const rig = openOrigin();
  rig.admission.origin.limits.refuse('a', rig.clock.now(), undefined);
  await rig.advance(60_000);
  expect(new Set(sentAt(askAll(rig, 30)))).toEqual(new Set(['60000']));
});

test('what is refused again and again waits twice as long each time, but the fifth time, up to 15 s', async () => {
  const rig = openOrigin();
  const waits: number[] = [];
  for (let refusal = 0; refusal < 9; refusal++) {
    const now = rig.clock.now();
    rig.admission.origin.limits.refuse('a', now, undefined);
    const until =
      rig.admission.whyPaused({ endpoint: 'a', limitScope: 'a', risk: 0 }).retryAt ?? NaN;
    waits.push(until - now);
    await rig.advance(until - now);
  }
  expect(waits).toEqual([263, 525, 1050, 2100, 3150, 6300, 12_600, 15_750, 15_750]);
});

test('fifty refusals of one burst are one', () => {
  const rig = openOrigin();
  const now = rig.clock.now();
  rig.clock.advance(50);
  for (let refusal = 0; refusal < 50; refusal++)
    rig.admission.origin.limits.refuse('a', now, undefined);
  expect(rig.admission.whyPaused({ endpoint: 'a', limitScope: 'a', risk: 0 })).toEqual({
    reason: 'rate-limited',
    retryAt: now + 313,
  });
});

test('it paces its own limit alone', () => {
  const rig = openOrigin();
  rig.admission.origin.limits.refuse('a', rig.clock.now(), undefined);
  expect(rig.ask('b').story).toEqual(['0']);
  expect(rig.ask('a').story).toEqual([]);
});
