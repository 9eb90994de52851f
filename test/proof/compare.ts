import type { Told } from './contender.ts';
import type { Ledger } from './lossy-server.ts';

/** What people were told, beside what was done. */
export interface Figures {
  readonly orders: number;
  readonly toldSuccess: number;
  /** Booked more than once. */
  readonly duplicated: number;
  /** Told success, and not booked. */
  readonly successNotDone: number;
  /** Told that it failed, and booked. */
  readonly failedButDone: number;
  /** Told that it failed, and not booked. */
  readonly failedNotDone: number;
  /** Told that nobody knows, and booked. */
  readonly unknownDone: number;
  /** Told that nobody knows, and not booked. */
  readonly unknownNotDone: number;
  /** Requests that came to the server. */
  readonly arrivals: number;
  /** How many of them met a disturbance. */
  readonly disturbed: number;
}

/** Compares what people were told with the ledger. */
export function compare(
  told: ReadonlyMap<number, Told>,
  ledger: Pick<Ledger, 'orders' | 'arrivals'>,
): Figures {
  const count = (test: (told: Told, times: number) => boolean): number =>
    [...told].filter(([no, end]) => test(end, ledger.orders[no] ?? 0)).length;
  const arrivals = Object.values(ledger.arrivals).reduce((sum, more) => sum + more, 0);
  return {
    orders: told.size,
    toldSuccess: count((end) => end === 'success'),
    duplicated: count((_end, times) => times > 1),
    successNotDone: count((end, times) => end === 'success' && times === 0),
    failedButDone: count((end, times) => end === 'failed' && times > 0),
    failedNotDone: count((end, times) => end === 'failed' && times === 0),
    unknownDone: count((end, times) => end === 'unknown' && times > 0),
    unknownNotDone: count((end, times) => end === 'unknown' && times === 0),
    arrivals,
    disturbed: arrivals - (ledger.arrivals.none ?? 0),
  };
}
