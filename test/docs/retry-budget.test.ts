import { retryBudget } from 'steadfetch';
import { expect, test } from 'vitest';
import { expectPicture, measure } from './expect-picture.ts';
import { createStage } from './stage.ts';
import type { Mark } from './draw.ts';

/** One request a second: the first attempt of each fails until then, and its retry does not. */
const wellAtS = 22;
const endS = 30;

test('the timeline of the retry budget is that of the code', async () => {
  const stage = createStage({ budget: retryBudget() });
  const { budget } = stage.gate();
  const script: [number, () => void][] = [];
  for (let second = 0; second < endS; second++) {
    const name = `${second}`;
    if (second < wellAtS) stage.server.plan(`/${name}`, 503);
    script.push([second * 1000, () => stage.ask(name, { priority: 'background' })]);
  }
  const tokens = [{ atMs: 0, value: budget.getState() }];
  budget.subscribe(() => tokens.push({ atMs: stage.rig.elapsed(), value: budget.getState() }));
  await stage.play(endS * 1000, script);

  const failed = stage.story().filter((line) => line.includes('failed'));
  expect(failed).toEqual([16, 17, 18, 19, 20, 21].map((s) => `${s}000 ${s} failed: over-budget`));
  const left = (atMs: number) => tokens.findLast((token) => token.atMs <= atMs)?.value;
  // Each second a retry takes 1, and its success puts 0.4 back: 0.6 less.
  expect(left(0)).toBe(10);
  expect(left(999)).toBeCloseTo(9.4, 9);
  expect(left(15_999)).toBeCloseTo(0.4, 9);
  expect(left(21_999)).toBeCloseTo(0.4, 9);
  expect(left(29_999)).toBeCloseTo(3.6, 9);
  expect(stage.origin.spans.map(({ label }) => label)).toEqual(['up']);

  const lanes = [...stage.lanes.values()];
  const isFailed = ({ label }: { readonly label: string }) => label.startsWith('failed');
  const marks = lanes
    .flatMap((lane) => lane.marks.map((mark): Mark => ({ ...mark, label: '' })))
    .toSorted((a, b) => a.atMs - b.atMs);
  const ends = lanes.flatMap(({ spans }) => spans.filter(isFailed)).map(({ atMs }) => atMs);
  const [firstMs = 0] = ends;
  expectPicture('retry-budget', {
    title: 'A brown-out: every first attempt fails, every retry succeeds',
    endMs: endS * 1000,
    tickMs: 5000,
    rows: [
      {
        name: 'answers',
        about: '503 and 200',
        marks,
        spans: [
          { atMs: 0, kind: 'succeeded', label: 'retries are paid for: nobody sees a failure' },
          { atMs: firstMs, kind: 'failed', label: 'failed: over-budget' },
          { atMs: wellAtS * 1000, kind: 'succeeded', label: 'the server is well' },
        ],
        notes: [measure(firstMs, wellAtS * 1000, 'no retries')],
      },
      { name: 'tokens', about: 'of the origin', steps: tokens, max: 10 },
    ],
  });
});
