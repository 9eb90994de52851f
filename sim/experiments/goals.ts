import type { Scenario } from '../model/scenario.ts';
import type { Goal } from './goal.ts';

const short = ({ outageS }: Scenario): boolean => outageS < 30;
const long = ({ outageS }: Scenario): boolean => outageS >= 30;
const half = ({ load }: Scenario): boolean => load === 0.5;

/** Limits that are the same in every cell. */
const all = (limit: number) => (): number => limit;

const outages = { experiment: 'grid', sense: 'at most' } as const;

/** What Steadfetch's defaults must reach, as medians over the seeds. */
export const goals: readonly Goal[] = [
  {
    ...outages,
    title: 'requests ÷ needed during outages of 30 and 120 s',
    isAbout: long,
    read: (f) => f.outageRatio,
    limit: all(1.05),
    unit: 'times',
  },
  {
    ...outages,
    title: 'requests ÷ needed during outages of 5 s',
    isAbout: short,
    read: (f) => f.outageRatio,
    limit: all(1.6),
    unit: 'times',
  },
  {
    ...outages,
    title: 'requests ÷ needed in the whole run of 190 s',
    isAbout: ({ outageS }) => outageS === 30,
    read: (f) => f.wholeRatio,
    limit: all(1.2),
    unit: 'times',
  },
  {
    ...outages,
    title: '99 % of the new requests end well, from',
    read: (f) => f.endWellFromS,
    limit: all(2),
    unit: 'seconds',
  },
  {
    ...outages,
    title: '99 % of the new requests are answered within 1 s, from (hang of 5 s: 7 s)',
    read: (f) => f.promptFromS,
    limit: (scenario) => (scenario.kind === 'hang' && short(scenario) ? 7 : 2),
    unit: 'seconds',
  },
  {
    title: 'asked in an outage of 5 s, end well',
    experiment: 'grid',
    isAbout: short,
    read: (f) => f.askedInOutageOk,
    sense: 'at least',
    limit: all(1),
    unit: 'share',
  },
  {
    title: 'asked in an outage of 30 s, end well ÷ the bound that spare capacity sets',
    experiment: 'grid',
    isAbout: ({ outageS }) => outageS === 30,
    read: (f) => f.outageOkOfBound,
    sense: 'at least',
    limit: all(0.75),
    unit: 'share',
  },
  {
    title: 'asked in an outage of 30 s and waited for, end well (people leave after 20 s)',
    experiment: 'leaving',
    read: (f) => f.stillWaitingOk,
    sense: 'at least',
    limit: all(0.98),
    unit: 'share',
  },
  {
    ...outages,
    title: 'peak 100 ms ÷ steady after recovery (load 0.5: 3.0)',
    read: (f) => f.peak100Ms,
    limit: (scenario) => (half(scenario) ? 3 : 2.5),
    unit: 'times',
  },
  {
    ...outages,
    title: 'peak 1 s ÷ steady after recovery (load 0.5: 2.4)',
    read: (f) => f.peak1S,
    limit: (scenario) => (half(scenario) ? 2.4 : 1.8),
    unit: 'times',
  },
  {
    title: 'peak 100 ms with Retry-After = time until recovery',
    experiment: 'retry-after',
    read: (f) => f.peak100Ms,
    sense: 'at most',
    limit: all(2.8),
    unit: 'times',
  },
  {
    title: 'peak 100 ms with all tabs in step, from a push shortly before recovery',
    experiment: 'in-step',
    // What all ask at one moment of a server that is up is a peak with any policy.
    isAbout: ({ pushAtS = 0 }) => pushAtS < 0,
    read: (f) => f.peak100Ms,
    sense: 'at most',
    limit: all(2.5),
    unit: 'times',
  },
  {
    title: 'fail of what is asked in a blip of 2 s',
    experiment: 'blip',
    read: (f) => f.failedInOutage,
    sense: 'at most',
    limit: all(0.001),
    unit: 'share',
  },
  {
    title: 'fail at 20 % random errors',
    experiment: 'errors',
    isAbout: ({ errors }) => errors === 0.2,
    read: (f) => f.failed,
    sense: 'at most',
    limit: all(0.003),
    unit: 'share',
  },
  {
    title: 'p99 at 20 % random errors',
    experiment: 'errors',
    isAbout: ({ errors }) => errors === 0.2,
    read: (f) => f.p99Ms / 1000,
    sense: 'at most',
    limit: all(8),
    unit: 'seconds',
  },
  {
    title: 'fail at 5 % random errors',
    experiment: 'errors',
    isAbout: ({ errors }) => errors === 0.05,
    read: (f) => f.failed,
    sense: 'at most',
    limit: all(0.0002),
    unit: 'share',
  },
  {
    title: 'p99 at 5 % random errors',
    experiment: 'errors',
    isAbout: ({ errors }) => errors === 0.05,
    read: (f) => f.p99Ms / 1000,
    sense: 'at most',
    limit: all(1),
    unit: 'seconds',
  },
  {
    title: 'fail after recovery, 20,000 tabs, hang of 30 s',
    experiment: 'many-tabs',
    read: (f) => f.failedAfterRecovery,
    sense: 'at most',
    limit: all(0.01),
    unit: 'share',
  },
];
