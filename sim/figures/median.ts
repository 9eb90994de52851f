import type { Figures } from './figures.ts';

/** The middle one; of an even number, the upper of the two. Never (null) is later than any time. */
function middle(values: readonly (number | null)[]): number | null {
  const sorted = values
    .map((value) => value ?? Infinity)
    .toSorted((a, b) => (Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b));
  const value = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  return value === Infinity ? null : value;
}

/** Each figure's median over several runs of one cell. */
export function medianFigures(runs: readonly Figures[]): Figures {
  const names = Object.keys(runs[0] ?? {}) as (keyof Figures)[];
  return Object.fromEntries(
    names.map((name) => [name, middle(runs.map((run) => run[name]))]),
  ) as unknown as Figures;
}
