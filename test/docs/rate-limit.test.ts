import { expect, test } from 'vitest';
import { expectPicture, measure } from './expect-picture.ts';
import { createStage, laneOf } from './stage.ts';

test('the timeline of the rate limit is that of the code', async () => {
  const stage = createStage();
  stage.server.plan('/A', { status: 429, headers: { 'Retry-After': '10' } });
  await stage.play(18_000, [
    [0, () => stage.ask('A')],
    [4000, () => stage.ask('B')],
    [11_000, () => stage.ask('C')],
  ]);
  expect(stage.story()).toEqual([
    '0 A sending',
    '0 origin rate-limited',
    '0 A 429',
    '0 A waiting',
    '4000 B held: rate-limited',
    '11000 C sending',
    '11000 C 200',
    '11000 C succeeded',
    '12500 origin up',
    '12500 A sending',
    '12500 B sending',
    '12500 A 200',
    '12500 B 200',
    '12500 A succeeded',
    '12500 B succeeded',
  ]);
  expectPicture('rate-limit', {
    title: '429 with Retry-After: 10 holds the whole origin',
    endMs: 18_000,
    tickMs: 2000,
    rows: [
      {
        ...stage.origin,
        about: 'useOriginStatus',
        notes: [measure(0, 10_000, 'nothing goes out'), measure(10_000, 12_500, 'the spread')],
      },
      { ...laneOf(stage, 'A'), name: 'A', about: 'was told' },
      { ...laneOf(stage, 'B'), name: 'B', about: 'asked in the pause' },
      { ...laneOf(stage, 'C'), name: 'C', about: 'asked after it' },
    ],
  });
});
