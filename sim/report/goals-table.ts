import type { Goal } from '../experiments/goal.ts';
import { goals } from '../experiments/goals.ts';
import type { CellResult } from '../experiments/run-experiments.ts';
import { show } from './columns.ts';
import { table } from './table.ts';

/** What Steadfetch must reach beside what it has reached, over all the cells of each goal. */
export function goalsTable(results: readonly CellResult[]): string {
  const rows = goals.flatMap((goal) => {
    const about = cellsOf(goal, results);
    return about.length === 0 ? [] : [goalRow(goal, about)];
  });
  return table(['figure', 'goal', 'reached', 'in cells', 'not in'], rows);
}

function cellsOf(goal: Goal, results: readonly CellResult[]): CellResult[] {
  return results.filter(
    ({ experiment, cell: { policy, scenario } }) =>
      policy === 'steadfetch' &&
      experiment === goal.experiment &&
      (goal.isAbout?.(scenario) ?? true),
  );
}

function isReached(goal: Goal, { cell, figures }: CellResult): boolean {
  const value = goal.read(figures) ?? Infinity;
  const limit = goal.limit(cell.scenario);
  return goal.sense === 'at most' ? value <= limit : value >= limit;
}

function goalRow(goal: Goal, about: readonly CellResult[]): string[] {
  const missed = about.filter((result) => !isReached(goal, result));
  const limits = [...new Set(about.map(({ cell }) => goal.limit(cell.scenario)))];
  const values = about
    .map(({ figures }) => goal.read(figures) ?? Infinity)
    .toSorted((a, b) => a - b);
  const ends = [values[0], values.at(-1)].map((value) => shown(goal, value ?? NaN));
  return [
    goal.title,
    `${goal.sense} ${limits.map((limit) => shown(goal, limit)).join(' / ')}`,
    [...new Set(ends)].join(' to '),
    `${about.length - missed.length} of ${about.length}`,
    missed
      .map(
        (result) => `${result.cell.title} (${shown(goal, goal.read(result.figures) ?? Infinity)})`,
      )
      .join('; '),
  ];
}

function shown({ unit }: Goal, value: number): string {
  if (unit === 'times') return show.times(value);
  if (unit === 'share') return show.percent(value);
  return value === Infinity ? 'never' : `${Number(value.toFixed(1))} s`;
}
