import { seededRandom } from '../../src/testing/seeded-random.ts';
import { table } from '../report/table.ts';
import { contend } from './contention.ts';

/** What the experiment gives with each kind of jitter, as AWS's code gives it. */
export const awsContention = [
  { backoff: undefined, title: 'no wait', calls: 2423, timeMs: 2037 },
  { backoff: 'none', title: 'exponential', calls: 1859, timeMs: 63_249 },
  { backoff: 'full', title: 'full', calls: 795, timeMs: 4926 },
  { backoff: 'equal', title: 'equal', calls: 812, timeMs: 6604 },
  { backoff: 'decorrelated', title: 'decorrelated', calls: 1005, timeMs: 4584 },
] as const;

/** The means of many runs with 100 clients. */
export function meanContention(
  backoff: (typeof awsContention)[number]['backoff'],
  runs: number,
): { readonly calls: number; readonly timeMs: number } {
  const random = seededRandom(1);
  let calls = 0;
  let timeMs = 0;
  for (let run = 0; run < runs; run++) {
    const result = contend(100, backoff, random);
    calls += result.calls / runs;
    timeMs += result.timeMs / runs;
  }
  return { calls, timeMs };
}

/** The experiment beside what AWS's own code gives. */
export function contentionTable(runs: number): string {
  const rows = awsContention.map(({ backoff, title, calls, timeMs }) => {
    const mean = meanContention(backoff, runs);
    const off = (value: number, of: number): string => `${((value / of - 1) * 100).toFixed(1)} %`;
    return [
      title,
      mean.calls.toFixed(0),
      `${calls}`,
      off(mean.calls, calls),
      mean.timeMs.toFixed(0),
      `${timeMs}`,
      off(mean.timeMs, timeMs),
    ];
  });
  return table(['jitter', 'calls', 'AWS', '', 'time, ms', 'AWS', ''], rows);
}
