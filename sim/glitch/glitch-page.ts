import { defaultScenario, type Scenario } from '../model/scenario.ts';
import { show } from '../report/columns.ts';
import { table } from '../report/table.ts';
import type { Patch } from '../run/patches.ts';
import { runJobs } from '../run/run-jobs.ts';
import type { UserJob } from '../user/user-cells.ts';
import { defaultTimeoutMs } from '../user/user-scenario.ts';
import type { GlitchJob } from './run-glitch.ts';

const introduction = `# Storms: what a glitch costs

Made by \`npm run storms -- --only glitch\`; the page is written by it, so change what makes it.

Most failures are one attempt. Its retry may go at once, or after the first step of the backoff. At the beginning of an outage every failure looks like that, so what is won for a glitch is paid in outages. Three ways were measured:

- **as always**: the first retry goes after 0 to 1 s (\`fastRetryMs: Infinity\`).
- **fast**: it goes after 0 to 50 ms, is one of \`maxRetries\`, and counts for the health of its endpoint: where it fails, too, the endpoint is down. The first probe comes 0.9 to 1.5 s later.
- **fast, and an early probe**: then the first probe comes after 0.4 to 1.2 s. **Chosen for the user**: without it, a user whose server is away for a quarter or half of a second, and who asks for one thing, waits longer than with plain retries.

A fourth way, a fast retry that counts for nothing and comes on top of the others, was left: it makes no user wait longer, either, and costs a fleet three times as much (12 % more requests in an outage of 30 s, and 51 % in one of 2 s).`;

const never: UserJob['config'] = { policy: { fastRetryMs: 1e9 } };
const lateProbe: readonly Patch[] = [
  {
    file: 'origin/health/probe-schedule.ts',
    find: 'isEarly ? now + between',
    replace: 'isEarly && now < 0 ? now + between',
  },
];

interface Way {
  readonly name: string;
  readonly config?: UserJob['config'];
  readonly patches?: readonly Patch[];
}

const ways: readonly Way[] = [
  { name: 'as always', config: never },
  { name: 'fast', patches: lateProbe },
  { name: 'fast, and an early probe' },
];

