import { runGlitch } from '../glitch/run-glitch.ts';
import { runLimits } from '../limits/run-limits.ts';
import { runReads } from '../latency-limit/run-reads.ts';
import { runPartial } from '../partial/run-partial.ts';
import { runUserJob } from '../user/run-user-job.ts';
import { runStormJob } from './run-storm-job.ts';

/** What a worker can be asked to run. */
export const works = {
  storm: runStormJob,
  user: runUserJob,
  partial: runPartial,
  reads: runReads,
  glitch: runGlitch,
  limits: runLimits,
} as const;

export type Works = typeof works;
