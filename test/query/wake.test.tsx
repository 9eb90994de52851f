import { useQueries } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig, setOnline, setVisible } from './rig.tsx';

const count = 30;

function showMany(rig: Rig): void {
  function Many() {
    useQueries({
      queries: Array.from({ length: count }, (_, index) => ({
        queryKey: [index],
        queryFn: () => rig.steady.json(`http://api.example/${index}`),
      })),
    });
    return null;
  }
  rig.show(<Many />);
}

/** With draws of 0.5, ten in a second. */
const inTurn = (from: number): number[] => Array.from({ length: count }, (_, i) => from + 100 * i);

test('thirty queries that waited for the network do not come back in one moment', async () => {
  const rig = createRig();
  setOnline(false);
  showMany(rig);
  await rig.time.advance(5000);
  expect(rig.server.times()).toEqual([]);
  setOnline(true);
  await rig.time.advance(20_000);
  expect(rig.server.times()).toEqual(inTurn(5000));
});

test('thirty that failed, whose tab was hidden in their wait, do not come back in one moment', async () => {
  const rig = createRig();
  for (let index = 0; index < count; index++) rig.server.plan(`/${index}`, 503);
  showMany(rig);
  await rig.time.advance(100);
  setVisible(false);
  await rig.time.advance(60_000);
  expect(rig.server.sent.length).toBe(count);
  setVisible(true);
  await rig.time.advance(20_000);
  expect(rig.server.times().slice(count)).toEqual(inTurn(60_100));
});

test('thirty that are shown for the first time go at once', async () => {
  const rig = createRig();
  showMany(rig);
  await rig.time.advance(0);
  expect(rig.server.times()).toEqual(Array.from({ length: count }, () => 0));
});
