import { groupBy } from '../report/group-by.ts';
import { pagePolicyNames } from '../report/names.ts';
import { table } from '../report/table.ts';
import type { UserJob } from './user-cells.ts';
import type { UserFigures } from './user-figures.ts';
import { userGoals } from './user-goals.ts';
import type { UserKind } from './user-scenario.ts';

/** A cell: a policy, a page and an outage, and what it showed. */
export interface UserCell {
  readonly job: UserJob;
  /** Undefined: the average over the lengths. */
  readonly outageS: number | undefined;
  readonly figures: UserFigures;
}

export const toCells = (jobs: readonly UserJob[], results: readonly UserFigures[][]): UserCell[] =>
  jobs.flatMap((job, index) =>
    (results[index] ?? []).map((figures, cell) => ({
      job,
      outageS: job.isAveraged ? undefined : job.outagesS[cell],
      figures,
    })),
  );

const kindNames: Readonly<Record<UserKind, string>> = {
  '500': '500',
  '503': '503',
  reset: 'connection reset',
  hang: 'hang',
  'retry-after': '503 with Retry-After',
};

const shortS = (ms: number): string => (ms === Infinity ? '-' : (ms / 1000).toFixed(1));
const percent = (share: number): string =>
  // Nearly all is not all.

  `${(share * 100).toFixed((share < 0.1 && share > 0) || (share > 0.99 && share < 1) ? 1 : 0)} %`;

const titleOf = ({ job: { page } }: UserCell): string =>
  `${page.queries} ${page.queries === 1 ? 'query' : page.order}, ${page.page} page`;

const goalNames = userGoals.map(({ name }) => name);

/** What each goal is. */
export const goalsList = userGoals.map(({ name, title }) => `- **${name}**: ${title}.`).join('\n');

const missesOf = ({ figures, outageS = 0 }: UserCell): boolean[] =>
  userGoals.map((goal) => !goal.isReached(figures, outageS));

/** Whether a cell reaches all of the goals. */
export const isCellReached = (cell: UserCell): boolean => !missesOf(cell).includes(true);

const plain = (cells: readonly UserCell[]): UserCell[] =>
  cells.filter(({ outageS }) => outageS !== undefined);

/** How many cells reach each goal, and all of them, by policy and kind of outage. */
export function goalsByKind(cells: readonly UserCell[]): string {
  const groups = groupBy(plain(cells), ({ job }) => `${job.policy} ${job.page.kind}`);
  const policies = groupBy(plain(cells), ({ job }) => job.policy);
  const row = (kind: string, own: readonly UserCell[]): string[] => {
    const name = pagePolicyNames[own[0]?.job.policy ?? 'steadfetch'];
    const misses = own.map(missesOf);
    const reached = userGoals.map((_, goal) => misses.filter((one) => !one[goal]).length);
    const all = misses.filter((one) => !one.includes(true)).length;
    return [name, kind, ...reached.map(String), `${all} of ${own.length}`];
  };
  const rows = [
    ...[...policies.values()].map((own) => row('all', own)),
    ...[...groups.values()].map((own) => row(kindNames[own[0]?.job.page.kind ?? '503'], own)),
  ];
  const head = ['policy', 'down by', ...goalNames, 'all of them'];
  return table(head, rows);
}

/** The mean time from recovery to the first answer, over outages of all lengths from 0.5 to 7 s. */
export function averages(cells: readonly UserCell[]): string {
  const averaged = cells.filter(({ outageS }) => outageS === undefined);
  const pages = groupBy(averaged, (cell) => `${cell.job.page.kind} ${titleOf(cell)}`);
  const policies = [...new Set(averaged.map(({ job }) => job.policy))];
  const rows = [...pages.values()].flatMap((own) => {
    const of = (policy: UserJob['policy']): UserFigures | undefined =>
      own.find(({ job }) => job.policy === policy)?.figures;
    const [first] = own;
    if (!first) return [];
    const [ours, theirs] = [of('steadfetch'), of('react-query')];
    const isReached = ours && theirs && ours.firstMeanMs <= theirs.firstMeanMs + 500;
    return [
      [
        `${kindNames[first.job.page.kind]}, ${titleOf(first)}`,
        ...policies.map((policy) => {
          const { firstMeanMs = NaN, answered = NaN } = of(policy) ?? {};
          const mean = firstMeanMs === Infinity ? '' : `${shortS(firstMeanMs)}, `;
          return answered === 1 ? shortS(firstMeanMs) : `${mean}only ${percent(answered)} answered`;
        }),
        theirs ? (isReached ? 'yes' : '**no**') : '',
      ],
    ];
  });
  return table(['', ...policies.map((policy) => pagePolicyNames[policy]), 'reached'], rows);
}

/** Some cells in full, the policies side by side. */
export function cellsBeside(
  cells: readonly UserCell[],
  wanted: (cell: UserCell) => boolean,
): string {
  const chosen = plain(cells).filter(wanted);
  const lines = groupBy(
    chosen,
    (cell) => `${kindNames[cell.job.page.kind]}, ${cell.outageS} s, ${titleOf(cell)}`,
  );
  const policies = [...new Set(chosen.map(({ job }) => job.policy))];
  const rows = [...lines].map(([title, own]) => {
    const ours = own.find(({ job }) => job.policy === 'steadfetch');
    const misses = ours ? missesOf(ours) : [];
    return [
      title,
      ...policies.map((policy) => {
        const figures = own.find(({ job }) => job.policy === policy)?.figures;
        return figures ? shown(figures) : '';
      }),
      ...userGoals.map((_, goal) => (misses[goal] ? '**no**' : 'yes')),
    ];
  });
  return table(['', ...policies.map((policy) => pagePolicyNames[policy]), ...goalNames], rows);
}

function shown(f: UserFigures): string {
  if (f.answered === 0) return `0 %; ${f.requests.toFixed(0)} sent`;
  const first = `${shortS(f.firstMedianMs)} / ${shortS(f.firstP95Ms)}`;
  const whole = `${shortS(f.wholeMedianMs)} / ${shortS(f.wholeP95Ms)}`;
  return `${percent(f.answered)}; ${first}; ${whole}; ${f.requests.toFixed(0)} sent`;
}

/** The cells of Steadfetch that miss a goal. */
export const missedCells = (cells: readonly UserCell[]): UserCell[] =>
  plain(cells).filter((cell) => cell.job.policy === 'steadfetch' && !isCellReached(cell));

/** Some cells, with what they miss: so many of them at the most. */
export function missesTable(cells: readonly UserCell[], most = Infinity): string {
  const rows = cells.map((cell) => {
    const { figures: f, outageS } = cell;
    const misses = missesOf(cell);
    const values = [
      percent(f.answered),
      shortS(f.firstMedianMs),
      shortS(f.firstP95Ms),
      shortS(f.wholeP95Ms),
      percent(f.inOrder),
    ];
    return [
      `${kindNames[cell.job.page.kind]}, ${outageS} s, ${titleOf(cell)}`,
      ...values.map((value, goal) => (misses[goal] ? `**${value}**` : value)),
      f.requests.toFixed(0),
    ];
  });
  const head = ['', ...goalNames, 'sent'];
  if (rows.length === 0) return 'None.';
  const others = rows.length > most ? `\n\nAnd ${rows.length - most} more.` : '';
  return `${table(head, rows.slice(0, most))}${others}`;
}
