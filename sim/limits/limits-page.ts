import type { PageContext, PagePolicyName } from '../page/page-policies.ts';
import { show } from '../report/columns.ts';
import { pagePolicyNames } from '../report/names.ts';
import { table } from '../report/table.ts';
import { runJobs } from '../run/run-jobs.ts';
import { type Refusal, type Shape, shapes } from './limit-server.ts';
import type { LimitFigures, LimitJob } from './run-limits.ts';

const wholeSeeds = 3;
const quickSeeds = 1;

const introduction = (seeds: number): string => `# Storms: rate limits

Made by \`npm run storms -- --only limits\`; the page is written by it, so change what makes it.

No request is to be lost to a rate limit. A page, or all tabs of a browser that is restored, shows its queries at once, before a server that takes about ten requests a second, and counts them in one of four ways: a bucket (10, and 10 more a second), a fixed window (10 in each second), a sliding window (40 within any 4 s), or what is under way (4 at once, of 400 ms each). It refuses what is too much with a 429 that says nothing, with \`Retry-After\` in whole seconds, or with \`RateLimit\` fields, which its other answers have, too; or with a 429 that the page may not read, for want of CORS headers, which is to it what a 503 is. Nothing is known of the limit before. Virtual time, the real packages, 50 ms on the way, ${seeds === 1 ? 'one seed' : `means of ${seeds} seeds`}; in several tabs with \`shareAcrossTabs\`.

- *lost*: queries that end in an error, of those shown.
- *refused at first*: before the first answer was there. No client can help that, without being slower where there is no limit.
- *refused later*: of what was sent later. The goal is at most 10 %.
- *last*: until the last query has its answer, and how many times as long as where the limit is known, and each request is sent as soon as it may be (×). The goal is at most 1.25.
- *limits*: over how many endpoints the queries are spread, and whether all have one limit together, or each one of its own.

What is not reached, and why:

1. **A known limit is not a known reset.** Fixed windows and \`Retry-After\` are told in whole seconds: a request that is refused once waits for most of one, and so do those behind it. Of few requests that is a large share of the time; of 500 it is a tenth.
2. **What counts is under way, not sent.** A limit of requests under way is held by a pace, at 60 to 70 % of what it takes. More would be refused: a server that says \`RateLimit\` with it says something untrue about the next second.
3. **500 requests take 50 s at least.** A query waits for 60 s at most (\`maxPauseMs\`), and what is behind its turn then ends, unsent.
4. **A limit of each endpoint looks like one of all** where several are refused at once without a time. They share a pace then, which begins three times as fast, and grows.
5. **A 429 that the page may not read is an outage to it,** as is a 503: it is probed, and answered by slow start.`;

const policies: readonly PagePolicyName[] = ['steadfetch', 'react-query', 'full-jitter-8'];
const counts = [30, 120, 500];
const tabCounts = [1, 10, 100];

type Cell = Pick<
  LimitJob,
  'policy' | 'shape' | 'refusal' | 'requests' | 'tabs' | 'endpoints' | 'isEachLimited'
>;

/** The instance that was reported: 60 or 120 queries at once, a bucket, and a 429 that says nothing. */
const reported: readonly Cell[] = [60, 120].flatMap((requests) =>
  policies.map((policy) => ({
    policy,
    shape: 'token bucket',
    refusal: 'bare 429',
    requests,
    tabs: 1,
  })),
);

/** One limit of all endpoints, or one of each. */
const spread: readonly Cell[] = [
  ...shapes.flatMap((shape) => [60, 120].map((requests) => [shape, 20, requests, false] as const)),
  ...shapes.map((shape) => [shape, 3, 120, true] as const),
  ...shapes.map((shape) => [shape, 20, 500, true] as const),
].map(([shape, endpoints, requests, isEachLimited]) => ({
  policy: 'steadfetch',
  shape,
  refusal: 'bare 429',
  requests,
  tabs: 1,
  endpoints,
  isEachLimited,
}));

const cellsOf = (refusal: Refusal): readonly Cell[] =>
  shapes.flatMap((shape: Shape) =>
    tabCounts.flatMap((tabs) =>
      counts.map((requests) => ({ policy: 'steadfetch', shape, refusal, requests, tabs }) as const),
    ),
  );

interface Options {
  readonly isQuick: boolean;
  readonly seeds: number | undefined;
  readonly config: PageContext['config'] | undefined;
  readonly onProgress: (done: number, of: number) => void;
}

/** Runs all limits: the page for docs/storms. */
export async function writeLimitsPage(options: Options): Promise<string> {
  const { isQuick, seeds = isQuick ? quickSeeds : wholeSeeds, config, onProgress } = options;
  const parts = [
    ['As it was reported', reported],
    ['Over several endpoints', spread],
    ...(isQuick ? [] : titles.map(([refusal, title]) => [title, cellsOf(refusal)] as const)),
  ] as const;
  const cells = parts.flatMap(([, own]) => own);
  const jobs = cells.flatMap((cell) =>
    Array.from({ length: seeds }, (_, index) => ({
      ...cell,
      seed: index + 1,
      ...(config && { config }),
    })),
  );
  const results = await runJobs('limits', jobs, (done) => onProgress(done, jobs.length));
  const figuresOf = (cell: Cell): readonly LimitFigures[] => {
    const at = cells.indexOf(cell) * seeds;
    return results.slice(at, at + seeds);
  };
  const tables = parts.map(([title, own]) => {
    const isCompared = own === reported;
    const isSpread = own === spread;
    const rows = own.map((cell) => [
      ...(isCompared ? [pagePolicyNames[cell.policy]] : []),
      ...(isSpread ? [`${cell.isEachLimited ? 'each' : 'all'} of ${cell.endpoints}`] : []),
      ...rowOf(cell, figuresOf(cell)),
    ]);
    const first = isCompared ? ['policy'] : isSpread ? ['limits'] : [];
    return `## ${title}\n\n${table([...first, ...head], rows)}`;
  });
  return [introduction(seeds), ...tables].join('\n\n');
}

/** A 503 that says nothing gives the same figures as a 429 that the page may not read. */
const titles: readonly (readonly [Refusal, string])[] = [
  ['bare 429', '429 that says nothing'],
  ['Retry-After', '429 with Retry-After'],
  ['RateLimit', '429 with RateLimit fields'],
  ['hidden', '429 that the page may not read, or a 503'],
];

const head = ['limit', 'queries', 'tabs', 'lost', 'refused at first', 'refused later', 'last', '×'];

function rowOf({ shape, requests, tabs }: Cell, runs: readonly LimitFigures[]): string[] {
  const mean = (of: (figures: LimitFigures) => number): number =>
    runs.reduce((sum, figures) => sum + of(figures), 0) / runs.length;
  const later = mean((f) => f.refused - f.refusedAtFirst) / mean((f) => f.sent - f.refusedAtFirst);
  const lost = mean((f) => f.lost);
  return [
    shape,
    `${requests}`,
    `${tabs}`,
    lost === 0 ? '0' : `**${lost.toFixed(1)}**`,
    mean((f) => f.refusedAtFirst).toFixed(0),
    later > 0.1 ? `**${show.percent(later)}**` : show.percent(later),
    show.seconds(mean((f) => f.lastMs)),
    mean((f) => f.lastMs / f.oracleMs).toFixed(2),
  ];
}
