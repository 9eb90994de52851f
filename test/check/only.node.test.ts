import { expect, test } from 'vitest';
import { requirements } from '../../src/check/requirements/all.ts';
import { checkFaulty, wrongIn } from './rig.ts';

test('a requirement that is tried alone finds the same as among the others', async () => {
  const left = requirements.values();
  const wrong: string[] = [];
  const work = async (): Promise<void> => {
    for (const { id } of left) {
      const report = await checkFaulty(undefined, { only: [id] });
      wrong.push(...wrongIn(report));
      for (const { finding } of report.results)
        if (finding.kind === 'unknown') wrong.push(`${id}: ${finding.why}`);
    }
  };
  await Promise.all(Array.from({ length: 12 }, work));
  expect(wrong).toEqual([]);
});
