import type { PagePolicyName } from '../page/page-policies.ts';
import { show } from '../report/columns.ts';
import { pagePolicyNames } from '../report/names.ts';
import { table } from '../report/table.ts';
import { runJobs } from '../run/run-jobs.ts';
import { type PartialFigures, type PartialKind, partialKinds } from './partial-scenario.ts';
import type { PartialJob } from './run-partial.ts';

const policies = ['steadfetch', 'react-query', 'full-jitter-budget'] as const;

const wholeSeeds = 5;
const quickSeeds = 2;

const introduction = (seeds: number): string => `# Storms: what is partly broken

Made by \`npm run storms -- --only partial\`; the page is written by it, so change what makes it.

What is broken is to cost itself, and nothing beside it. 200 tabs of an app on React Query; each opens a view every 10 s on average, that shows 3 queries of 20 endpoints. The server answers in 70 ms, and is not at its limit. Five minutes, virtual time, the real packages, a time limit of 10 s an attempt; means of ${seeds} seeds. Counted are only the endpoints that are well: how many fail, how many are paused at some time, and how long an answer takes on average.

The page loads are 200 in each run, of 30 queries at once on a fresh page; *late* are those of which something is undecided after 5 s, and *in 8 s* is the share of their queries that are answered by then, when React Query has made its last retry. At 50, 70 and 90 % errors nothing is down, and nothing gets better by waiting. At 90 % of one endpoint all 30 first requests of a page fail in 4 % of the pages, which is what an outage looks like: these are paused and probed ([trades](trades.md#how-many-failures-are-an-outage)). In the last rows a page that was used over Wi-Fi for a minute (50 ms) has no network for 5 s, and then a mobile one (400 ms): the seconds until 30 queries that are shown 2 s before it is back, or half a second after, all have an answer.

*Full jitter, budget*: 3 retries, of which a tab has a bucket of 3, to which each success adds a tenth.`;

const titles: Readonly<Record<PartialKind, string>> = {
  'widget hangs': 'every view has a widget that hangs',
  'one hangs': '1 of 20 endpoints hangs',
  'one 429, 30 s': '1 of 20: 429, `Retry-After: 30`',
  'one 429, 1 h': '1 of 20: 429, `Retry-After: 3600`',
  'one takes 12 s': '1 of 20 takes 12 s',
  'two broken': '2 of 20 answer 503',
  'three broken': '3 of 20 answer 503',
  'five broken': '5 of 20 answer 503',
  '5 % errors': 'page load of 30, 5 % errors',
  '10 % errors': 'page load of 30, 10 % errors',
  '50 % errors': 'the same, 50 % errors',
  '70 % errors': 'the same, 70 % errors',
  '50 % errors, one endpoint': 'the same, of one endpoint, 50 %',
  '70 % errors, one endpoint': 'the same, of one endpoint, 70 %',
  '90 % errors, one endpoint': 'the same, of one endpoint, 90 %',
  'mobile, shown offline': 'Wi-Fi to mobile, shown while offline',
  'mobile, shown after': 'Wi-Fi to mobile, shown after',
};

/** So many fail for ever that waiting for a better time is no help. */
const brownOuts = /^[579]0 %/;

type Means = Readonly<Record<PagePolicyName, PartialFigures>>;

/** What Steadfetch must reach, in words and in figures. */
function goalOf(kind: PartialKind): readonly [goal: string, isReached: (means: Means) => boolean] {
  if (brownOuts.test(kind)) {
    return [
      "fail, and within 8 s: as many as React Query's, but for half a point of chance",
      ({ steadfetch, 'react-query': other }) =>
        steadfetch.failed <= other.failed + 0.005 && steadfetch.prompt >= other.prompt - 0.005,
    ];
  }
  if (kind.endsWith('errors')) {
    return [
      'late: that of the budget and 0.5 %',
      (m) => m.steadfetch.late <= m['full-jitter-budget'].late + 0.005,
    ];
  }
  if (kind.startsWith('mobile')) {
    return [
      "complete: React Query's and 2 s",
      (m) => m.steadfetch.completeMs <= m['react-query'].completeMs + 2000,
    ];
  }
  return [
    "0 % fail, 0.5 % paused, 1.3 × React Query's mean",
    ({ steadfetch: { failed, paused, meanMs }, 'react-query': other }) =>
      failed === 0 && paused <= 0.005 && meanMs <= 1.3 * other.meanMs,
  ];
}

interface Options {
  readonly isQuick: boolean;
  readonly seeds: number | undefined;
  readonly config: PartialJob['config'];
  readonly onProgress: (done: number, of: number) => void;
}

/** Runs everything that is partly broken: the page for docs/storms. */
export async function writePartialPage(options: Options): Promise<string> {
  const { isQuick, seeds = isQuick ? quickSeeds : wholeSeeds, config, onProgress } = options;
  const cells = partialKinds.flatMap((kind) => policies.map((policy) => ({ kind, policy })));
  const jobs: PartialJob[] = cells.flatMap((cell) =>
    Array.from({ length: seeds }, (_, index) => ({
      ...cell,
      seed: index + 1,
      ...(config && { config }),
    })),
  );
  const results = await runJobs('partial', jobs, (done) => onProgress(done, jobs.length));
  const meansOf = (cell: number): PartialFigures =>
    means(results.slice(cell * seeds, (cell + 1) * seeds));
  const rows = partialKinds.flatMap((kind, at) => {
    const own = Object.fromEntries(
      policies.map((policy, index) => [policy, meansOf(at * policies.length + index)]),
    ) as Means;
    const [goal, isReached] = goalOf(kind);
    return policies.map((policy) => {
      const { failed, paused, meanMs, late, prompt, completeMs } = own[policy];
      return [
        titles[kind],
        pagePolicyNames[policy],
        show.percent(failed),
        show.percent(paused),
        `${meanMs.toFixed(0)} ms`,
        show.percent(late),
        show.percent(prompt),
        show.seconds(completeMs),
        ...(policy === 'steadfetch' ? [goal, isReached(own) ? 'yes' : '**no**'] : ['', '']),
      ];
    });
  });
  const head = [
    'beside',
    'policy',
    'fail',
    'paused',
    'mean',
    'late',
    'in 8 s',
    'complete',
    'goal',
    'reached',
  ];
  return `${introduction(seeds)}\n\n${table(head, rows)}`;
}

function means(runs: readonly PartialFigures[]): PartialFigures {
  const names = Object.keys(runs[0] ?? {}) as (keyof PartialFigures)[];
  return Object.fromEntries(
    names.map((name) => [name, runs.reduce((sum, run) => sum + run[name], 0) / runs.length]),
  ) as unknown as PartialFigures;
}
