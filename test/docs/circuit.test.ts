import { expect, test } from 'vitest';
import { expectPicture, measure } from './expect-picture.ts';
import { createStage, laneOf } from './stage.ts';

test('the timeline of the circuit is that of the code', async () => {
  const stage = createStage();
  stage.server.plan('/A', 503, 503);
  stage.server.plan('/B', 503);
  await stage.play(13_000, [
    [0, () => stage.ask('A')],
    [3000, () => stage.ask('B')],
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
    '3000 B held: server-down',
    '6000 B sending',
    '6000 B canary: 503',
    '6000 B waiting',
    '6500 B held: server-down',
    '7000 C held: server-down',
    '8250 C sending',
    '8250 origin recovering',
    '8250 A held: queued',
    '8250 C canary: 200',
    '8250 B sending',
    '8250 B 200',
    '8250 C succeeded',
    '8250 B succeeded',
    '11063 origin up',
    '11063 A sending',
    '11063 A 200',
    '11063 A succeeded',
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
          measure(6000, 8250, 'the next'),
          measure(8250, 11_063, 'the last one that was held'),
        ],
      },
      { ...laneOf(stage, 'A'), name: 'A', about: 'asked at 0 s' },
      { ...laneOf(stage, 'B'), name: 'B', about: 'asked at 3 s' },
      { ...laneOf(stage, 'C'), name: 'C', about: 'asked at 7 s' },
    ],
  });
});
