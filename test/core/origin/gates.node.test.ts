import { expect, test } from 'vitest';
import { isAble, isNext, isUp, mayEnter, turnAt } from '../../../src/core/origin/gates.ts';
import { openNetwork } from './open-network.ts';
import { openOrigin, type OriginRig } from './rig.ts';

const place = { endpoint: 'a', limitScope: 'a', risk: 0 } as const;
const offline = { ...openNetwork, isOffline: () => true };

function takeDown({ send }: OriginRig): void {
  send('a', 'outage');
  send('a', 'outage');
}

/** The origin was down; its slow start has begun, and the first of those who waited has gone. */
async function beginSlowStart(rig: OriginRig): Promise<void> {
  takeDown(rig);
  const asked = Array.from({ length: 5 }, () => rig.ask('a'));
  await rig.advance(1200);
  asked[0]?.settle('success');
}

/**
 * What is open while one gate is closed: something new may go, those who wait may go in milliseconds from now,
 * neither network nor limit keeps them back, only their turn does, and it comes soon.
 */
function read({ admission: { origin }, clock }: OriginRig, at = place): unknown[] {
  const now = clock.now();
  return [
    mayEnter(origin, at),
    Math.max(0, Math.round(turnAt(origin, at) - now)),
    isAble(origin, at),
    isUp(origin, at),
    isNext(origin, at),
  ];
}

test.each<[string, unknown[], (rig: OriginRig) => void | Promise<void>]>([
  ['nothing', [true, 0, true, true, true], () => {}],
  [
    'a known limit',
    [false, 1050, false, false, false],
    (rig) => rig.admission.origin.limits.pause('a', 1000),
  ],
  [
    'what is added to a limit that is over',
    [false, 50, false, false, true],
    (rig) => {
      rig.admission.origin.limits.pause('a', 1000);
      rig.clock.advance(1000);
    },
  ],
  [
    'the learned pace',
    [false, 263, false, false, false],
    (rig) => rig.admission.origin.limits.refuse('a', rig.clock.now(), undefined),
  ],
  [
    'the limit of another endpoint',
    [true, 0, true, true, true],
    (rig) => rig.admission.origin.limits.pause('b', 1000),
  ],
  ['an endpoint that is down', [false, Infinity, true, false, false], takeDown],
  [
    'one that is down, until its probe is due',
    [false, 1200, true, false, false],
    async (rig) => {
      takeDown(rig);
      rig.ask('a');
      await rig.advance(0);
    },
  ],
  ['a slow start', [true, 175, true, true, true], beginSlowStart],
])('%s keeps back what it should: %j', async (_name, open, close) => {
  const rig = openOrigin();
  await close(rig);
  expect(read(rig)).toEqual(open);
});

test('in a slow start what is asked for the first time goes at once, and a retry waits for its turn', async () => {
  const rig = openOrigin();
  await beginSlowStart(rig);
  const { ask, advance, clock } = rig;
  const [first, again] = [ask('a'), ask('a', { isNew: false })];
  const elsewhere = openOrigin().ask('a', { isNew: false });
  expect([first.story, again.story]).toEqual([[`${clock.elapsed()}`], []]);
  expect(elsewhere.story).toEqual(['0']);
  await advance(2000);
  expect(again.story).toHaveLength(1);
});

test('offline, nothing goes that has to leave the device', () => {
  const rig = openOrigin({}, undefined, undefined, undefined, offline);
  expect(read(rig)).toEqual([false, Infinity, false, false, false]);
  expect(read(rig, { ...place, mayBeOffline: true } as typeof place)).toEqual([
    true,
    0,
    true,
    true,
    true,
  ]);
});

test('offline, what may go without a network is kept back by its limit, and shown so', () => {
  const rig = openOrigin({}, undefined, undefined, undefined, offline);
  rig.admission.origin.limits.pause('a', 1000);
  expect(rig.admission.whyPaused(place).reason).toBe('offline');
  expect(rig.admission.whyPaused({ ...place, mayBeOffline: true }).reason).toBe('rate-limited');
});

test('where the only place is taken, one that waits needs a place and nothing else', async () => {
  const { limitConcurrency } = await import('steadfetch');
  const rig = openOrigin({ concurrency: limitConcurrency({ maxInFlight: 1 }) });
  rig.ask('b');
  expect(read(rig)).toEqual([false, Infinity, true, true, false]);
});
