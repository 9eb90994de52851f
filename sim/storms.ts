import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { experiments } from './experiments/experiments.ts';
import { runExperiments } from './experiments/run-experiments.ts';
import { writeGlitchPage } from './glitch/glitch-page.ts';
import { writeHedgingPage } from './hedging/hedging-page.ts';
import { writeLatencyLimitPage } from './latency-limit/latency-limit-page.ts';
import { writePartialPage } from './partial/partial-page.ts';
import { writeLimitsPage } from './limits/limits-page.ts';
import { introduction, picture } from './report/introduction.ts';
import { drawPicture } from './report/picture.ts';
import { writeContention, writeReport } from './report/report.ts';
import { writeUserPage } from './user/user-page.ts';
import { ablation } from './variants/ablation.ts';
import { trades } from './variants/trades.ts';
import { writeVariantsPage } from './variants/variants-page.ts';

// The storms, into docs/storms: `npm run storms`. To try something out, with nothing written:
// `npm run storms -- --only fleet,blip --policy steadfetch --seeds 1 --config '<json>'`.
// One user, and what is partly broken, into pages of their own: `npm run storms -- --only user` and
// `-- --only partial`; whether hedging would help, or a time limit by latency: `-- --only hedging` and `-- --only latency-limit`;
// what one failed attempt costs: `-- --only glitch`; before a rate limit: `-- --only limits`;
// what each mechanism carries, and what trades for what: `-- --only ablation` and `-- --only trades`. `--quick` is enough to tune with, and
// writes nothing; `--seeds 3 --write` is a figure for today.
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    policy: { type: 'string' },
    seeds: { type: 'string' },
    config: { type: 'string' },
    quick: { type: 'boolean' },
    write: { type: 'boolean' },
  },
});
const { quick: isQuick = false, policy, config: json } = values;
const config = json === undefined ? undefined : (JSON.parse(json) as Record<string, unknown>);
const seeds = values.seeds === undefined ? undefined : Number(values.seeds);
const isTrial =
  !values.write && (isQuick || config !== undefined || seeds !== undefined || policy !== undefined);

const startMs = performance.now();
const secondsSoFar = (): string => `${((performance.now() - startMs) / 1000).toFixed(0)} s`;
let told = 0;
const onProgress = (done: number, of: number): void => {
  // Where lines cannot be written over, ten of them are enough.
  const isDue = process.stderr.isTTY || Math.floor((10 * done) / of) > told;
  if (!isDue) return;
  told = Math.floor((10 * done) / of);
  const line = `${done} of ${of} runs, ${secondsSoFar()}`;
  process.stderr.write(process.stderr.isTTY ? `\r${line}` : `${line}\n`);
};

const folder = new URL('../docs/storms/', import.meta.url);
const write = (file: string, text: string): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL(file, folder), text);
};

type PageOptions = Parameters<typeof writeUserPage>[0];

/** What has a page of its own. */
const pages = {
  user: ['one-user.md', writeUserPage],
  partial: ['partial-failure.md', writePartialPage],
  glitch: ['glitch.md', writeGlitchPage],
  hedging: ['hedging.md', writeHedgingPage],
  limits: ['limits.md', writeLimitsPage],
  'latency-limit': ['latency-limit.md', writeLatencyLimitPage],
  ablation: ['ablation.md', (options: PageOptions) => writeVariantsPage(ablation, options)],
  trades: ['trades.md', (options: PageOptions) => writeVariantsPage(trades, options)],
} as const;

/** What is quick to tune with. */
const quickExperiments = ['fleet', 'page-loads', 'background'];
const quickSeeds = 3;
const picturedExperiment = 'peers';

async function writeStorms(only: readonly string[] | undefined): Promise<void> {
  const names = only ?? (isQuick ? quickExperiments : undefined);
  const wanted = policy ?? (isQuick ? 'steadfetch' : undefined);
  const chosen = experiments
    .filter(({ name }) => !names || names.includes(name))
    .map((experiment) => ({
      ...experiment,
      cells: experiment.cells.filter((cell) => !wanted || cell.policy === wanted),
    }));
  const results = await runExperiments(chosen, {
    maxSeeds: seeds ?? (isQuick ? quickSeeds : undefined),
    config,
    pictured: picturedExperiment,
    onProgress,
  });
  const report = writeReport(chosen, results);
  console.log(report);
  if (isTrial || (only && !values.write)) return;
  const pictured = results.filter(
    ({ experiment, cell }) => experiment === picturedExperiment && cell.policy !== 'p-retry',
  );
  const title = 'Requests per 100 ms: 1,000 tabs, 30 s of fast 503';
  if (pictured.length > 0) write('outage.svg', drawPicture(title, pictured));
  const parts = [introduction, ...(pictured.length > 0 ? [picture] : []), report];
  write('figures.md', `${[...parts, writeContention()].join('\n\n')}\n`);
}

const only = values.only?.split(',');
const [first = ''] = only ?? [];
if (Object.hasOwn(pages, first)) {
  const [file, writePage] = pages[first as keyof typeof pages];
  const page = await writePage({ isQuick, seeds, config, onProgress });
  console.log(page);
  if (!isTrial) write(file, `${page}\n`);
} else await writeStorms(only);
console.log(`\n${secondsSoFar()}`);
