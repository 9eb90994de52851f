import { isHttpError } from 'steadfetch';
import type { OutboxContext } from 'steadfetch/outbox';
import { type FlightReport, type ReportReceipt, reportsUrl, toForm } from './report.ts';

/** Sends a report. A refusal is kept with the words of the shop, for the user to read. */
export async function sendReport(
  report: FlightReport,
  { json }: Pick<OutboxContext, 'json'>,
  round: number,
): Promise<ReportReceipt> {
  try {
    return await json<ReportReceipt>(reportsUrl(round), { method: 'POST', body: toForm(report) });
  } catch (error) {
    if (isHttpError(error) && error.status === 422) {
      const { title } = (await error.response.json()) as { readonly title: string };
      error.message = title;
    }
    throw error;
  }
}
