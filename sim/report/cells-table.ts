import type { CellResult } from '../experiments/run-experiments.ts';
import type { Column } from './columns.ts';
import { table } from './table.ts';

/** The cells of an experiment, a line each. */
export function cellsTable(results: readonly CellResult[], columns: readonly Column[]): string {
  const rows = results.map(({ cell, figures }) => [
    cell.title,
    cell.policy,
    `${cell.seeds}`,
    ...columns.map(([, show]) => show(figures)),
  ]);
  return table(['', 'policy', 'runs', ...columns.map(([head]) => head)], rows);
}
