import { cell } from '../experiments/experiment.ts';
import { runExperiments } from '../experiments/run-experiments.ts';
import type { Figures } from '../figures/figures.ts';
import type { Cause } from '../hedging/slow-worlds.ts';
import type { Scenario } from '../model/scenario.ts';
import { partialKinds } from '../partial/partial-scenario.ts';
import { show } from '../report/columns.ts';
import { table } from '../report/table.ts';
import { runJobs } from '../run/run-jobs.ts';
import type { UserJob } from '../user/user-cells.ts';
import { defaultTimeoutMs } from '../user/user-scenario.ts';
import type { LatencyLimitOptions } from './latency-limit.ts';
import type { ReadsJob } from './run-reads.ts';

type Config = { readonly latencyLimit: LatencyLimitOptions } | undefined;

/** The first one is what Steadfetch does. */
const limits: Readonly<Record<string, Config>> = {
  '10 s': undefined,
  'max(1 s, 3 × p99)': { latencyLimit: { leastMs: 1000, attempts: 'all' } },
  'the same, first attempt only': { latencyLimit: { leastMs: 1000, attempts: 'first' } },
  'first attempt only, at least 3 s': { latencyLimit: { leastMs: 3000, attempts: 'first' } },
};
const names = Object.keys(limits);

const introduction = `# Storms: a time limit by latency

Made by \`npm run storms -- --only latency-limit\`; the page is written by it, so change what makes it.

A request that is lost costs its user the time limit: 10 s to the headers by default, even where its endpoint answers in 70 ms. These figures asked whether a read should have less where the latency of its endpoint is known: three times the 99th percentile of its latest answers, at least 1 s, and never more than the policy's limit. **It should not:**

1. **A healthy server does not come back from a push.** All tabs ask at one moment, and for some seconds answers take longer than three times the usual. Each tab then cuts off work that is about to be answered, the server does it all the same, and the tab asks for it again. Without the limit all is answered after 4 s; with it, one request in seven fails for good, at load 0.7. The same holds for half of the capacity, for a server that is 3 s late, and for the time after an outage.
2. **What is slow by itself is failed.** A read that takes 2 s beside others that take 80 ms (a report, a search) is cut off at each of its attempts, and its user gets an error instead of an answer.
3. **A longer outage ends later for its user.** Two requests that hang are an outage after 2 s instead of 20 s. So the probes are further apart by the time at which the server is back: 7 % to 24 % later, after hangs of 10 s and more.

The short limit for the first attempt only halves the wait for single losses, and still makes the p99 of a push seven times as long, lets a server at load 0.7 not come back from an outage, and lets the second attempt hang for all of the 10 s. At least 3 s for the first attempt is kinder: slow reads cost nothing; but in a push at load 0.85 the p99 is 30 instead of 4 s, and hangs of 5 s and more end later. A limit had to make no cell worse by more than 2 %. None of these does it.

An app that knows that an endpoint is fast says so: \`policy: { timeout: 2000 }\` of its API's profile, or \`timeout\` of the call. The limit then does not depend on what the tab has seen, and not on how loaded the server was then.`;

/** The same number of cells in each row, for each limit. */
const rowsOf = <T>(
  titles: readonly string[],
  shown: readonly (readonly T[])[],
  format: (own: T) => string,
): string[][] =>
  titles.map((title, index) => [title, ...shown.map((own) => format(own[index] as T))]);

/** From the start of a hang to the first answer and to the last one, in seconds. */
async function writeUser(seeds: number): Promise<string> {
  const outagesS = [0.5, 1, 2, 5, 10, 20, 30];
  const pages = [
    ['1 query', 1],
    ['6 queries within 3 s', 6],
  ] as const;
  const titles = pages.flatMap(([title]) => outagesS.map((outageS) => `${outageS} s, ${title}`));
  const shown = names.map(async (name) => {
    const config = limits[name];
    const jobs = pages.map(([, queries]): UserJob => ({
      policy: 'steadfetch',
      page: {
        kind: 'hang',
        queries,
        order: 'staggered',
        page: 'used',
        timeoutMs: defaultTimeoutMs,
      },
      outagesS,
      seeds,
      isAveraged: false,
      ...(config && { config }),
    }));
    const figures = (await runJobs('user', jobs)).flat();
    return figures.map(({ firstMeanMs }, index) => {
      const outageS = outagesS[index % outagesS.length] ?? 0;
      // The figure counts from when an attempt with the usual limit is given up.
      return firstMeanMs + Math.max(outageS * 1000, defaultTimeoutMs);
    });
  });
  return table(['hang of', ...names], rowsOf(titles, await Promise.all(shown), show.seconds));
}

const causes: readonly (readonly [string, Cause])[] = [
  ['a replica', 'replica'],
  ['the read itself', 'read'],
  ["the user's network", 'network'],
];

