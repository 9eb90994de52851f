import { parentPort } from 'node:worker_threads';
import { runAsProduction } from '../engine/production.ts';
import { readFigures } from '../figures/figures.ts';
import { readSeries } from '../figures/series.ts';
import { policies } from '../policies/by-name.ts';
import type { Job, JobResult } from './job.ts';
import { runCell } from './run-cell.ts';

runAsProduction();

async function run({ policy, scenario, config, wantsSeries }: Job): Promise<JobResult> {
  const record = await runCell(scenario, policies[policy], config);
  return {
    figures: readFigures(scenario, record),
    series: wantsSeries ? readSeries(scenario, record) : undefined,
  };
}

parentPort?.on('message', (job: Job) => {
  // A rejection ends the worker, and so the whole: a run that fails is a mistake of ours.
  void run(job).then((result) => parentPort?.postMessage(result, []));
});
