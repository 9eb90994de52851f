import { expect, test } from 'vitest';
import stored from '../../demo/src/storm/first-storm.json' with { type: 'json' };
import { runFirstStorm } from '../../sim/lab/first-storm.ts';

test('the storm that the demo begins with is what the simulation gives: else run sim/first-storm.ts', async () => {
  // As JSON, which has no NaN.
  expect(JSON.parse(JSON.stringify(await runFirstStorm()))).toEqual(stored);
});
