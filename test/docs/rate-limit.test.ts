import { expect, test } from 'vitest';
import { expectPicture, measure } from './expect-picture.ts';
import { createStage, laneOf } from './stage.ts';

test('the timeline of the rate limit is that of the code', async () => {
  const stage = createStage();
  stage.server.plan('/1', { status: 429, headers: { 'Retry-After': '10' } });
  stage.server.plan('/2', { status: 429, headers: { 'Retry-After': '6' } });
  await stage.play(18_000, [
    [0, () => stage.ask('1')],
    [4000, () => stage.ask('2')],
    [6000, () => stage.ask('3')],
  ]);
  expect(stage.story()).toEqual([
    '0 1 sending',
    '0 origin rate-limited',
    '0 1 429',
    '0 1 waiting',
    '4000 2 sending',
    '4000 2 429',
    '4000 2 waiting',
    '6000 3 paused: rate-limited',
    '10500 origin up',
    '10500 3 sending',
    '10500 1 sending',
    '10500 2 sending',
    '10500 3 200',
    '10500 1 200',
    '10500 2 200',
    '10500 3 succeeded',
    '10500 1 succeeded',
    '10500 2 succeeded',
  ]);
  expectPicture('rate-limit', {
    title: '429 with Retry-After: 10 pauses its endpoint',
    endMs: 18_000,
    tickMs: 2000,
    rows: [
      {
        ...stage.origin,
        about: 'useOriginStatus',
        notes: [
          measure(0, 10_000, 'one other URL is tried'),
          measure(10_000, 10_500, 'a little later'),
        ],
      },
      { ...laneOf(stage, '1'), name: 'GET /1', about: 'was told' },
      { ...laneOf(stage, '2'), name: 'GET /2', about: 'is tried, and told, too' },
      { ...laneOf(stage, '3'), name: 'GET /3', about: 'waits with them' },
    ],
  });
});
