import { beforeAll, describe, expect, test } from 'vitest';
import { type Cause, known } from './known.ts';
import { reportOf, type Row } from './report.ts';
import { runCell, type World } from './run.tsx';
import { troubles } from './server.ts';
import { tutorials } from './tutorials.ts';
import { type Fault, faultsOf } from './verdict.ts';

interface Worse {
  readonly trouble: string;
  readonly name: string;
  readonly world: World;
  readonly fault: Fault;
}

const rows: Row[] = [];

beforeAll(async () => {
  for (const trouble of troubles)
    for (const tutorial of tutorials) {
      const alone = await runCell(tutorial, trouble, 'alone');
      const fetch = await runCell(tutorial, trouble, 'fetch');
      const json = await runCell(tutorial, trouble, 'json');
      const faults = { alone: [], fetch: faultsOf(fetch, alone), json: faultsOf(json, alone) };
      rows.push({ trouble, tutorial, cells: { alone, fetch, json }, faults });
    }
});

const worse = (): Worse[] =>
  rows.flatMap(({ trouble, tutorial, faults }) =>
    (['fetch', 'json'] as const).flatMap((world) =>
      faults[world].map((fault) => ({
        trouble: trouble.name,
        name: tutorial.name,
        world,
        fault,
      })),
    ),
  );

const isBy = ({ trouble, world, fault }: Worse, { worlds, faults, troubles: some }: Cause) =>
  worlds.includes(world) &&
  faults.includes(fault) &&
  (!some || some.some((beginning) => trouble.startsWith(beginning)));

describe('a component as tutorials write it', () => {
  test('is never worse with the default options than with React Query alone', () => {
    const unknown = worse().filter((one) => !known.some((cause) => isBy(one, cause)));
    expect(unknown).toEqual([]);
  });

  test.each(known)('is still worse because: $why', (cause) => {
    expect(worse().some((one) => isBy(one, cause))).toBe(true);
  });

  test('shows what the page in the docs says', async () => {
    await expect(reportOf(rows)).toMatchFileSnapshot('../../docs/components-in-outages.md');
  });
});
