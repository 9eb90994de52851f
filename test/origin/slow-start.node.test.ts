import { expect, test } from 'vitest';
import { openNetwork } from './open-network.ts';
import { openOrigin } from './rig.ts';

/** An outage of an endpoint that four wait for. The first of them is the probe, sent after 1,200 ms. */
async function pauseFour(wasHealthy: boolean) {
  const rig = openOrigin();
  if (wasHealthy) rig.send('a', 'success');
  rig.send('a', 'outage');
  rig.send('a', 'outage');
  const waiting = Array.from({ length: 4 }, () => rig.ask('a'));
  const sent = (): string[] => waiting.flatMap(({ story }) => story);
  await rig.advance(1200);
  return { ...rig, waiting, sent };
}

test('after a slow answer the next but one goes ten times later than that took', async () => {
  const { waiting, advance, sent } = await pauseFour(true);
  await advance(1100);
  waiting[0]?.settle('success');
  waiting[1]?.settle('nothing');
  await advance(12_000);
  expect(sent()).toEqual(['1200 probe', '2300', '13300']);
});

test('the answers of a server that was never seen healthy are not judged: it may be slow by nature', async () => {
  const { waiting, advance, sent } = await pauseFour(false);
  await advance(1100);
  waiting[0]?.settle('success');
  waiting[1]?.settle('nothing');
  await advance(12_000);
  expect(sent().slice(0, 3).map(Number.parseFloat).map(Math.round)).toEqual([1200, 2300, 2533]);
});

test('after a fast answer the gap is seven tenths of what it was', async () => {
  const { waiting, advance, sent } = await pauseFour(true);
  await advance(1100);
  waiting[0]?.settle('success');
  waiting[1]?.settle('success');
  await advance(12_000);
  expect(sent().slice(0, 3)).toEqual(['1200 probe', '2300', '10000']);
});

test('each that waits for its answer longer than 300 ms doubles the gap', async () => {
  const { waiting, advance, sent } = await pauseFour(true);
  waiting[0]?.settle('success');
  await advance(1000);
  expect(sent().map(Number.parseFloat).map(Math.round)).toEqual([1200, 1200, 1433, 1900]);
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
