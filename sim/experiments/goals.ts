import type { Figures } from '../figures/figures.ts';
import type { Scenario } from '../model/scenario.ts';
import type { Goal, Shown } from './goal.ts';

/** Limits that are the same in every cell. */
const all = (limit: number) => (): number => limit;

/** The median of a figure. */
const median =
  (read: (figures: Figures) => number | null) =>
  ({ figures }: Shown): number | null =>
    read(figures);

/** What React Query has shown in the same cell. */
const reactQuery =
  (read: (figures: Figures) => number | null, ofNothing: number) =>
  (shown: Shown): number | null =>
    shown.reactQuery ? read(shown.reactQuery) : ofNothing;

const high = ({ load }: Scenario): boolean => load === 0.85;
const busy = ({ rate, pageSize }: Scenario): boolean => rate === 0.2 && pageSize === 0;

/** Requests ÷ needed in the outage, by how often a tab asks. */
const requestsLimit = ({ scenario: { rate, pageSize } }: Shown): number => {
  if (pageSize > 0 || rate === 0.05) return 2.2;
  return rate === 0.2 ? 1.35 : 3;
};

/** Where somebody waits. */
const foreground = ['fleet', 'page-loads', 'one-broken'] as const;

/** What Steadfetch's defaults must reach, as medians over the seeds. */
export const goals: readonly Goal[] = [
  {
    title: 'asked in the outage, answered (load 0.85: 40 %)',
    experiments: foreground,
    read: median((f) => f.askedInOutageOk),
    sense: 'at least',
    limit: ({ scenario }) => (high(scenario) ? 0.4 : 0.75),
    unit: 'share',
  },
  {
    title: 'runs in which the server does not come back',
    experiments: foreground,
    read: ({ runs }) => runs.filter(({ endWellFromS }) => endWellFromS === null).length,
    sense: 'at most',
    limit: all(0),
    unit: 'runs',
  },
  {
    title: 'new ones end well, from (0.2/s: 3 s; quieter: 20 s; load 0.85: 60 s)',
    experiments: foreground,
    read: median((f) => f.endWellFromS),
    sense: 'at most',
    limit: ({ scenario }) => (high(scenario) ? 60 : busy(scenario) ? 3 : 20),
    unit: 'seconds',
  },
  {
    title: 'fail of what is asked after recovery',
    experiments: foreground,
    read: median((f) => f.failedAfterRecovery),
    sense: 'at most',
    limit: all(0.01),
    unit: 'share',
  },
  {
    title: 'requests ÷ needed in the outage (0.2/s: 1.35; 0.05/s and page loads: 2.2; 0.01/s: 3)',
    experiments: foreground,
    read: median((f) => f.outageRatio),
    sense: 'at most',
    limit: requestsLimit,
    unit: 'times',
  },
  {
    title: 'the same of work that is declared background: half of that',
    experiments: ['background'],
    read: median((f) => f.outageRatio),
    sense: 'at most',
    limit: (shown) => requestsLimit(shown) / 2,
    unit: 'times',
  },
  {
    title: 'peak of 1 s ÷ steady after recovery',
    experiments: foreground,
    read: median((f) => f.peak1S),
    sense: 'at most',
    limit: all(2.4),
    unit: 'times',
  },
  {
    title: 'limit of 2 s, 0.2/s: requests ÷ needed in the outage',
    experiments: ['stress'],
    isAbout: busy,
    read: median((f) => f.outageRatio),
    sense: 'at most',
    limit: all(1.35),
    unit: 'times',
  },
  {
    title: 'limit of 2 s, 0.2/s: new ones end well, from',
    experiments: ['stress'],
    isAbout: busy,
    read: median((f) => f.endWellFromS),
    sense: 'at most',
    limit: all(2),
    unit: 'seconds',
  },
  {
    title: 'limit of 2 s, 0.2/s: asked in the outage, answered ÷ the bound of spare capacity',
    experiments: ['stress'],
    isAbout: busy,
    read: median((f) => f.outageOkOfBound),
    sense: 'at least',
    limit: all(0.75),
    unit: 'share',
  },
  {
    title: "limit of 2 s, quieter: new ones end well no later than React Query's",
    experiments: ['stress'],
    isAbout: (scenario) => !busy(scenario),
    read: median((f) => f.endWellFromS),
    sense: 'at most',
    limit: reactQuery((f) => f.endWellFromS, Infinity),
    unit: 'seconds',
  },
  {
    title: "limit of 2 s, quieter: asked in the outage, answered no less than React Query's",
    experiments: ['stress'],
    isAbout: (scenario) => !busy(scenario),
    read: median((f) => f.askedInOutageOk),
    sense: 'at least',
    limit: reactQuery((f) => f.askedInOutageOk, 0),
    unit: 'share',
  },
  {
    title: 'peak of 1 s with Retry-After = time until recovery',
    experiments: ['retry-after'],
    read: median((f) => f.peak1S),
    sense: 'at most',
    limit: all(2.4),
    unit: 'times',
  },
  {
    title: 'fail of what is asked in a blip of 2 s',
    experiments: ['blip'],
    read: median((f) => f.failedInOutage),
    sense: 'at most',
    limit: all(0.001),
    unit: 'share',
  },
  {
    title: 'fail at random errors (20 %: 0.3 %; 5 %: 0.02 %)',
    experiments: ['errors'],
    read: median((f) => f.failed),
    sense: 'at most',
    limit: ({ scenario: { errors } }) => (errors === 0.2 ? 0.003 : 0.0002),
    unit: 'share',
  },
  {
    title: 'p99 at random errors (20 %: 8 s; 5 %: 1 s)',
    experiments: ['errors'],
    read: median((f) => f.p99Ms / 1000),
    sense: 'at most',
    limit: ({ scenario: { errors } }) => (errors === 0.2 ? 8 : 1),
    unit: 'seconds',
  },
];
