import { table } from '../report/table.ts';
import { type Hedging, runHedging, type Visit } from './hedging.ts';
import type { Cause } from './slow-worlds.ts';

/** Of each seed there are so many. */
const visits: Readonly<Record<string, Visit & { readonly times: number }>> = {
  'a visit': { reads: 40, endpoints: 8, everyMs: 3000, times: 50 },
  'a day': { reads: 2000, endpoints: 8, everyMs: 1000, times: 1 },
};

const causes: Readonly<Record<Cause, string>> = {
  replica: 'a replica',
  read: 'the read itself',
  network: "the user's network",
  overload: 'a full server',
};

const titles: Readonly<Record<Hedging, string>> = {
  none: 'none',
  endpoint: 'p95 of the endpoint',
  origin: 'p95 of the origin',
  fixed: '500 ms',
};

const introduction = `# Storms: hedging

Made by \`npm run storms -- --only hedging\`; the page is written by it, so change what makes it.

Hedging sends a read a second time when its answer is late, takes what comes first, and aborts the other. These figures asked whether Steadfetch should do it, after the 95th percentile of an endpoint. **It does not:**

1. **A browser holds it back.** While a \`GET\` is under way, Chromium keeps a second one of the same URL waiting for the first, because of its cache; so does Firefox. A test shows it in Chromium (\`test/browser/cache-lock.test.ts\`). Past the cache, with \`cache: 'no-store'\`, it goes: but then what it brings is not kept.
2. **A visit is too short to know what is late.** A 95th percentile needs twenty answers of an endpoint, and in a visit of 40 reads of 8 endpoints hardly one has them before its end: fewer than one read in two thousand is sent again.
3. **It helps against one cause of four:** a replica that is slow by itself while its neighbours are not, behind a balancer that gives each request of a connection to another one. There, in a tab that is open all day, p99 falls from 2.4 to 1.1 s with 4 % more reads. A tab cannot tell this cause from the others.
4. **It harms where the server is full.** All tabs are late together, and hedge together: with 1.4 % more reads in a day, p95 doubles, although each tab pays them from a budget and stops when an answer was late.

A fixed delay needs no percentile, and helps in a visit, too, against the same one cause; against the server that is full it does harm, too. An app that knows both can send the second read itself.

What a table shows: how long reads take for their user, in milliseconds; how many more were sent; and how many of those were answered first. Reads take 50 ms on their way and 40 ms at the server, with an exponential spread. One in twenty-five is slow by 0.5 to 3 s: because it met a slow replica (each one by itself), because it is slow by its URL (again and again), or because the user's network stands still (for all that is under way: one connection carries it all, as at HTTP/2 and 3). A full server has 4 workers, busy for 90 % of the time with the reads of 20 tabs. A second read is paid from a budget, to which each read adds a twentieth, and none goes while the latest answer was late. *A visit* is 40 reads, 3 s apart, of 8 endpoints; *a day* is 2,000.`;

/** The value below which this part of sorted values lies. */
const quantile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;

async function rowOf(
  cause: Cause,
  visit: Visit,
  hedging: Hedging,
  seeds: number,
): Promise<string[]> {
  const latenciesMs: number[] = [];
  let hedges = 0;
  let won = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const record = await runHedging(cause, visit, hedging, seed);
    for (const ms of record.latenciesMs) latenciesMs.push(ms);
    hedges += record.hedges;
    won += record.won;
  }
  latenciesMs.sort((a, b) => a - b);
  return [
    causes[cause],
    titles[hedging],
    ...[0.5, 0.95, 0.99].map((part) => quantile(latenciesMs, part).toFixed(0)),
    `${((100 * hedges) / latenciesMs.length).toFixed(1)} %`,
    hedges > 0 ? `${((100 * won) / hedges).toFixed(0)} %` : '-',
  ];
}

interface Options {
  readonly isQuick: boolean;
  readonly seeds: number | undefined;
}

/** What hedging would give, and cost: the page for docs/storms. */
export async function writeHedgingPage({ isQuick, seeds }: Options): Promise<string> {
  const runs = seeds ?? (isQuick ? 3 : 10);
  const parts = [introduction, `The figures are of ${runs} seeds, with 50 visits or one day each.`];
  for (const [name, visit] of Object.entries(visits)) {
    const rows: string[][] = [];
    for (const cause of Object.keys(causes) as Cause[])
      for (const hedging of Object.keys(titles) as Hedging[])
        rows.push(await rowOf(cause, visit, hedging, runs * visit.times));
    const head = ['slow because of', 'hedging after', 'p50', 'p95', 'p99', 'more', 'won'];
    parts.push(`## In ${name}`, table(head, rows));
  }
  return parts.join('\n\n');
}
