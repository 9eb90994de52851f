import type { Goal, Shown } from '../experiments/goal.ts';
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

/** The goals that are not reached in every cell: by how much, and what reaching them would cost. */
export function missedGoals(results: readonly CellResult[]): string {
  const lines = goals.flatMap((goal) => {
    const about = cellsOf(goal, results);
    const missed = about.filter((shown) => !isReached(goal, shown));
    if (missed.length === 0) return [];
    const limits = [...new Set(missed.map((shown) => format(goal, limitOf(goal, shown))))];
    const values = rangeOf(goal, missed);
    const extent = `${values} instead of ${goal.sense} ${limits.join(' / ')}, in ${missed.length} of ${about.length} cells`;
    return [`- **${goal.title}**: ${extent}.${goal.cost ? ` ${goal.cost}` : ''}`];
  });
  return lines.length === 0 ? 'Every goal is reached in every cell.' : lines.join('\n');
}

function rangeOf(goal: Goal, about: readonly About[]): string {
  const values = about.map((shown) => valueOf(goal, shown)).toSorted((a, b) => a - b);
  const ends = [values[0], values.at(-1)].map((value) => format(goal, value ?? NaN));
  return [...new Set(ends)].join(' to ');
}

/** A cell that a goal is about. */
interface About extends Shown {
  readonly title: string;
}

function cellsOf(goal: Goal, results: readonly CellResult[]): About[] {
  const own = results.filter(
    ({ experiment, cell: { policy, scenario } }) =>
      policy === 'steadfetch' &&
      goal.experiments.includes(experiment) &&
      (goal.isAbout?.(scenario) ?? true),
  );
  return own.map(({ experiment, cell: { title, scenario }, figures, runs }) => {
    const other = results.find(
      (one) =>
        one.experiment === experiment &&
        one.cell.title === title &&
        one.cell.policy === 'react-query',
    );
    const name = goal.experiments.length > 1 ? `${experiment}: ${title}` : title;
    return { title: name, scenario, figures, runs, reactQuery: other?.figures };
  });
}

const valueOf = (goal: Goal, shown: Shown): number => goal.read(shown) ?? Infinity;
const limitOf = (goal: Goal, shown: Shown): number => goal.limit(shown) ?? Infinity;

function isReached(goal: Goal, shown: Shown): boolean {
  const [value, limit] = [valueOf(goal, shown), limitOf(goal, shown)];
  return goal.sense === 'at most' ? value <= limit : value >= limit;
}

function goalRow(goal: Goal, about: readonly About[]): string[] {
  const missed = about.filter((shown) => !isReached(goal, shown));
  const limits = [...new Set(about.map((shown) => limitOf(goal, shown)))];
  return [
    goal.title,
    `${goal.sense} ${limits.map((limit) => format(goal, limit)).join(' / ')}`,
    rangeOf(goal, about),
    `${about.length - missed.length} of ${about.length}`,
    missed.map((shown) => `${shown.title} (${format(goal, valueOf(goal, shown))})`).join('; '),
  ];
}

function format({ unit }: Goal, value: number): string {
  if (unit === 'times') return show.times(value);
  if (unit === 'share') return show.percent(value);
  if (unit === 'runs') return `${value}`;
  return value === Infinity ? 'never' : `${Number(value.toFixed(1))} s`;
}
