import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import { queryClient, steady } from '../steady.ts';
import { type DeliveredLog, noteDelivered, openDeliveredLog } from './delivered-log.ts';
import type { FlightReport } from './report.ts';
import type { ReportDesk } from './report-desk.ts';
import { reportPolicy } from './report-policy.ts';
import { sendReport } from './send-report.ts';

/** The demo's outbox, and what it has delivered lately. */
export interface ReportPost {
  readonly outbox: ReturnType<typeof createReportOutbox>;
  readonly delivered: DeliveredLog;
}

function createReportOutbox(desk: ReportDesk, delivered: DeliveredLog) {
  return createOutbox({
    steady,
    queryClient,
    name: 'windhover-outbox',
    handlers: {
      flightReport: outboxHandler({
        mutationFn: (report: FlightReport, context) =>
          sendReport(report, context, desk.books.getState().round),
        policy: reportPolicy,
        // A log is written in order; what needs its writer does not hold up the others.
        scope: 'flight-log',
        onDead: 'pass',
        onDelivered: ({ variables }) => noteDelivered(delivered, variables),
      }),
    },
  });
}

/** At start-up, whatever page is shown: what an earlier one has left is delivered. */
export function createReportPost(desk: ReportDesk): ReportPost {
  const delivered = openDeliveredLog();
  return { outbox: createReportOutbox(desk, delivered), delivered };
}
