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
  await stage.play(13_000, [
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
    // 1365 ms later, at 0.45.
    '7390 5',
    // 910 ms, at 0.675; and again, because 4 is not back.
    '8301 4',
    '9212 A',
    // A was quick, and 4 was not: 1536 ms, at 0.4.
    '10748 3',
    // 1024 ms, at 0.6; these are old by now, and the oldest is first.
    '11772 1',
    // 683 ms, at 0.9.
    '12455 2',
  ]);
  const released = steps.filter(({ atMs }) => atMs >= upMs);
  expect(released).toEqual([
    { atMs: 5000, value: 0.3 },
    { atMs: 6124, value: 0.3 * 1.5 },
    { atMs: 7490, value: 0.3 * 1.5 * 1.5 },
    // 1.0125 would be too much.
    { atMs: 9212, value: 1 },
    { atMs: 9801, value: 0.4 },
    { atMs: 10_848, value: 0.4 * 1.5 },
    { atMs: 11_872, value: 0.4 * 1.5 * 1.5 },
    // 2 is the last: its answer steers nothing.
  ]);
  expectPicture('release', {
    title: 'What was held comes back: slowly, then as fast as answers are quick',
    endMs: 13_000,
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