/** The value below which this part of the values lies. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => (a === b ? 0 : a - b));
  return sorted[Math.floor(part * sorted.length)] ?? NaN;
}

const ms = (value: number): string => (value === Infinity ? 'never' : `${value.toFixed(0)} ms`);

async function writeGlitches(seeds: number): Promise<string> {
  const policies = [
    { name: 'Steadfetch', policy: 'steadfetch' },
    { name: 'as always', policy: 'steadfetch', config: never },
    { name: 'React Query', policy: 'react-query' },
    { name: 'full jitter, 8 retries', policy: 'full-jitter-8' },
  ] as const;
  const worlds = ([1, 10] as const).flatMap((atOnce) =>
    (['503', 'reset'] as const).flatMap((kind) =>
      [0.01, 0.05, 0.2].map((errors) => ({ atOnce, kind, errors })),
    ),
  );
  const cells = worlds.flatMap((world) => policies.map((policy) => ({ ...world, ...policy })));
  const jobs = cells.flatMap((cell) =>
    Array.from({ length: seeds }, (_seed, index): GlitchJob => ({ ...cell, seed: index + 1 })),
  );
  const records = await runJobs('glitch', jobs);
  const rows = cells.map(({ name, errors, kind, atOnce }, index) => {
    const own = records.slice(index * seeds, (index + 1) * seeds);
    const extraMs = own.flatMap((record) => record.extraMs);
    const sum = (of: 'requests' | 'asked'): number => own.reduce((all, one) => all + one[of], 0);
    return [
      `${errors * 100} % ${kind}, ${atOnce === 1 ? 'one query' : `${atOnce} at once`}`,
      name,
      ms(quantile(extraMs, 0.5)),
      ms(quantile(extraMs, 0.9)),
      show.percent(extraMs.filter((value) => value === Infinity).length / sum('asked')),
      (sum('requests') / sum('asked')).toFixed(3),
    ];
  });
  return table(['attempts that fail', 'policy', 'p50', 'p90', 'fail', 'requests ÷ needed'], rows);
}

const outagesS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

async function writeShortOutages(seeds: number): Promise<string> {
  const rows: string[][] = [];
  for (const { name, config, patches } of ways) {
    const job: UserJob = {
      policy: 'steadfetch',
      page: {
        kind: '503',
        queries: 1,
        order: 'at once',
        page: 'used',
        timeoutMs: defaultTimeoutMs,
      },
      outagesS,
      seeds,
      isAveraged: false,
      ...(config && { config }),
    };
    const [figures = []] = await runJobs('user', [job], undefined, patches);
    const cells = figures.map((own) => `${ms(own.firstMeanMs)}; ${own.requests.toFixed(1)} sent`);
    rows.push([name, ...cells]);
  }
  return table(['first retry', ...outagesS.map((s) => `${s} s`)], rows);
}

const storms: Readonly<Record<string, Partial<Scenario>>> = {
  '1,000 × 0.2, 30 s': {},
  '2,000 × 0.05, 30 s': { tabs: 2000, rate: 0.05 },
  '2,500 × 0.01, 30 s': { tabs: 2500, rate: 0.01 },
  '1,000 × 0.2, 2 s': { outageS: 2 },
  '1,000 × 0.2, 5 s': { outageS: 5 },
  '20 % random errors': { kind: 'none', errors: 0.2 },
};

async function writeStorms(seeds: number): Promise<string> {
  const cells = Object.values(storms);
  const rows: string[][] = [];
  for (const { name, config, patches } of ways) {
    const jobs = cells.flatMap((scenario) =>
      Array.from({ length: seeds }, (_, index) => ({
        policy: 'steadfetch' as const,
        scenario: { ...defaultScenario, afterS: 60, ...scenario, seed: index + 1 },
        ...(config && { config }),
      })),
    );
    const results = await runJobs('storm', jobs, undefined, patches);
    const shown = cells.map((_, cell) => {
      const own = results.slice(cell * seeds, (cell + 1) * seeds).map(({ figures }) => figures);
      const mean = (of: 'outageRatio' | 'peak1S' | 'p99Ms'): number =>
        own.reduce((sum, figures) => sum + figures[of], 0) / own.length;
      return `${show.times(mean('outageRatio'))}; ${show.peak(mean('peak1S'))}; ${show.seconds(mean('p99Ms'))}`;
    });
    rows.push([name, ...shown]);
  }
  return table(['first retry', ...Object.keys(storms)], rows);
}

interface Options {
  readonly isQuick: boolean;
  readonly seeds: number | undefined;
}

/** What a fast retry gives and costs: the page for docs/storms. */
export async function writeGlitchPage({ isQuick, seeds }: Options): Promise<string> {
  const runs = seeds ?? (isQuick ? 1 : 3);
  return [
    introduction,
    `## One failed attempt\n\nHow long a query waits whose first attempt fails, beside that attempt (50 ms) and a good one (70 ms). A page that has been answered before shows one query every 3 s, or ten at once, of 20 endpoints; each attempt fails by itself. Of ten at once several may fail, and then one of them is retried fast. ${runs * 3000} queries a row.\n\n${await writeGlitches(runs)}`,
    `## An outage that is as short as a glitch\n\nOne user, one query, 503; the page has been used before. The mean time from recovery to the first answer, and requests. ${runs * 100} runs a cell.\n\n${await writeShortOutages(runs * 100)}`,
    `## A fleet\n\nTabs × requests a second of each, 503, load 0.7: requests ÷ needed in the outage; the peak of a second after it ÷ steady; p99 of all answers. Means of ${runs} seeds.\n\n${await writeStorms(runs)}`,
  ].join('\n\n');
}
