import { expect, test } from 'vitest';
import { expectPicture } from './expect-picture.ts';
import type { Mark } from './draw.ts';
import { createStage } from './stage.ts';

const asks = [1, 2, 3, 4, 5, 6, 7] as const;

test('the timeline of a release is that of the code', async () => {
  const stage = createStage();
  const { pace } = stage.gate();
  stage.server.plan('/A', 503, 503);
  // 4 is slow; 7 is the canary.
  for (const ask of asks)
    stage.server.plan(`/${ask}`, { afterMs: { 4: 1500, 7: 1500 }[ask as number] ?? 100 });
  const steps: { atMs: number; value: number }[] = [];
  pace.subscribe(() => steps.push({ atMs: stage.rig.elapsed(), value: pace.getState() }));
  await stage.play(18_000, [
    [0, () => stage.ask('A')],
    ...asks.map((ask) => [350 + ask * 350, () => stage.ask(`${ask}`)] as const),
  ]);
  const upMs = stage.origin.spans.find(({ kind }) => kind === 'recovering')?.atMs ?? 0;
  const sent = [...stage.lanes.values()].flatMap(({ name, spans }) =>
    spans
      .filter(({ kind, atMs }) => kind === 'sending' && atMs > 500)
      .map(({ atMs }): Mark => ({ atMs, kind: 'ok', label: name, isCanary: atMs < upMs })),
  );
  sent.sort((a, b) => a.atMs - b.atMs);
  expect(sent.map(({ atMs, label }) => `${atMs} ${label}`)).toEqual([
    '3500 7',
    // Seven were held for 4.3 s, one in 614 ms. At 0.3 of that: 2048 ms, the first after half of it.
    '6024 6',
    // 1575 ms later, at 0.39.
    '7600 5',
    // 1212 ms, at 0.507; and again, because 4 is not back.
    '8812 4',
    '10024 A',
    // 3107 ms, at 0.1977; these are old by now, and the oldest is first.
    '13131 1',
    // 2390 ms, at 0.2570.
    '15521 2',
    // 1839 ms, at 0.3341.
    '17360 3',
  ]);
  const released = steps.filter(({ atMs }) => atMs >= upMs);
  expect(released).toEqual([
    { atMs: 5000, value: 0.3 },
    { atMs: 6124, value: 0.3 * 1.3 },
    { atMs: 7700, value: 0.3 * 1.3 * 1.3 },
    { atMs: 10_024, value: 0.3 * 1.3 * 1.3 * 1.3 },
    { atMs: 10_312, value: 0.3 * 1.3 * 1.3 * 1.3 * 0.3 },
    { atMs: 13_231, value: 0.3 * 1.3 * 1.3 * 1.3 * 0.3 * 1.3 },
    { atMs: 15_621, value: 0.3 * 1.3 * 1.3 * 1.3 * 0.3 * 1.3 * 1.3 },
    // 3 is the last: its answer steers nothing.
  ]);
  expectPicture('release', {
    title: 'What was held comes back: slowly, then as fast as answers are quick',
    endMs: 18_000,
    tickMs: 2000,
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
