import { contentionTable } from '../contention/contention-table.ts';
import type { Experiment } from '../experiments/experiment.ts';
import type { CellResult } from '../experiments/run-experiments.ts';
import { cellsTable } from './cells-table.ts';
import { columnsOf } from './columns.ts';
import { goalsTable, missedGoals } from './goals-table.ts';

/** How many runs the contention experiment's means are of. */
const contentionRuns = 200;

/** All tables of the runs, as Markdown: what has been asked for first, then every cell. */
export function writeReport(
  experiments: readonly Experiment[],
  results: readonly CellResult[],
): string {
  const sections = experiments.map(({ name, title }) => {
    const own = results.filter(({ experiment }) => experiment === name);
    return `## ${title}\n\n${cellsTable(own, columnsOf(name))}`;
  });
  return [
    `## Goals\n\n${goalsTable(results)}`,
    `## What is not reached\n\n${missedGoals(results)}`,
    ...sections,
  ].join('\n\n');
}

/** The experiment that needs no storm. */
export function writeContention(): string {
  return `## AWS's contention experiment, with Steadfetch's waits\n\n${contentionTable(contentionRuns)}`;
}
