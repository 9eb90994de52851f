import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { experiments, longOutages } from './experiments/experiments.ts';
import { runExperiments } from './experiments/run-experiments.ts';
import { introduction, longIntroduction } from './report/introduction.ts';
import { writePartialPage } from './partial/partial-page.ts';
import { drawPicture } from './report/picture.ts';
import { writeContention, writeReport } from './report/report.ts';
import { writeUserPage } from './user/user-page.ts';

// Everything, into docs/storms: `npm run storms`. To try something out, with nothing written:
// `npm run storms -- --only grid,blip --policy steadfetch --seeds 1 --config '<json>'`.
// One user, and what is partly broken, into pages of their own: `npm run storms -- --only user` and
// `-- --only partial`; `--quick` to tune, with nothing written.
// The long outages with five seeds, which would take everything beyond three minutes, into a page of
// their own: `npm run storms -- --long`.
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    policy: { type: 'string' },
    seeds: { type: 'string' },
    config: { type: 'string' },
    long: { type: 'boolean' },
    quick: { type: 'boolean' },
  },
});
const folder = new URL('../docs/storms/', import.meta.url);
mkdirSync(folder, { recursive: true });
const startMs = performance.now();
const seeds = values.seeds === undefined ? undefined : Number(values.seeds);
const onProgress = (done: number, of: number): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of} runs`);
};
const end = (): void => {
  console.log(`\n${((performance.now() - startMs) / 1000).toFixed(0)} s`);
};

const only = values.only?.split(',');
/** What has a page of its own. */
const pages = {
  user: ['one-user.md', writeUserPage],
  partial: ['partial-failure.md', writePartialPage],
} as const;
const [pageName] = only ?? [];
if (pageName === 'user' || pageName === 'partial') {
  const [file, write] = pages[pageName];
  const { quick: isQuick = false, config: json } = values;
  const config = json === undefined ? undefined : (JSON.parse(json) as Record<string, unknown>);
  const page = await write({ isQuick, seeds, config, onProgress });
  console.log(page);
  if (!isQuick && !config && seeds === undefined) writeFileSync(new URL(file, folder), `${page}\n`);
  end();
  process.exit();
}
const chosen = (values.long ? [longOutages] : experiments)
  .filter(({ name }) => !only || only.includes(name))
  .map((experiment) => ({
    ...experiment,
    cells: experiment.cells.filter(({ policy }) => !values.policy || policy === values.policy),
  }));

const picturedExperiment = 'peers';
const results = await runExperiments(chosen, {
  maxSeeds: seeds,
  config: JSON.parse(values.config ?? '{}') as Record<string, unknown>,
  pictured: picturedExperiment,
  onProgress,
});
const { long: isLong, ...others } = values;
const isWhole = Object.values(others).every((value) => value === undefined);
const isAll = isWhole && !isLong;
const report = [writeReport(chosen, results), ...(isAll ? [writeContention()] : [])].join('\n\n');
console.log(report);
if (isWhole && isLong)
  writeFileSync(new URL('long-outages.md', folder), `${longIntroduction}\n\n${report}\n`);
if (isAll) {
  const title = 'Requests per 100 ms: 1,000 tabs, 30 s of fast 503';
  const pictured = results.filter(
    ({ experiment, cell }) => experiment === picturedExperiment && cell.policy !== 'p-retry',
  );
  writeFileSync(new URL('outage.svg', folder), drawPicture(title, pictured));
  writeFileSync(new URL('figures.md', folder), `${introduction}\n\n${report}\n`);
}
end();
