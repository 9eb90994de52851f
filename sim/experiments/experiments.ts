import type { Scenario } from '../model/scenario.ts';
import type { PolicyName } from '../policies/by-name.ts';
import { type Cell, cell, type Experiment } from './experiment.ts';
import { createGrid } from './grid.ts';

const peers = [
  'none',
  'react-query',
  'ky',
  'axios-retry',
  'p-retry',
  'aws-standard',
  'cockatiel',
  'full-jitter',
  'equal-jitter',
  'decorrelated-jitter',
  'full-jitter-budget',
  'full-jitter-throttle',
] as const satisfies readonly PolicyName[];

/** How Steadfetch does beside some peers, of which one run each shows enough. */
const beside = (
  title: string,
  scenario: Partial<Scenario>,
  others: readonly PolicyName[],
  seeds = 3,
): Cell[] => [
  cell('steadfetch', title, scenario, seeds),
  ...others.map((policy) => cell(policy, title, scenario, 1)),
];

const leaving = { queries: 5, leaveS: 20, afterS: 80 } as const;

/** What `npm run storms -- --long` runs: what the others have one run of each of. */
export const longOutages: Experiment = {
  name: 'grid',
  title: 'Steadfetch: outages of 120 s',
  cells: createGrid()
    .filter(({ scenario }) => scenario.outageS === 120)
    .map((one) => ({ ...one, seeds: 5 })),
};

/** Everything that `npm run storms` runs. */
export const experiments: readonly Experiment[] = [
  { name: 'grid', title: 'Steadfetch: outages', cells: createGrid() },
  {
    name: 'peers',
    title: 'A 30 s outage of fast 503 at load 0.7',
    cells: [
      cell('steadfetch', '503, 30 s, load 0.7', {}, 5),
      ...peers.map((policy) => cell(policy, '503, 30 s, load 0.7', {}, 1)),
    ],
  },
  {
    name: 'many-tabs',
    title: '20,000 tabs that ask every 100 s',
    cells: [0.7, 0.85].flatMap((load) =>
      beside(
        `hang, 30 s, load ${load}`,
        { kind: 'hang', load, tabs: 20_000, rate: 0.01, afterS: 130 },
        ['full-jitter-budget'],
        // Twenty times as many tabs cost most; only the higher load is near what a server can bear.
        load === 0.7 ? 1 : 3,
      ),
    ),
  },
  {
    name: 'hang',
    title: 'A 30 s hang at load 0.7',
    cells: [
      cell('steadfetch', 'hang, 30 s, load 0.7', { kind: 'hang' }, 5),
      ...(['full-jitter', 'cockatiel'] as const).map((policy) =>
        cell(policy, 'hang, 30 s, load 0.7', { kind: 'hang' }, 1),
      ),
    ],
  },
  {
    name: 'leaving',
    title: 'People who leave after 20 s on average, and ask for one of 5 queries',
    cells: [
      ...[0.5, 0.7, 0.85].map((load) =>
        cell('steadfetch', `503, 30 s, load ${load}`, { ...leaving, load }, 3),
      ),
      cell('steadfetch-query', '503, 30 s, load 0.7', leaving, 1),
    ],
  },
  {
    name: 'retry-after',
    title: '503 with Retry-After = time until recovery',
    cells: [0.5, 0.7, 0.85].flatMap((load) =>
      beside(
        `30 s, load ${load}`,
        { kind: 'retry-after', load },
        load === 0.7 ? ['axios-retry', 'full-jitter', 'full-jitter-budget'] : [],
      ),
    ),
  },
  {
    name: 'in-step',
    title: 'All tabs ask at one moment',
    cells: [
      ...[0.5, 0.7, 0.85].flatMap((load) =>
        beside(
          `3 s before recovery, load ${load}`,
          { load, pushAtS: -3 },
          load === 0.7 ? ['react-query', 'full-jitter', 'full-jitter-budget'] : [],
        ),
      ),
      ...beside('at recovery, load 0.7', { pushAtS: 0 }, ['none', 'full-jitter-budget'], 1),
    ],
  },
  {
    name: 'blip',
    title: 'A blip of 2 s',
    cells: beside('503, 2 s, load 0.7', { outageS: 2 }, [
      'react-query',
      'full-jitter',
      'full-jitter-budget',
      'full-jitter-throttle',
    ]),
  },
  {
    name: 'errors',
    title: 'Random errors',
    cells: [0.2, 0.05].flatMap((errors) =>
      beside(`${errors * 100} % of all requests`, { kind: 'none', errors }, [
        'full-jitter',
        'full-jitter-budget',
        'full-jitter-throttle',
      ]),
    ),
  },
  {
    name: 'one-browser',
    title: 'One browser, 60 s of 503',
    cells: [
      { title: 'one tab', tabs: 1, rate: 0.2 },
      { title: 'one tab that asks as often as twenty', tabs: 1, rate: 4 },
      { title: 'twenty tabs', tabs: 20, rate: 0.2 },
    ].map(({ title, tabs, rate }) => {
      const scenario = { outageS: 60, afterS: 80, tabs, tabsPerBrowser: tabs, rate, load: 0.01 };
      return cell('steadfetch', title, scenario, 5);
    }),
  },
  {
    name: 'brown-out',
    title: 'Brown-outs, a slow server, a short queue',
    cells: [
      ...beside('half of the requests fail for 30 s', { kind: 'half-errors' }, ['full-jitter'], 1),
      ...beside('half of the capacity for 30 s', { kind: 'half-capacity' }, ['full-jitter'], 1),
      ...beside('everything 3 s late for 30 s', { kind: 'slow' }, ['full-jitter'], 1),
      ...beside('503 for 30 s, load 0.85, queue of 0.3 s', { load: 0.85, queueS: 0.3 }, [], 1),
    ],
  },
  {
    name: 'slow-api',
    title: 'An API that takes 400 ms for everything, and pages that were opened in the outage',
    cells: [
      { title: '400 ms, load 0.7', waitS: 0.4 },
      { title: '400 ms, load 0.85', waitS: 0.4, load: 0.85 },
      { title: 'opened in the outage, load 0.7', warmUpS: 0 },
      { title: 'opened in the outage, 400 ms, load 0.5', warmUpS: 0, waitS: 0.4, load: 0.5 },
      { title: 'opened in the outage, 400 ms, load 0.7', warmUpS: 0, waitS: 0.4 },
    ].map(({ title, ...scenario }) => cell('steadfetch', title, { afterS: 80, ...scenario }, 1)),
  },
];
