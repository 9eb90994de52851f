import type { Figures } from '../figures/figures.ts';
import { medianFigures } from '../figures/median.ts';
import type { TabContext } from '../policies/policy.ts';
import { costOf, type Job, type JobResult } from '../run/job.ts';
import type { Patch } from '../run/patches.ts';
import { runJobs } from '../run/run-jobs.ts';
import type { Cell, Experiment } from './experiment.ts';

/** What a cell has shown: the medians of its seeds, and the picture of the first one. */
export interface CellResult {
  readonly experiment: string;
  readonly cell: Cell;
  readonly figures: Figures;
  readonly runs: readonly Figures[];
  readonly series: readonly number[] | undefined;
}

export interface RunOptions {
  /** Fewer seeds than the cells ask for: faster, for trying something out. */
  readonly maxSeeds?: number | undefined;
  /** Given to Steadfetch. */
  readonly config?: TabContext['config'] | undefined;
  /** The experiment that pictures are made of. */
  readonly pictured?: string;
  readonly onProgress?: (done: number, of: number) => void;
  /** What Steadfetch is to be instead. */
  readonly patches?: readonly Patch[];
}

export async function runExperiments(
  experiments: readonly Experiment[],
  { maxSeeds = Infinity, config, pictured, onProgress, patches }: RunOptions = {},
): Promise<CellResult[]> {
  const cells = experiments.flatMap(({ name, cells: own }) =>
    own.map((cell) => ({ cell, experiment: name, seeds: Math.min(cell.seeds, maxSeeds) })),
  );
  const jobs = new Map<string, Job>();
  const keys = cells.map(({ cell: { policy, scenario }, experiment, seeds }) =>
    Array.from({ length: seeds }, (_, index) => {
      const job: Job = {
        policy,
        scenario: { ...scenario, seed: scenario.seed + index },
        ...(config && policy === 'steadfetch' && { config }),
      };
      // Some cells are in two tables, and are run once.
      const key = JSON.stringify(job);
      const wantsSeries = index === 0 && experiment === pictured;
      jobs.set(key, { ...job, wantsSeries: wantsSeries || jobs.get(key)?.wantsSeries === true });
      return key;
    }),
  );
  // The longest first, so that all workers end together.
  const list = [...jobs].toSorted(([, a], [, b]) => costOf(b) - costOf(a));
  const results = await runJobs(
    'storm',
    list.map(([, job]) => job),
    (done) => onProgress?.(done, list.length),
    patches,
  );
  const byKey = new Map(list.map(([key], index) => [key, results[index]]));
  return cells.map(({ cell, experiment, seeds }, index) => {
    const own = (keys[index] ?? []).map((key) => byKey.get(key) as JobResult);
    const runs = own.map(({ figures }) => figures);
    const series = own[0]?.series;
    return { experiment, cell: { ...cell, seeds }, figures: medianFigures(runs), runs, series };
  });
}
