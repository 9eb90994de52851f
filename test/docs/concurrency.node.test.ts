import { limitConcurrency } from 'steadfetch';
import { expect, test } from 'vitest';
import { expectPicture } from './expect-picture.ts';
import { createStage, laneOf } from './stage.ts';

test('the timeline of the concurrency limit is that of the code', async () => {
  const stage = createStage({
    health: {},
    concurrency: limitConcurrency({ maxInFlight: 2, maxQueued: 2 }),
  });
  for (const name of 'ABCDE') stage.server.plan(`/${name}`, { afterMs: 1000 });
  await stage.play(2500, [
    ...[...'ABCD'].map((name, index) => [index * 100, () => stage.ask(name)] as const),
    [400, () => stage.ask('E')],
  ]);
  expect(stage.story()).toEqual([
    '0 A sending',
    '100 B sending',
    '200 C paused: queued',
    '300 D paused: queued',
    '400 E failed: paused-too-long',
    '1000 A 200',
    '1000 C sending',
    '1000 A succeeded',
    '1100 B 200',
    '1100 D sending',
    '1100 B succeeded',
    '2000 C 200',
    '2000 C succeeded',
    '2100 D 200',
    '2100 D succeeded',
  ]);
  const lane = (name: string) => ({ ...laneOf(stage, name), marks: [] });
  expectPicture('concurrency', {
    title: 'Two in flight, two places to wait, answers after a second',
    endMs: 2500,
    tickMs: 500,
    rows: [lane('A'), lane('B'), lane('C'), lane('D'), { ...lane('E'), about: 'no place left' }],
  });
});
