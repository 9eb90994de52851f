import type { Keys } from '../orders/books.ts';
import { createBrowserState, type TabState } from '../orders/tab-state.ts';
import type { FlightReport } from './report.ts';

/** A report in the shop's log. */
export interface ReceivedReport extends Pick<FlightReport, 'id' | 'kite' | 'place' | 'words'> {
  readonly number: number;
  /** When it came, in epoch milliseconds. */
  readonly at: number;
  readonly key: string;
  /** The size of its photo; 0 without one. */
  readonly photoBytes: number;
}

export type NewReport = Omit<ReceivedReport, 'number'>;

/** Everything that the shop knows of flight reports. */
export interface ReportBooks extends Keys {
  readonly reports: readonly ReceivedReport[];
  /** How many requests have come in. */
  readonly requestCount: number;
  /** Counted up by whoever starts over. */
  readonly round: number;
}

export const emptyReportBooks: ReportBooks = {
  reports: [],
  keys: {},
  lastNumber: 0,
  requestCount: 0,
  round: 1,
};

/** One for all tabs, like the outbox whose reports they are. */
export const openReportBooks = (): TabState<ReportBooks> =>
  createBrowserState('windhover.reports', emptyReportBooks);

export const enterReport = (books: ReportBooks, report: ReceivedReport): ReportBooks => ({
  ...books,
  reports: [...books.reports, report],
});
