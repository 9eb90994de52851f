import { expect, test } from 'vitest';
import { openNetwork } from './open-network.ts';
import { openOrigin } from './rig.ts';

/** An outage of 24 s of an endpoint that four wait for then. The first of them is the probe. */
async function pauseFour(wasHealthy: boolean) {
  const rig = openOrigin();
  if (wasHealthy) rig.send('a', 'success');
  rig.send('a', 'outage');
  rig.send('a', 'outage');
  while (rig.clock.elapsed() < 24_000) {
    const probe = rig.ask('a');
    while (probe.story.length === 0) await rig.advance(50);
    probe.settle('outage');
  }
  const waiting = Array.from({ length: 4 }, () => rig.ask('a'));
  while (waiting[0]?.story.length === 0) await rig.advance(50);
  const probedAt = rig.clock.elapsed();
  /** When they have gone, in milliseconds after the probe. */
  const sentMs = (): number[] =>
    waiting.flatMap(({ story }) => story).map((at) => Math.round(Number.parseFloat(at) - probedAt));
  return { ...rig, waiting, sentMs };
}

test('after a slow answer the next but one goes ten times later than that took', async () => {
  const { waiting, advance, sentMs } = await pauseFour(true);
  await advance(1100);
  waiting[0]?.settle('success');
  waiting[1]?.settle('nothing');
  await advance(12_000);
  expect(sentMs()).toEqual([0, 1100, 12_100]);
});

test('the answers of a server that was never seen healthy are not judged: it may be slow by nature', async () => {
  const { waiting, advance, sentMs } = await pauseFour(false);
  await advance(1100);
  waiting[0]?.settle('success');
  waiting[1]?.settle('nothing');
  await advance(12_000);
  expect(sentMs().slice(0, 3)).toEqual([0, 1100, 1380]);
});

test('after a fast answer the gap is seven tenths of what it was', async () => {
  const { waiting, advance, sentMs } = await pauseFour(true);
  await advance(1100);
  waiting[0]?.settle('success');
  waiting[1]?.settle('success');
  await advance(12_000);
  expect(sentMs().slice(0, 3)).toEqual([0, 1100, 8800]);
});

test('each that waits for its answer longer than 300 ms doubles the gap', async () => {
  const { waiting, advance, sentMs } = await pauseFour(true);
  waiting[0]?.settle('success');
  await advance(4000);
  expect(sentMs()).toEqual([0, 0, 280, 840]);
});

test('after the device was offline no answer is slow: the network may be another one', async () => {
  let isOffline = false;
  let tell = (): void => {};
  const network = {
    ...openNetwork,
    isOffline: () => isOffline,
    subscribe: (listener: () => void) => {
      tell = listener;
      return () => {};
    },
  };
  const rig = openOrigin({}, undefined, undefined, undefined, network);
  const change = (to: boolean): void => {
    isOffline = to;
    tell();
  };
  rig.send('a', 'success', 50);
  change(true);
  await rig.advance(100);
  change(false);
  rig.admission.hastenProbes();
  rig.send('a', 'outage');
  rig.send('a', 'outage');
  const waiting = Array.from({ length: 4 }, () => rig.ask('a'));
  await rig.advance(1200);
  await rig.advance(1100);
  waiting[0]?.settle('success');
  await rig.advance(12_000);
  const sent = waiting.flatMap(({ story }) => story);
  expect(sent.map((text) => Math.round(Number.parseFloat(text)))).toEqual([1350, 2450, 2683, 3150]);
});

test('when the browser says that the connection is another one, no answer is slow', async () => {
  const rig = openOrigin();
  rig.send('a', 'success', 50);
  rig.admission.hastenProbes();
  rig.send('a', 'outage');
  rig.send('a', 'outage');
  const waiting = Array.from({ length: 4 }, () => rig.ask('a'));
  await rig.advance(1200);
  await rig.advance(1100);
  waiting[0]?.settle('success');
  await rig.advance(12_000);
  const sent = waiting.flatMap(({ story }) => story);
  expect(sent.map((text) => Math.round(Number.parseFloat(text)))).toEqual([1250, 2350, 2583, 3050]);
});
