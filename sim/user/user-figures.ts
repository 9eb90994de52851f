import type { ShownQuery, UserRecord } from './run-user.ts';
import { maxPauseMs, type PageScenario } from './user-scenario.ts';

/** What a cell showed, over all of its runs. Times are in milliseconds; Infinity: never. */
export interface UserFigures {
  /** Of all queries, those answered within `maxPauseMs` and without an error before. */
  readonly answered: number;
  /** From when the server can be found well to the first answer. */
  readonly firstMedianMs: number;
  readonly firstP95Ms: number;
  readonly firstMeanMs: number;
  /** From the first answer to the last one. */
  readonly wholeMedianMs: number;
  readonly wholeP95Ms: number;
  /** Of the queries that follow each other, those that were answered so, too, but for a second. */
  readonly inOrder: number;
  readonly requests: number;
}

/**
 * When the server can be found well, from the start of the outage: at recovery, and not before an
 * attempt that hangs is given up.
 */
export const wellFromMs = ({ kind, timeoutMs }: PageScenario, outageS: number): number =>
  kind === 'hang' && timeoutMs < Infinity ? Math.max(outageS * 1000, timeoutMs) : outageS * 1000;

/** Nobody minds who comes first within this time. */
const inOrderMs = 1000;

const answeredMs = ({ isOk, settledMs }: ShownQuery): number =>
  isOk && settledMs !== undefined ? settledMs : Infinity;

/** The smallest value that so large a share does not exceed. */
function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => (a === b ? 0 : a - b));
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? NaN;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** `wellFrom` of each run. */
export function readUserFigures(
  records: readonly UserRecord[],
  wellFrom: readonly number[],
): UserFigures {
  const all = records.flatMap(({ queries }) => queries);
  const firsts = records.map(
    ({ queries }, index) => Math.min(...queries.map(answeredMs)) - (wellFrom[index] ?? NaN),
  );
  const wholes = records.map(({ queries }) => {
    const times = queries.map(answeredMs);
    const last = Math.max(...times);
    return last === Infinity ? Infinity : last - Math.min(...times);
  });
  const neighbours = records.flatMap(({ queries }) =>
    queries.slice(1).map((query, index) => {
      const before = queries[index];
      return before !== undefined && answeredMs(before) <= answeredMs(query) + inOrderMs;
    }),
  );
  return {
    answered:
      all.filter((query) => answeredMs(query) - query.askedMs <= maxPauseMs).length / all.length,
    firstMedianMs: quantile(firsts, 0.5),
    firstP95Ms: quantile(firsts, 0.95),
    firstMeanMs: mean(firsts),
    wholeMedianMs: quantile(wholes, 0.5),
    wholeP95Ms: quantile(wholes, 0.95),
    inOrder: neighbours.length === 0 ? 1 : neighbours.filter(Boolean).length / neighbours.length,
    requests: mean(records.map(({ requests }) => requests)),
  };
}
