import { beforeAll, describe, expect, test } from 'vitest';
import { type Cause, known } from './known.ts';
import { reportOf, type Row } from './report.ts';
import { runCell, type World } from './run.tsx';
import { lengths, type Trouble, troubles } from './server.ts';
import type { Tutorial } from './tutorial.ts';
import { more, swept, tutorials } from './tutorials.ts';
import { type Fault, faultsOf } from './verdict.ts';

interface Worse {
  readonly trouble: string;
  readonly name: string;
  readonly world: World;
  readonly fault: Fault;
}

async function runAll(ofTroubles: readonly Trouble[], ofTutorials: readonly Tutorial[]) {
  const rows: Row[] = [];
  for (const trouble of ofTroubles)
    for (const tutorial of ofTutorials) {
      const alone = await runCell(tutorial, trouble, 'alone');
      const fetch = await runCell(tutorial, trouble, 'fetch');
      const json = await runCell(tutorial, trouble, 'json');
      const faults = { alone: [], fetch: faultsOf(fetch, alone), json: faultsOf(json, alone) };
      rows.push({ trouble, tutorial, cells: { alone, fetch, json }, faults });
    }
  return rows;
}

let rows: readonly Row[] = [];
let sweep: readonly Row[] = [];
let further: readonly Row[] = [];

beforeAll(async () => {
  rows = await runAll(troubles, tutorials);
  sweep = await runAll(lengths, swept);
  further = await runAll(troubles, more);
});

const worse = (): Worse[] =>
  [...rows, ...sweep, ...further].flatMap(({ trouble, tutorial, faults }) =>
    (['fetch', 'json'] as const).flatMap((world) =>
      faults[world].map((fault) => ({
        trouble: trouble.name,
        name: tutorial.name,
        world,
        fault,
      })),
    ),
  );

const isBy = ({ trouble, name, world, fault }: Worse, cause: Cause) =>
  cause.worlds.includes(world) &&
  cause.faults.includes(fault) &&
  (!cause.troubles || cause.troubles.some((beginning) => trouble.startsWith(beginning))) &&
  (!cause.components || cause.components.includes(name));

describe('a component as tutorials write it', () => {
  test('is never worse with the default options than with React Query alone', () => {
    const unknown = worse().filter((one) => !known.some((cause) => isBy(one, cause)));
    expect(unknown).toEqual([]);
  });

  test.each(known)('is still worse because: $why', (cause) => {
    expect(worse().some((one) => isBy(one, cause))).toBe(true);
  });

  test('shows what the page in the docs says', async () => {
    await expect(reportOf(rows, sweep)).toMatchFileSnapshot('../../docs/components-in-outages.md');
  });
});
