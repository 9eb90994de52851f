import { milestones, type Scenario } from '../model/scenario.ts';
import type { RunRecord } from './record.ts';

/** How long one value of a series is. */
export const seriesStepMs = 100;

/** The requests that arrived in each 100 ms, since the start. */
export function readSeries(scenario: Scenario, { arrivalsMs }: RunRecord): number[] {
  const length = Math.ceil(milestones(scenario).endMs / seriesStepMs);
  const series = Array.from<number>({ length }).fill(0);
  for (const atMs of arrivalsMs) {
    const step = Math.floor(atMs / seriesStepMs);
    if (step < length) series[step] = (series[step] ?? 0) + 1;
  }
  return series;
}
