import { runJobs } from '../run/run-jobs.ts';
import { quickExtent, type UserJob, userJobs, wholeExtent } from './user-cells.ts';
import {
  averages,
  cellsBeside,
  goalsByKind,
  goalsList,
  missedCells,
  missesTable,
  toCells,
  type UserCell,
} from './user-report.ts';

const introduction = `# Storms: one user

Made by \`npm run storms -- --only user\`; the page is written by it, so change what makes it.

One page, one user, nothing else: an app on React Query whose server is down from the moment at which the page first asks, for the time that a row says, and then well. Virtual time, the real package; 25 ms each way, 20 ms at the server. The queries are shown by components and go to eight endpoints; a *used* page has asked for something every 3 s for a minute before. *Staggered*: they come within 3 s, or half of a shorter outage. Each cell is of ${wholeExtent.seeds} runs.

All have a time limit of 10 s an attempt, which is Steadfetch's default. React Query and plain retries have none by themselves: of a page whose requests hang, they answer 0 % then, in any outage. A request that hangs is lost, and nothing can know it before its time limit; so after a hang that was shorter, times count from there, but for the averages.`;

const reading = `What a cell shows: answered within 60 s of being asked for, with no error before; seconds from recovery to the first answer (median / p95); from it to the last one (median / p95; \`-\`: not in all of the runs); requests sent. The columns after it are Steadfetch's goals of the first table.`;

/** The outages and pages that are shown in full. */
const shownOutagesS = [1, 2, 5, 10, 30, 50];
const shownCounts = [1, 6, 30];

/** How many of the cells that miss a goal are listed, and how often they are run again. */
const mostMissed = 60;
const seedsOfMissed = 200;

interface Options {
  readonly isQuick: boolean;
  readonly seeds: number | undefined;
  readonly config: UserJob['config'];
  readonly onProgress: (done: number, of: number) => void;
}

/** Runs a lone page through its outages: the page for docs/storms, or its short form to tune with. */
export async function writeUserPage({
  isQuick,
  seeds,
  config,
  onProgress,
}: Options): Promise<string> {
  const extent = isQuick ? quickExtent : wholeExtent;
  const jobs = userJobs({ ...extent, ...(seeds !== undefined && { seeds }) }, config);
  const results = await runJobs('user', jobs, (done) => onProgress(done, jobs.length));
  const cells = toCells(jobs, results);
  if (isQuick)
    return [goalsByKind(cells), averages(cells), missesTable(missedCells(cells))].join('\n\n');
  const isShown = cellsBeside(
    cells,
    ({ job: { page }, outageS = 0 }) =>
      page.kind !== 'reset' &&
      page.order === 'at once' &&
      page.page === 'fresh' &&
      shownOutagesS.includes(outageS) &&
      shownCounts.includes(page.queries),
  );
  return [
    introduction,
    `## Goals\n\nIn how many cells each is reached:\n\n${goalsList}\n\n${goalsByKind(cells)}`,
    `## Averaged over outages of 0.5 to 7 s\n\nMean seconds from recovery to the first answer; the goal is React Query's own and half a second. Its fixed steps of 1, 2 and 4 s suit some lengths by chance: so an average over all of them, drawn evenly.\n\n${averages(cells)}`,
    `## Fresh pages that ask at once\n\n${reading}\n\n${isShown}`,
    `## What Steadfetch misses\n\n${await writeMisses(missedCells(cells))}`,
  ].join('\n\n');
}

/** The cells that miss a goal, and the same with more runs: what chance has made is gone in them. */
async function writeMisses(missed: readonly UserCell[]): Promise<string> {
  const first = missesTable(missed, mostMissed);
  if (missed.length === 0 || missed.length > mostMissed) return first;
  const jobs = missed.map(({ job, outageS = 0 }) => ({
    ...job,
    outagesS: [outageS],
    seeds: seedsOfMissed,
  }));
  const again = toCells(jobs, await runJobs('user', jobs));
  return `${first}\n\nThe same cells, of ${seedsOfMissed} runs each:\n\n${missesTable(again)}\n\nA request that hangs is given up after 10 s. So a probe that was sent in the last 70 ms before a server is back after 50 s ends too late for its user, who is answered up to 70 ms after the 60th second. To send it again before would be two requests for one. The one query of a used page is told as failed after 7.25 s, as with React Query alone: it may be broken by itself. It is probed on as before, so its data come as soon as if nothing had been told.`;
}
