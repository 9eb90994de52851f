import { failTimes, networkError } from 'steadfetch/testing';
import type { Trouble } from '../orders/troubles.ts';

export type ReportTroubleId = 'offline' | 'down' | 'lost' | 'refused' | 'fine';

/** One way for a flight report to go wrong. */
export type ReportTrouble = Trouble<ReportTroubleId>;

/** What nothing goes wrong by. */
export const fine: ReportTrouble = {
  id: 'fine',
  label: 'All is well',
  explanation:
    'The shop takes the report at once. It is written to the disk before its first byte is sent, and removed when the answer is in.',
  strikes: 'before',
  times: 0,
  fault: networkError(),
};

export const reportTroubles: readonly [ReportTrouble, ...ReportTrouble[]] = [
  {
    id: 'offline',
    label: 'Offline',
    explanation:
      'Nothing leaves this device, and nothing is lost. Send two reports, reload the page or close it; then choose “All is well”, and watch them arrive.',
    strikes: 'before',
    times: Infinity,
    fault: networkError(),
  },
  {
    id: 'down',
    label: 'Shop down',
    explanation:
      'Every request is refused (503) for as long as you like. The report is sent again and again, with growing waits. Send now sends it at once.',
    strikes: 'before',
    times: Infinity,
    fault: failTimes(Infinity, 503),
  },
  {
    id: 'lost',
    label: 'Answer lost',
    explanation:
      'The shop takes the report, then the connection breaks. It is sent again with the same key, also after a reload: two requests, one report.',
    strikes: 'after',
    times: 1,
    fault: networkError(),
  },
  {
    id: 'refused',
    label: 'Refused',
    explanation:
      'The shop now wants the wind in every report, and refuses the others (422). Sending it again would not help, so it waits for you, with the reason.',
    strikes: 'before',
    times: 0,
    fault: networkError(),
  },
  fine,
];
