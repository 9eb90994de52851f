import { createTabState, type TabState } from '../orders/tab-state.ts';
import type { FlightReport } from './report.ts';

/** A report that has arrived: the outbox has forgotten it by then. */
export type DeliveredReport = Omit<FlightReport, 'photo'>;

/** What was delivered lately, as this tab has heard of it. */
export type DeliveredLog = TabState<readonly DeliveredReport[]>;

/** More than that nobody looks at. */
const longestLog = 5;

export const openDeliveredLog = (): DeliveredLog =>
  createTabState<readonly DeliveredReport[]>('windhover.delivered', []);

export function noteDelivered(
  log: DeliveredLog,
  { id, kite, place, words, writtenAt }: FlightReport,
): void {
  const report = { id, kite, place, words, writtenAt };
  log.update((delivered) => [
    ...delivered.filter((one) => one.id !== id).slice(1 - longestLog),
    report,
  ]);
}
