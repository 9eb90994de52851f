import type { CellResult } from '../experiments/run-experiments.ts';
import { runExperiments } from '../experiments/run-experiments.ts';
import type { PartialFigures, PartialKind } from '../partial/partial-scenario.ts';
import { show } from '../report/columns.ts';
import { table } from '../report/table.ts';
import type { Patch } from '../run/patches.ts';
import { runJobs } from '../run/run-jobs.ts';
import { quickExtent, userJobs } from '../user/user-cells.ts';
import { isCellReached, toCells, type UserCell } from '../user/user-report.ts';
import { partialOfAblation, stormsOfAblation } from './ablation-cells.ts';
import { checkPatches, linesOf } from './mechanism.ts';
import { mechanisms } from './mechanisms.ts';

const introduction = `# Storms: what each mechanism carries

Made by \`npm run storms -- --only ablation\`; the page is written by it, so change what makes it.

Each mechanism of src/origin is switched off alone, by a patch of the source that is in sim/ablation and not by an option; the first row has all of them. **Bold** is what is clearly worse without it. A mechanism that makes nothing worse has not earned its lines.

- **one user**: how many of the ${'${cells}'} cells of the short table of [one user](one-user.md) are reached; all answered in how many.
- **partly broken**: what fails of what is well, and its mean; page loads at 10 % errors that are late; seconds until 30 queries have an answer after a change of networks ([partial failure](partial-failure.md), one seed).
- **storms**: requests ÷ needed in the outage; asked in it and answered; new ones end well from ([figures](figures.md), medians of 3).`;

interface Options {
  readonly isQuick: boolean;
  readonly onProgress: (done: number, of: number) => void;
}

/** What the package shows with some of its text replaced. */
interface Shown {
  readonly user: readonly UserCell[];
  readonly partial: ReadonlyMap<PartialKind, PartialFigures>;
  readonly storms: readonly CellResult[];
}

async function measure(patches: readonly Patch[], isQuick: boolean): Promise<Shown> {
  const jobs = userJobs({ ...quickExtent, averagedPolicies: [] });
  const user = toCells(jobs, await runJobs('user', jobs, undefined, patches));
  const partialJobs = partialOfAblation.map((kind) => {
    return { policy: 'steadfetch', kind, seed: 1 } as const;
  });
  const figures = await runJobs('partial', partialJobs, undefined, patches);
  const partial = new Map<PartialKind, PartialFigures>();
  partialOfAblation.forEach((kind, index) => {
    const own = figures[index];
    if (own) partial.set(kind, own);
  });
  const experiment = { name: 'ablation', title: '', cells: stormsOfAblation };
  const storms = await runExperiments([experiment], { patches, ...(isQuick && { maxSeeds: 1 }) });
  return { user, partial, storms };
}

/** A column: its head, its value (more is worse), how it is shown, and what is clearly worse. */
interface Column {
  readonly head: string;
  readonly read: (shown: Shown) => number;
  readonly show: (value: number, shown: Shown) => string;
  /** By so much, or by a tenth, whichever is more. */
  readonly margin: number;
}

const reachedOf = ({ user }: Shown): number => user.filter(isCellReached).length;

const partialColumn = (
  head: string,
  kind: PartialKind,
  margin: number,
  read: (figures: PartialFigures) => number,
  format: (value: number) => string,
): Column => ({
  head,
  margin,
  read: ({ partial }) => read(partial.get(kind) as PartialFigures),
  show: format,
});

const stormColumns = (index: number, title: string): Column[] => {
  const of = ({ storms }: Shown): CellResult['figures'] => (storms[index] as CellResult).figures;
  return [
    {
      head: `${title}: requests`,
      read: (shown) => of(shown).outageRatio,
      show: show.times,
      margin: 0.1,
    },
    {
      head: 'answered',
      read: (shown) => -of(shown).askedInOutageOk,
      show: (value) => show.percent(-value),
      margin: 0.05,
    },
    {
      head: 'well from',
      read: (shown) => of(shown).endWellFromS ?? Infinity,
      show: (value) => show.fromS(value === Infinity ? null : value),
      margin: 3,
    },
  ];
};

const userColumns: readonly Column[] = [
  {
    head: 'one user: cells reached',
    read: (shown) => -reachedOf(shown),
    show: (value) => `${-value}`,
    margin: 3,
  },
  {
    head: 'all answered in',
    read: ({ user }) => -user.filter(({ figures }) => figures.answered === 1).length,
    show: (value) => `${-value}`,
    margin: 1,
  },
];

const failColumn = (head: string, kind: PartialKind): readonly Column[] => [
  partialColumn(`${head}: fail`, kind, 0.001, ({ failed }) => failed, show.percent),
  partialColumn(
    'mean',
    kind,
    20,
    ({ meanMs }) => meanMs,
    (value) => `${value.toFixed(0)} ms`,
  ),
];

const partialColumns: readonly Column[] = [
  ...failColumn('widget hangs', 'widget hangs'),
  ...failColumn('1 of 20 hangs', 'one hangs'),
  ...failColumn('1 of 20: 429', 'one 429, 30 s'),
  partialColumn('10 % errors: late', '10 % errors', 0.01, ({ late }) => late, show.percent),
  partialColumn(
    'Wi-Fi to mobile',
    'mobile, shown offline',
    1000,
    ({ completeMs }) => completeMs,
    show.seconds,
  ),
];

const stormColumnsOfAll = stormsOfAblation.flatMap(({ title }, index) =>
  stormColumns(index, title),
);

const isClearlyWorse = ({ margin }: Column, value: number, base: number): boolean =>
  value - base > Math.max(margin, Math.abs(base) / 10);

/** Runs everything without each of the mechanisms: the page for docs/storms. */
export async function writeAblationPage({ isQuick, onProgress }: Options): Promise<string> {
  for (const mechanism of mechanisms) checkPatches(mechanism);
  const total = mechanisms.length + 1;
  const all = await measure([], isQuick);
  onProgress(1, total);
  const without: Shown[] = [];
  for (const { patches } of mechanisms) {
    without.push(await measure(patches, isQuick));
    onProgress(without.length + 1, total);
  }
  const section = (title: string, columns: readonly Column[]): string => {
    const base = columns.map((column) => column.read(all));
    const row = (shown: Shown): string[] =>
      columns.map((column, index) => {
        const value = column.read(shown);
        const text = column.show(value, shown);
        return isClearlyWorse(column, value, base[index] ?? NaN) ? `**${text}**` : text;
      });
    const rows = [
      ['all of them', '', ...row(all)],
      ...mechanisms.map((mechanism, index) => [
        mechanism.name,
        `${linesOf(mechanism)}`,
        ...row(without[index] as Shown),
      ]),
    ];
    return `## ${title}\n\n${table(['without', 'lines', ...columns.map(({ head }) => head)], rows)}`;
  };
  return [
    introduction.replace('${cells}', `${all.user.length}`),
    section('One user, and what is partly broken', [...userColumns, ...partialColumns]),
    section('Storms', stormColumnsOfAll),
  ].join('\n\n');
}
