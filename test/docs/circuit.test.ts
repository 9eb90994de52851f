import { expect, test } from 'vitest';
import { expectPicture, measure } from './expect-picture.ts';
import { createStage, laneOf } from './stage.ts';

test('the timeline of the circuit is that of the code', async () => {
  const stage = createStage();
  stage.server.plan('/A', 503, 503, 503);
  await stage.play(13_000, [
    [0, () => stage.ask('A')],
    [6500, () => stage.ask('B')],
    [7000, () => stage.ask('C')],
  ]);
  expect(stage.story()).toEqual([
    '0 A sending',
    '0 A 503',
    '0 A waiting',
    '500 A sending',
    '500 origin down',
    '500 A 503',
    '500 A waiting',
    '1500 A held: server-down',
    // Nothing new was asked for: 4 to 7 s after the trip.
    '6000 A sending',
    '6000 A canary: 503',
    '6000 A waiting',
    '6500 B held: server-down',
    '7000 C held: server-down',
    '8000 A held: server-down',
    // Two new ones wait: 2.5 to 3.5 s after the one before.
    '9000 C sending',
    '9000 origin recovering',
    '9000 B held: queued',
    '9000 C canary: 200',
    // Asked for anew 1 s ago.
    '9000 A sending',
    '9000 A 200',
    '9000 C succeeded',
    '9000 A succeeded',
    // Two were held for 2.5 s, and A was quick: half of 1.25 s at a pace of 0.45.
    '10389 origin up',
    '10389 B sending',
    '10389 B 200',
    '10389 B succeeded',
  ]);
  expectPicture('circuit', {
    title: 'Two failures in a row: everything is held, one canary at a time goes',
    endMs: 13_000,
    tickMs: 1000,
    rows: [
      {
        ...stage.origin,
        about: 'useOriginStatus',
        notes: [
          measure(500, 6000, 'the first canary, by a timer'),
          measure(6000, 9000, 'the next, a new one'),
          measure(9000, 10_389, 'the last that was held'),
        ],
      },
      { ...laneOf(stage, 'A'), name: 'A', about: 'asked at 0 s' },
      { ...laneOf(stage, 'B'), name: 'B', about: 'asked at 6.5 s' },
      { ...laneOf(stage, 'C'), name: 'C', about: 'asked at 7 s' },
    ],
  });
});
