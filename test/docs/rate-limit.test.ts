import { expect, test } from 'vitest';
import { expectPicture, measure } from './expect-picture.ts';
import { createStage, laneOf } from './stage.ts';

test('the timeline of the rate limit is that of the code', async () => {
  const stage = createStage();
  stage.server.plan('/1', { status: 429, headers: { 'Retry-After': '10' } });
  await stage.play(18_000, [
    [0, () => stage.ask('1')],
    [4000, () => stage.ask('2')],
    [11_000, () => stage.ask('3')],
  ]);
  expect(stage.story()).toEqual([
    '0 1 sending',
    '0 origin rate-limited',
    '0 1 429',
    '0 1 waiting',
    '4000 2 paused: rate-limited',
    '10500 origin up',
    '10500 2 sending',
    '10500 1 sending',
    '10500 2 200',
    '10500 1 200',
    '10500 2 succeeded',
    '10500 1 succeeded',
    '11000 3 sending',
    '11000 3 200',
    '11000 3 succeeded',
  ]);
  expectPicture('rate-limit', {
    title: '429 with Retry-After: 10 pauses its endpoint',
    endMs: 18_000,
    tickMs: 2000,
    rows: [
      {
        ...stage.origin,
        about: 'useOriginStatus',
        notes: [measure(0, 10_000, 'nothing goes out'), measure(10_000, 10_500, 'a little later')],
      },
      { ...laneOf(stage, '1'), name: 'GET /1', about: 'was told' },
      { ...laneOf(stage, '2'), name: 'GET /2', about: 'asked in the pause' },
      { ...laneOf(stage, '3'), name: 'GET /3', about: 'asked after it' },
    ],
  });
});
