import {
  type ReportTrouble,
  type ReportTroubleId,
  reportTroubles,
} from '../reports/report-troubles.ts';

/** Whether a URL hash shows the outbox: `#outbox`, or `#outbox/refused`. */
export const isOutbox = (hash: string): boolean => /^#outbox(\/|$)/.test(hash);

/** What goes wrong there; a hash that names nothing shows what says most. */
export function parseOutboxHash(hash: string): ReportTrouble {
  const id = hash.split('/')[1];
  return reportTroubles.find((trouble) => trouble.id === id) ?? reportTroubles[0];
}

export const formatOutboxHash = (id: ReportTroubleId = reportTroubles[0].id): string =>
  `#outbox/${id}`;