/** Reads that are lost, and reads that are slow. */
async function writeReads(seeds: number): Promise<string> {
  const groups = [
    ...causes.flatMap(([title, cause]) =>
      [0, 0.02].flatMap((lostShare) => [
        { title, cause, lostShare, reads: 40, everyMs: 3000, runs: seeds * 20, when: 'a visit' },
        { title, cause, lostShare, reads: 1000, everyMs: 1000, runs: seeds, when: 'a day' },
      ]),
    ),
    ...[0, 0.01].map((lostShare) => {
      const cause: Cause = 'overload';
      return {
        title: 'a full server',
        cause,
        lostShare,
        reads: 300,
        everyMs: 1000,
        runs: seeds,
        when: '20 tabs',
      };
    }),
  ];
  const shown = names.map(async (name) => {
    const config = limits[name];
    const jobs = groups.flatMap(({ cause, lostShare, reads, everyMs, runs }) =>
      Array.from({ length: runs }, (_, index): ReadsJob => {
        const seed = index + 1;
        return { cause, lostShare, reads, everyMs, seed, ...(config && { config }) };
      }),
    );
    const records = await runJobs('reads', jobs);
    let from = 0;
    return groups.map(({ runs }) => {
      const own = records.slice(from, (from += runs));
      const waits = own.flatMap(({ waitsMs }) => waitsMs).toSorted((a, b) => a - b);
      const lost = own.flatMap(({ lostWaitsMs }) => lostWaitsMs).toSorted((a, b) => a - b);
      const failed = own.reduce((sum, record) => sum + record.failed, 0);
      return [
        `${mean(waits).toFixed(0)}; ${waits[Math.floor(0.99 * waits.length)]?.toFixed(0)}`,
        ...(lost.length > 0
          ? [`lost ${mean(lost).toFixed(0)} / ${lost[lost.length >> 1]?.toFixed(0)}`]
          : []),
        ...(failed > 0 ? [`**${failed} failed**`] : []),
      ].join('; ');
    });
  });
  const titles = groups.map(
    ({ title, lostShare, when }) => `${title}, ${when}, ${100 * lostShare} % lost`,
  );
  return table(['slow because of', ...names], rowsOf(titles, await Promise.all(shown), String));
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const storms: readonly (readonly [string, Partial<Scenario>])[] = [
  ['healthy, load 0.95', { kind: 'none', load: 0.95 }],
  ['healthy, all tabs ask at one moment, load 0.7', { kind: 'none', pushAtS: 0 }],
  ['the same, load 0.85', { kind: 'none', pushAtS: 0, load: 0.85 }],
  ['half of the capacity for 30 s, load 0.6', { kind: 'half-capacity', load: 0.6 }],
  ['the same, load 0.7', { kind: 'half-capacity' }],
  ['everything 3 s late for 30 s', { kind: 'slow' }],
  ['503 for 30 s, load 0.7', {}],
  ['hang for 30 s, load 0.7', { kind: 'hang' }],
  ['the same, load 0.85', { kind: 'hang', load: 0.85, afterS: 110 }],
  ['hang for 30 s of an API that takes 1.2 s', { kind: 'hang', waitS: 1.2 }],
];

/** A server under load. */
async function writeStorms(seeds: number): Promise<string> {
  const cells = storms.map(([title, scenario]) =>
    cell('steadfetch', title, { tabs: 300, ...scenario }, seeds),
  );
  const shown: Figures[][] = [];
  for (const name of names) {
    const results = await runExperiments([{ name, title: '', cells }], { config: limits[name] });
    shown.push(results.map(({ figures }) => figures));
  }
  const titles = storms.map(([title]) => title);
  const format = (figures: Figures): string =>
    [
      figures.wholeRatio.toFixed(2),
      show.percent(figures.askedInOutageOk),
      `${show.percent(figures.failedAfterRecovery)} fail`,
      figures.endWellFromS === null ? '**never well**' : show.fromS(figures.endWellFromS),
      show.seconds(figures.p99Ms),
    ].join('; ');
  return table(['', ...names], rowsOf(titles, shown, format));
}

/** Whether anything changes where a part is broken and the rest is well. */
async function writePartial(seeds: number): Promise<string> {
  const shown: string[][] = [];
  for (const name of names) {
    const config = limits[name];
    const jobs = partialKinds.flatMap((kind) =>
      Array.from({ length: seeds }, (_, index) => ({
        policy: 'steadfetch' as const,
        kind,
        seed: index + 1,
        tabs: 60,
        ...(config && { config }),
      })),
    );
    shown.push((await runJobs('partial', jobs)).map((figures) => JSON.stringify(figures)));
  }
  const [usual = []] = shown;
  const rows = names.map((name, limit) => {
    const same = usual.filter((figures, run) => figures === shown[limit]?.[run]).length;
    return [name, `${same} of ${usual.length}`];
  });
  return table(['', 'runs the same to the digit'], rows);
}

interface Options {
  readonly isQuick: boolean;
  readonly seeds: number | undefined;
}

/** What a limit by latency would give, and cost: the page for docs/storms. */
export async function writeLatencyLimitPage({ isQuick, seeds }: Options): Promise<string> {
  const runs = seeds ?? (isQuick ? 1 : 2);
  return [
    introduction,
    `The real package on a virtual clock; a latency is known from three answers of an endpoint on. Means of ${runs * 5} runs for one user, of ${runs} for the rest.`,
    `## One user whose server hangs\n\nA page that was used for a minute. Seconds from the start of the hang to the first answer.`,
    await writeUser(runs * 5),
    `## Single requests that are lost\n\nReads of eight endpoints, one in twenty-five of which is slow by 0.5 to 3 s, as with [hedging](hedging.md); so many of them get no answer at all. Mean wait; 99th percentile; mean and median wait of those that were lost; all in milliseconds. *A visit* is 40 reads, 3 s apart; *a day* is 1,000.`,
    await writeReads(runs),
    `## A server under load\n\n300 tabs, each asks once in 5 s; the server lets 4 s of work wait. Requests ÷ what was asked; of what was asked in the 30 s, the share that was answered; of what was asked after them, the share that fails; from when on all ends well; 99th percentile of the wait.`,
    await writeStorms(runs),
    `## Beside something that is broken\n\nThe cells of [partial failure](partial-failure.md), with 60 tabs.`,
    await writePartial(runs),
  ].join('\n\n');
}
