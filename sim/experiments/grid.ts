import type { OutageKind } from '../model/scenario.ts';
import { type Cell, cell } from './experiment.ts';

/**
 * The long outages cost most and differ least from seed to seed. Refused and dropped connections
 * are the same to Steadfetch: with the same seeds they have given the same figures to the last digit.
 */
function seedsOf(kind: OutageKind, outageS: number): number {
  return kind === 'drop' || outageS > 30 ? 1 : 5;
}

/** Steadfetch in outages of every kind, length and load, the longest first. */
export function createGrid(): Cell[] {
  const cells: Cell[] = [];
  for (const outageS of [120, 30, 5]) {
    for (const kind of ['503', 'drop', 'hang'] as const satisfies readonly OutageKind[]) {
      for (const load of [0.5, 0.7, 0.85]) {
        // The run of 190 s that the goals speak of; 80 s are enough for everything that is held.
        const afterS = outageS === 30 ? 130 : 80;
        const title = `${kind}, ${outageS} s, load ${load}`;
        const seeds = seedsOf(kind, outageS);
        cells.push(cell('steadfetch', title, { kind, outageS, load, afterS }, seeds));
      }
    }
  }
  return cells;
}
