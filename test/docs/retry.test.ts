import { expect, test } from 'vitest';
import { expectPicture } from './expect-picture.ts';
import { createStage, laneOf } from './stage.ts';

test('the timeline of retries is that of the code', async () => {
  // With health, the second 503 would be an outage, and nothing of the picture a wait.
  const backoff = createStage({ health: false });
  backoff.server.plan('/A', 503, 503, 503);
  await backoff.play(4500, [[0, () => backoff.ask('A')]]);
  expect(backoff.story()).toEqual([
    '0 A sending',
    '0 A 503',
    '0 A waiting',
    '500 A sending',
    '500 A 503',
    '500 A waiting',
    '1500 A sending',
    '1500 A 503',
    '1500 A waiting',
    '3500 A sending',
    '3500 A 200',
    '3500 A succeeded',
  ]);
  backoff.rig.end();

  const told = createStage();
  told.server.plan('/B', { status: 429, headers: { 'Retry-After': '3' } });
  await told.play(4500, [[0, () => told.ask('B')]]);
  expect(told.story()).toEqual([
    '0 B sending',
    '0 origin rate-limited',
    '0 B 429',
    '0 B waiting',
    '3150 origin up',
    '3150 B sending',
    '3150 B 200',
    '3150 B succeeded',
  ]);

  expectPicture('retry', {
    title: 'Three times 503 with health: false, and a 429 with Retry-After: 3',
    endMs: 4500,
    tickMs: 500,
    rows: [
      {
        ...laneOf(backoff, 'A'),
        name: 'backoff',
        about: 'no Retry-After',
        notes: [
          { fromMs: 0, toMs: 500, text: 'half of 1 s' },
          { fromMs: 500, toMs: 1500, text: 'half of 2 s' },
          { fromMs: 1500, toMs: 3500, text: 'half of 4 s' },
        ],
      },
      {
        ...laneOf(told, 'B'),
        name: 'Retry-After: 3',
        notes: [
          { fromMs: 0, toMs: 3000, text: 'what the server asks for: never earlier' },
          { fromMs: 3000, toMs: 3150, text: '' },
        ],
      },
    ],
  });
});
