import type { Cell } from '../experiments/experiment.ts';
import { runExperiments } from '../experiments/run-experiments.ts';
import type { Figures } from '../figures/figures.ts';
import type { PartialFigures, PartialKind } from '../partial/partial-scenario.ts';
import type { Patch } from '../run/patches.ts';
import { runJobs } from '../run/run-jobs.ts';
import { shortestExtent, type UserJob, userJobs } from '../user/user-cells.ts';
import { toCells, type UserCell } from '../user/user-report.ts';
import { defaultTimeoutMs } from '../user/user-scenario.ts';

/** What is measured of a variant. */
export interface Extent {
  /** One user, too. */
  readonly hasUser: boolean;
  readonly partial: readonly PartialKind[];
  readonly storms: readonly Cell[];
}

/** What a variant has shown. */
export interface Shown {
  readonly user: readonly UserCell[];
  readonly partial: ReadonlyMap<PartialKind, PartialFigures>;
  /** By the title of the cell. */
  readonly storms: ReadonlyMap<string, Figures>;
}

/** A page that knows nothing of its server, which is slow by nature. */
const slowPage: UserJob = {
  policy: 'steadfetch',
  page: {
    kind: '503',
    queries: 30,
    order: 'at once',
    page: 'fresh',
    timeoutMs: defaultTimeoutMs,
    answerMs: 1200,
  },
  outagesS: [5],
  seeds: 10,
  isAveraged: false,
};

export async function measure(
  patches: readonly Patch[],
  { hasUser, partial, storms }: Extent,
): Promise<Shown> {
  const jobs = hasUser ? [...userJobs(shortestExtent), slowPage] : [];
  const user = toCells(jobs, await runJobs('user', jobs, undefined, patches));
  const partialJobs = partial.map(
    (kind) => ({ policy: 'steadfetch', kind, seed: 1, tabs: 60 }) as const,
  );
  const figures = await runJobs('partial', partialJobs, undefined, patches);
  const experiment = { name: 'variant', title: '', cells: storms };
  const results = await runExperiments([experiment], { patches });
  return {
    user,
    partial: new Map(figures.map((own, index) => [partial[index] as PartialKind, own])),
    storms: new Map(results.map((result) => [result.cell.title, result.figures])),
  };
}
