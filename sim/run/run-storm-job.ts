import { readFigures } from '../figures/figures.ts';
import { readSeries } from '../figures/series.ts';
import { policies } from '../policies/by-name.ts';
import type { Job, JobResult } from './job.ts';
import { runCell } from './run-cell.ts';

/** Runs a storm and reads its figures. */
export async function runStormJob({
  policy,
  scenario,
  config,
  wantsSeries,
}: Job): Promise<JobResult> {
  const record = await runCell(scenario, policies[policy], config);
  return {
    figures: readFigures(scenario, record),
    series: wantsSeries ? readSeries(scenario, record) : undefined,
  };
}
