import { type Cell, cell } from './experiment.ts';

/** The long outages cost most and differ least from seed to seed; next to them, the short ones. */
const seedsOf = { 120: 1, 30: 5, 5: 3 } as const;

/** The run of 190 s that the goals speak of; else enough for everything that is held. */
const afterSOf = { 120: 80, 30: 130, 5: 40 } as const;

/**
 * Steadfetch in outages of every kind, length and load. Refused requests and broken connections are
 * the same to it, to the last digit: a test holds that (test/sim/storms.node.test.ts), and here is
 * one run for both.
 */
export function createGrid(): Cell[] {
  const cells: Cell[] = [];
  for (const outageS of [120, 30, 5] as const) {
    for (const [kind, name] of [
      ['503', '503 or drop'],
      ['hang', 'hang'],
    ] as const) {
      for (const load of [0.5, 0.7, 0.85]) {
        const afterS = afterSOf[outageS];
        const title = `${name}, ${outageS} s, load ${load}`;
        cells.push(cell('steadfetch', title, { kind, outageS, load, afterS }, seedsOf[outageS]));
      }
    }
  }
  return cells;
}
