import type { Scenario } from '../model/scenario.ts';
import type { PolicyName } from '../policies/by-name.ts';
import { type Cell, cell, type Experiment } from './experiment.ts';

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

/** How many runs decide a goal. */
const seeds = 10;

/** How Steadfetch does beside some peers, of which one run each shows enough. */
const beside = (
  title: string,
  scenario: Partial<Scenario>,
  others: readonly PolicyName[],
  own = seeds,
): Cell[] => [
  cell('steadfetch', title, scenario, own),
  ...others.map((policy) => cell(policy, title, scenario, 1)),
];

/** The server is as large as what all of them ask: quieter ones are fewer than 200 a second need. */
const fleets = [
  { tabs: 1000, rate: 0.2 },
  { tabs: 2000, rate: 0.05 },
  { tabs: 2500, rate: 0.01 },
] as const;

const kinds = ['503', 'hang'] as const;
const loads = [0.5, 0.7, 0.85] as const;

/** Near its limit a server needs longer to come back. */
const afterSOf = (load: number): number => (load === 0.85 ? 110 : 60);

interface Grid {
  readonly kinds?: readonly Scenario['kind'][];
  readonly loads?: readonly number[];
  readonly fleets?: readonly Partial<Scenario>[];
  readonly scenario?: Partial<Scenario>;
  readonly others?: readonly PolicyName[];
  readonly seeds?: number;
}

/** A cell for each kind of outage, load and fleet. */
function grid(options: Grid): Cell[] {
  const { others = [], scenario = {} } = options;
  return (options.fleets ?? fleets).flatMap((fleet) =>
    (options.kinds ?? kinds).flatMap((kind) =>
      (options.loads ?? loads).flatMap((load) => {
        const whole = { kind, load, afterS: afterSOf(load), ...fleet, ...scenario };
        const { tabs, rate, pageSize } = whole;
        const size = pageSize ? '' : `${tabs?.toLocaleString('en')} × ${rate}, `;
        const title = `${size}${kind}, load ${load}`;
        return beside(title, whole, others, options.seeds);
      }),
    ),
  );
}

/** Fresh pages of 6 queries, whose users leave after 20 s on average. */
const pageLoads = { tabs: 500, pageSize: 6, leaveS: 20, endpoints: 6 } as const;

/** Everything that `npm run storms` runs. */
export const experiments: readonly Experiment[] = [
  {
    name: 'fleet',
    title: 'An outage of 30 s: tabs × requests a second of each, somebody waits',
    cells: grid({ others: ['react-query'] }),
  },
  {
    name: 'page-loads',
    title: 'Page loads: fresh pages of 6 queries, of users who leave after 20 s on average',
    cells: grid({ fleets: [pageLoads], others: ['react-query'] }),
  },
  {
    name: 'background',
    title: "Background work only, declared by `preset: 'background'`",
    cells: grid({ loads: [0.7], scenario: { background: 1 }, seeds: 3 }),
  },
  {
    name: 'one-broken',
    title: 'Twenty endpoints, one of which is always broken; the others have an outage of 30 s',
    cells: grid({
      loads: [0.7],
      fleets: fleets.slice(0, 2),
      scenario: { endpoints: 20, brokenEndpoints: 1 },
      others: ['react-query'],
      seeds: 5,
    }),
  },
  {
    name: 'peers',
    title: 'Beside others: 1,000 tabs, 30 s of 503, load 0.7',
    cells: beside('503, 30 s, load 0.7', {}, peers),
  },
  {
    name: 'stress',
    title: 'Stress: a time limit of 2 s before a server that lets 4 s of work wait',
    cells: [
      ...grid({ fleets: fleets.slice(0, 1), scenario: { timeoutS: 2 }, others: ['react-query'] }),
      ...grid({
        loads: [0.7],
        fleets: fleets.slice(1),
        scenario: { timeoutS: 2 },
        others: ['react-query'],
        seeds: 3,
      }),
      ...beside(
        'half the tabs: 500 × 0.2, hang, load 0.7',
        { tabs: 500, kind: 'hang', timeoutS: 2 },
        ['react-query'],
      ),
      ...beside(
        '20 s before the outage: 1,000 × 0.2, 503, load 0.7',
        { warmUpS: 20, afterS: 60, timeoutS: 2 },
        ['react-query'],
      ),
    ],
  },
  {
    name: 'retry-after',
    title: '503 with Retry-After = time until recovery',
    cells: loads.flatMap((load) =>
      beside(
        `30 s, load ${load}`,
        { kind: 'retry-after', load },
        load === 0.7 ? ['axios-retry', 'full-jitter', 'full-jitter-budget'] : [],
        5,
      ),
    ),
  },
  {
    name: 'in-step',
    title: 'All tabs ask at one moment',
    cells: [
      ...loads.flatMap((load) =>
        beside(
          `3 s before recovery, load ${load}`,
          { load, pushAtS: -3 },
          load === 0.7 ? ['react-query', 'full-jitter', 'full-jitter-budget'] : [],
          3,
        ),
      ),
      ...beside('at recovery, load 0.7', { pushAtS: 0 }, ['none', 'full-jitter-budget'], 1),
    ],
  },
  {
    name: 'blip',
    title: 'A blip of 2 s',
    cells: beside(
      '503, 2 s, load 0.7',
      { outageS: 2 },
      ['react-query', 'full-jitter', 'full-jitter-budget', 'full-jitter-throttle'],
      5,
    ),
  },
  {
    name: 'errors',
    title: 'Random errors',
    cells: [0.2, 0.05].flatMap((errors) =>
      beside(
        `${errors * 100} % of all requests`,
        { kind: 'none', errors },
        ['react-query', 'full-jitter', 'full-jitter-budget', 'full-jitter-throttle'],
        3,
      ),
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
      const scenario = { outageS: 60, tabs, tabsPerBrowser: tabs, rate, load: 0.01 };
      return cell('steadfetch', title, scenario, 5);
    }),
  },
  {
    name: 'brown-out',
    title: 'Brown-outs, a slow server, a short queue, a slow API',
    cells: [
      ...beside('half of the requests fail for 30 s', { kind: 'half-errors' }, ['full-jitter'], 1),
      ...beside('half of the capacity for 30 s', { kind: 'half-capacity' }, ['full-jitter'], 1),
      ...beside('everything 3 s late for 30 s', { kind: 'slow' }, ['full-jitter'], 1),
      ...beside('503 for 30 s, load 0.85, queue of 0.3 s', { load: 0.85, queueS: 0.3 }, [], 1),
      ...beside('503 for 30 s of an API that takes 400 ms for everything', { waitS: 0.4 }, [], 1),
    ],
  },
];
