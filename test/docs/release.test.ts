import { expect, test } from 'vitest';
import { expectPicture } from './expect-picture.ts';
import type { Mark } from './draw.ts';
import { createStage } from './stage.ts';

const asks = [1, 2, 3, 4, 5, 6, 7] as const;

test('the timeline of a release is that of the code', async () => {
  const stage = createStage();
  const { pace } = stage.gate();
  stage.server.plan('/A', 503, 503);
  for (const ask of asks)
    stage.server.plan(`/${ask}`, { afterMs: { 3: 1500, 7: 500 }[ask as number] ?? 100 });
  const steps: { atMs: number; value: number }[] = [];
  pace.subscribe(() => steps.push({ atMs: stage.rig.elapsed(), value: pace.getState() }));
  await stage.play(15_000, [
    [0, () => stage.ask('A')],
    ...asks.map((ask) => [ask * 700, () => stage.ask(`${ask}`)] as const),
  ]);
  const upMs = stage.origin.spans.find(({ kind }) => kind === 'recovering')?.atMs ?? 0;
  const sent = [...stage.lanes.values()].flatMap(({ name, spans }) =>
    spans
      .filter(({ kind, atMs }) => kind === 'sending' && atMs > 500)
      .map(({ atMs }): Mark => ({ atMs, kind: 'ok', label: name, isCanary: atMs < upMs })),
  );
  sent.sort((a, b) => a.atMs - b.atMs);
  expect(sent.map(({ atMs, label }) => `${atMs} ${label}`)).toEqual([
    '6000 7',
    '7881 6',
    '9262 5',
    '10091 4',
    '10920 3',
    '11749 1',
    '13407 2',
    '14236 A',
  ]);
  const released = steps.filter(({ atMs }) => atMs >= upMs);
  expect(released).toEqual([
    { atMs: 6500, value: 0.3 },
    { atMs: 7981, value: 0.6 },
    { atMs: 9362, value: 1 },
    { atMs: 12420, value: 0.5 },
    { atMs: 13507, value: 1 },
  ]);
  expectPicture('release', {
    title: 'What was held comes back: slowly, then as fast as answers are quick',
    endMs: 15_000,
    tickMs: 1000,
    rows: [
      { ...stage.origin, about: 'useOriginStatus', marks: sent },
      {
        name: 'pace',
        about: 'of the usual rate',
        steps: released,
        max: 1,
      },
    ],
  });
});
