import { http, type HttpHandler, HttpResponse } from 'msw';
import { idempotent } from 'steadfetch/server';
import { networkError, slow } from 'steadfetch/testing';
import { booksStore } from '../orders/books-store.ts';
import { createTroubleMaker, type Strikes } from '../orders/strikes.ts';
import { createTabState, type TabState } from '../orders/tab-state.ts';
import { setPlugged } from './plug.ts';
import { readReport } from './read-report.ts';
import { type ReportReceipt, reportsUrl } from './report.ts';
import {
  emptyReportBooks,
  enterReport,
  type NewReport,
  openReportBooks,
  type ReportBooks,
} from './report-books.ts';
import type { ReportTrouble } from './report-troubles.ts';

/** The shop's log, which takes each report once. */
export interface ReportDesk {
  readonly books: TabState<ReportBooks>;
  /** What goes wrong from now on, also with the device. */
  readonly play: (trouble: ReportTrouble) => void;
  /** An empty log, on a server of its own. */
  readonly startOver: () => void;
  readonly handlers: readonly HttpHandler[];
}

/** Long enough that a request can be seen on its way. */
const latency = slow({ delayMs: 400 });

const whileUnplugged = networkError();

export function createReportDesk(): ReportDesk {
  const books = openReportBooks();
  const strikes = createTabState<Strikes>('windhover.reports', { trouble: '', failureCount: 0 });
  const { play, playing, strike } = createTroubleMaker<Strikes, ReportTrouble>(strikes);
  const isUnplugged = (): boolean => playing()?.id === 'offline';

  const takeReport = idempotent(
    async (request, { key, tx }) => {
      const report = readReport(await request.formData(), playing()?.id === 'refused');
      if ('refusal' in report) {
        const headers = { 'Content-Type': 'application/problem+json' };
        return Response.json({ title: report.refusal }, { status: 422, headers });
      }
      const receipt: ReportReceipt = { number: tx.book({ ...report, at: Date.now(), key }) };
      return Response.json(receipt, { status: 201 });
    },
    { store: booksStore<ReportBooks, NewReport>(books, enterReport) },
  );

  return {
    books,
    play(trouble) {
      play(trouble);
      setPlugged(!isUnplugged());
    },
    startOver() {
      books.update(({ round }) => ({ ...emptyReportBooks, round: round + 1 }));
    },
    handlers: [
      // What the connectivity probe asks for.
      http.head('*/api/here', (info) =>
        isUnplugged() ? whileUnplugged(info) : new HttpResponse(null, { status: 204 }),
      ),
      http.post('*/api/flight-reports', async (info) => {
        const isOver = (): boolean => info.request.url !== reportsUrl(books.getState().round);
        if (isUnplugged()) return whileUnplugged(info);
        if (isOver()) return HttpResponse.error();
        books.update((state) => ({ ...state, requestCount: state.requestCount + 1 }));
        await latency(info);
        if (isOver()) return HttpResponse.error();
        const refused = await strike(info, 'before');
        if (refused) return refused;
        const answer = await takeReport(info.request);
        const lost = await strike(info, 'after');
        if (lost) return lost;
        strikes.update((state) => ({ ...state, failureCount: 0 }));
        return answer;
      }),
    ],
  };
}
