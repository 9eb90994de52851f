import type { Figures } from '../figures/figures.ts';
import type { PartialFigures, PartialKind } from '../partial/partial-scenario.ts';
import { show } from '../report/columns.ts';
import { isCellReached, type UserCell } from '../user/user-report.ts';
import type { Shown } from './measure.ts';

/** A figure of a variant. */
export interface Column {
  readonly head: string;
  /** More is worse. */
  readonly read: (shown: Shown) => number;
  readonly show: (value: number) => string;
  /** It is clearly worse by so much, or by a tenth, whichever is more. */
  readonly margin: number;
}

export const isClearlyWorse = ({ margin }: Column, value: number, base: number): boolean =>
  value - base > Math.max(margin, Math.abs(base) / 10);

const count = (value: number): string => `${-value}`;
const seconds = (valueMs: number): string =>
  valueMs === Infinity ? 'never' : show.seconds(valueMs);

/** A cell of one outage, whose server answers as fast as before. */
const isUsual = ({ outageS, job: { page } }: UserCell): boolean =>
  outageS !== undefined && page.answerMs === undefined;

/** Of one user: how many cells are reached, and the mean until the first answer. */
export const userColumns: readonly Column[] = [
  {
    head: 'one user: cells reached',
    read: ({ user }) => -user.filter((cell) => isUsual(cell) && isCellReached(cell)).length,
    show: count,
    margin: 3,
  },
  {
    head: 'all answered in',
    read: ({ user }) => -user.filter((cell) => isUsual(cell) && cell.figures.answered === 1).length,
    show: count,
    margin: 0,
  },
  {
    head: 'first answer after 0.5 to 7 s of 503',
    read: ({ user }) =>
      user.find(
        ({ outageS, job: { page } }) =>
          outageS === undefined && page.kind === '503' && page.queries === 1,
      )?.figures.firstMeanMs ?? NaN,
    show: seconds,
    margin: 200,
  },
  {
    head: 'after 30 s',
    read: ({ user }) =>
      user.find(
        ({ outageS, job: { page } }) => outageS === 30 && page.kind === '503' && page.queries === 1,
      )?.figures.firstMedianMs ?? NaN,
    show: seconds,
    margin: 1000,
  },
];

const partialColumn = (
  head: string,
  kind: PartialKind,
  margin: number,
  read: (figures: PartialFigures) => number,
  format: (value: number) => string,
): Column => ({
  head,
  margin,
  read: ({ partial }) => {
    const own = partial.get(kind);
    return own ? read(own) : NaN;
  },
  show: format,
});

const asShare = (value: number): string => show.percent(-value);
const milliseconds = (value: number): string => `${value.toFixed(0)} ms`;

/** The whole of a fresh page of 30, from the first answer on, whose server takes 1.2 s for each. */
export const slowColumn: Column = {
  head: 'a fresh page of 30, 1.2 s an answer: whole in',
  read: ({ user }) =>
    user.find(({ job: { page } }) => page.answerMs !== undefined)?.figures.wholeP95Ms ?? NaN,
  show: seconds,
  margin: 1000,
};

/** The first answer after a Retry-After of 30 s. */
export const toldColumn: Column = {
  head: 'one user: first answer after a Retry-After of 30 s',
  read: ({ user }) =>
    user.find(
      ({ outageS, job: { page } }) =>
        outageS === 30 && page.kind === 'retry-after' && page.queries === 1,
    )?.figures.firstMedianMs ?? NaN,
  show: seconds,
  margin: 500,
};

/** Of page loads that fail often for ever: what is answered by React Query's last retry. */
export const brownOutColumns: readonly Column[] = [
  partialColumn(
    '70 % errors of one endpoint: in 8 s',
    '70 % errors, one endpoint',
    0.01,
    (f) => -f.prompt,
    asShare,
  ),
  partialColumn('90 %: in 8 s', '90 % errors, one endpoint', 0.01, (f) => -f.prompt, asShare),
];

/** What is partly broken: what fails of the rest, and how long that takes. */
export const partialColumns: readonly Column[] = [
  partialColumn('a widget hangs: fail', 'widget hangs', 0.001, (f) => f.failed, show.percent),
  partialColumn('mean', 'widget hangs', 20, (f) => f.meanMs, milliseconds),
  partialColumn('1 of 20 hangs: fail', 'one hangs', 0.001, (f) => f.failed, show.percent),
  partialColumn('mean', 'one hangs', 20, (f) => f.meanMs, milliseconds),
  partialColumn('1 of 20: 429: fail', 'one 429, 30 s', 0.001, (f) => f.failed, show.percent),
  partialColumn('10 % errors: late', '10 % errors', 0.01, (f) => f.late, show.percent),
  partialColumn('paused', '10 % errors', 0.01, (f) => f.paused, show.percent),
  partialColumn('to mobile', 'mobile, shown offline', 1000, (f) => f.completeMs, seconds),
];

type StormFigure = 'requests' | 'answered' | 'well' | 'peak' | 'fail';

const stormFigures: Readonly<Record<StormFigure, (title: string) => Omit<Column, 'head'>>> = {
  requests: (title) => ({ ...of(title, (f) => f.outageRatio), show: show.times, margin: 0.1 }),
  answered: (title) => ({
    ...of(title, (f) => -f.askedInOutageOk),
    show: asShare,
    margin: 0.05,
  }),
  well: (title) => ({
    ...of(title, (f) => f.endWellFromS ?? Infinity),
    show: (value) => show.fromS(value === Infinity ? null : value),
    margin: 3,
  }),
  peak: (title) => ({ ...of(title, (f) => f.peak1S), show: show.peak, margin: 0.3 }),
  fail: (title) => ({
    ...of(title, (f) => f.failedAfterRecovery),
    show: show.percent,
    margin: 0.003,
  }),
};

const of = (title: string, read: (figures: Figures) => number): Pick<Column, 'read'> => ({
  read({ storms }) {
    const figures = storms.get(title);
    return figures ? read(figures) : NaN;
  },
});

const stormHeads: Readonly<Record<StormFigure, string>> = {
  requests: 'requests ÷ needed',
  answered: 'answered',
  well: 'well from',
  peak: 'peak',
  fail: 'of the new ones fail',
};

/** Some figures of a storm. */
export const stormColumns = (title: string, names: readonly StormFigure[]): Column[] =>
  names.map((name, index) => ({
    ...stormFigures[name](title),
    head: index === 0 ? `${title}: ${stormHeads[name]}` : stormHeads[name],
  }));
