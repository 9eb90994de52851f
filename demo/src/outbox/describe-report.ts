import { kiteOf } from '../shop/kite-of.ts';
import type { FlightReport } from '../reports/report.ts';

/** A report in a few words: "Heron, West beach". */
export const nameOf = (report: Pick<FlightReport, 'kite' | 'place'>): string =>
  `${kiteOf(report).name}, ${report.place}`;

export function formatBytes(bytes: number): string {
  const kilobytes = bytes / 1000;
  return kilobytes < 1000
    ? `${Math.max(1, Math.round(kilobytes))} kB`
    : `${(kilobytes / 1000).toFixed(1)} MB`;
}
