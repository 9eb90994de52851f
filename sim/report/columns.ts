import type { Figures } from '../figures/figures.ts';

/** How figures are shown. */
export const show = {
  times: (value: number): string => (Number.isNaN(value) ? '-' : value.toFixed(2)),
  peak: (value: number): string => value.toFixed(1),
  percent: (value: number): string => {
    const percent = value * 100;
    if (Number.isNaN(percent)) return '-';
    return `${percent > 0 && percent < 9.95 ? percent.toFixed(2) : percent.toFixed(0)} %`;
  },
  fromS: (value: number | null): string => (value === null ? 'never' : `${value} s`),
  seconds: (valueMs: number): string =>
    Number.isNaN(valueMs) ? '-' : `${(valueMs / 1000).toFixed(1)} s`,
};

/** A column of a table of cells: its head, and what it shows. */
export type Column = readonly [head: string, show: (figures: Figures) => string];

const loadColumns: readonly Column[] = [
  ['requests ÷ needed in the outage', (f) => show.times(f.outageRatio)],
  ['whole run', (f) => show.times(f.wholeRatio)],
];

const peakColumns: readonly Column[] = [
  ['peak 100 ms', (f) => show.peak(f.peak100Ms)],
  ['peak 1 s', (f) => show.peak(f.peak1S)],
];

/** For everything that has an outage. */
const outageColumns: readonly Column[] = [
  ...loadColumns,
  ['new ones end well from', (f) => show.fromS(f.endWellFromS)],
  ['within 1 s from', (f) => show.fromS(f.promptFromS)],
  ['asked in the outage, end well', (f) => show.percent(f.askedInOutageOk)],
  ['the bound', (f) => show.percent(f.spareBound)],
  ...peakColumns,
  ['fail after recovery', (f) => show.percent(f.failedAfterRecovery)],
];

/** For a server that fails now and then. */
const errorColumns: readonly Column[] = [
  ['requests ÷ needed', (f) => show.times(f.wholeRatio)],
  ['fail', (f) => show.percent(f.failed)],
  ['median', (f) => show.seconds(f.medianMs)],
  ['p99', (f) => show.seconds(f.p99Ms)],
];

/** For a single browser. */
const browserColumns: readonly Column[] = [
  ['requests in the outage', (f) => `${f.outageRequests}`],
  ...loadColumns,
  ['asked in the outage, end well', (f) => show.percent(f.askedInOutageOk)],
];

/** What is shown of an experiment. */
export function columnsOf(experiment: string): readonly Column[] {
  if (experiment === 'errors') return errorColumns;
  return experiment === 'one-browser' ? browserColumns : outageColumns;
}
