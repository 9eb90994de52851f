import type { OutboxEntry } from 'steadfetch/outbox';
import type { DeliveredReport } from '../reports/delivered-log.ts';
import type { FlightReport } from '../reports/report.ts';

/** A report on the list: in the outbox, or delivered. */
export interface Item {
  readonly id: string;
  readonly report: Omit<FlightReport, 'photo'>;
  /** Undefined once it is delivered, and the outbox has forgotten it. */
  readonly entry: OutboxEntry<FlightReport> | undefined;
}

/** Everything that there is to show, the newest first. */
export function itemsOf(
  entries: readonly OutboxEntry<FlightReport>[],
  delivered: readonly DeliveredReport[],
): readonly Item[] {
  const done = new Set(delivered.map(({ id }) => id));
  const items: Item[] = delivered.map((report) => ({ id: report.id, report, entry: undefined }));
  for (const entry of entries) {
    const report = entry.variables;
    if (report && !done.has(report.id)) items.push({ id: report.id, report, entry });
  }
  return items.toReversed().toSorted((a, b) => b.report.writtenAt - a.report.writtenAt);
}
