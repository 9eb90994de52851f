import type { Cell } from './cell.ts';
import type { World } from './run.tsx';
import type { Trouble } from './server.ts';
import type { Tutorial } from './tutorial.ts';
import type { Fault } from './verdict.ts';

/** One component in one trouble, in all worlds. */
export interface Row {
  readonly trouble: Trouble;
  readonly tutorial: Tutorial;
  readonly cells: Readonly<Record<World, Cell>>;
  readonly faults: Readonly<Record<World, readonly Fault[]>>;
}

const introduction = `# Tutorial components in an outage

Apps are written as tutorials and React Query's docs show it. Each component below runs in React, on virtual time, through each trouble: with React Query alone, and with \`steady.defaultOptions\` given to its \`QueryClient\` and nothing else changed. Its queries use a plain \`fetch\` that throws unless \`ok\`, or \`steady.json\`, whose requests Steadfetch knows and can pause.

Each cell tells what is on the screen, from which second on, and, in brackets, for the 100 seconds from the beginning of the trouble, how many requests were sent, and for how many seconds a query was \`fetching\`, and \`paused\`. \`…\` is a spinner, and \`[…]\` a button. Half of the components are opened in the trouble; in the others the user does something on a page that was loaded before. Good data of the server are \`list 2\`; what was loaded before is \`list 1\`.

A cell is **worse** than React Query alone when the page is taken down by an error (**thrown**), is **blank**, shows something **untrue**, is **stuck**, shows nothing while something is under way (**silent**), **fails** where React Query alone succeeds, or is slower by more than half a second: to content (**slower**), to an error (**fails later**; \`query()\`, which React Query alone does not retry, may take as long as its three retries), or to the end of an awaited refetch (**awaits longer**). Every draw of chance is 0.5.

Fifty further components, with other options of queries and mutations, are held to the same by the test and not shown.

\`npm run components\` runs all of it and writes this page.`;

const seconds = (ms: number): string => String(Math.round(ms / 100) / 10);

/** What was seen: the first two and the last two, where there is more. */
function shown({ screens, thrown }: Cell): string {
  const texts = screens.map(
    ([at, text]) => `${at === 0 ? '' : `${seconds(at)} `}${text === '' ? '(blank)' : text}`,
  );
  const some = texts.length > 5 ? [...texts.slice(0, 2), '…', ...texts.slice(-2)] : texts;
  return [...some, ...(thrown === undefined ? [] : [thrown])].join(' → ').replaceAll('|', '/');
}

function cellOf({ cells, faults }: Row, world: World): string {
  const verdict = faults[world].map((fault) => `**${fault}** `).join('');
  const { requests, fetchingMs, pausedMs } = cells[world];
  const fetching = fetchingMs > 0 ? `, fetching ${seconds(fetchingMs)}` : '';
  const paused = pausedMs > 0 ? `, paused ${seconds(pausedMs)}` : '';
  return `${verdict}${shown(cells[world])} (${requests}${fetching}${paused})`;
}

const columns: Readonly<Record<World, string>> = {
  alone: 'React Query alone',
  fetch: 'with Steadfetch, `fetch`',
  json: 'with Steadfetch, `steady.json`',
};

function tableOf(rows: readonly Row[]): string {
  const worlds = Object.keys(columns) as World[];
  return [
    `| component | ${worlds.map((world) => columns[world]).join(' | ')} |`,
    '|---|---|---|---|',
    ...rows.map(
      (row) =>
        `| ${row.tutorial.name} | ${worlds.map((world) => cellOf(row, world)).join(' | ')} |`,
    ),
  ].join('\n');
}

/** Worse cells of all, for each trouble. */
function summaryOf(rows: readonly Row[], names: readonly string[]): string {
  const worse = (world: World, name: string): string => {
    const all = rows.filter(({ trouble }) => trouble.name === name);
    return `${all.filter(({ faults }) => faults[world].length > 0).length} of ${all.length}`;
  };
  return [
    '| worse than React Query alone | `fetch` | `steady.json` |',
    '|---|---|---|',
    ...names.map((name) => `| ${name} | ${worse('fetch', name)} | ${worse('json', name)} |`),
  ].join('\n');
}

/** Seconds to content, of outages of any length. */
function sweepOf(rows: readonly Row[]): string {
  const worlds = Object.keys(columns) as World[];
  const tutorials = [...new Set(rows.map(({ tutorial }) => tutorial))];
  const timeOf = ({ cells, faults }: Row, world: World): string => {
    const { contentMs } = cells[world];
    const time = contentMs === undefined ? 'failed' : seconds(contentMs);
    return faults[world].length > 0 ? `**${time}**` : time;
  };
  const heads = tutorials.flatMap(({ name }) => [`${name}: alone`, '`fetch`', '`steady.json`']);
  const names = [...new Set(rows.map(({ trouble }) => trouble.name))];
  return [
    '## Outages of any length',
    `Seconds from the beginning of an outage until the user sees what is wanted. React Query alone asks after 1, 3 and 7 s, so an outage that ends just before is short for it.`,
    [
      `| trouble | ${heads.join(' | ')} |`,
      `|---${heads.map(() => '|---').join('')}|`,
      ...names.map((name) => {
        const cells = rows
          .filter(({ trouble }) => trouble.name === name)
          .flatMap((row) => worlds.map((world) => timeOf(row, world)));
        return `| ${name} | ${cells.join(' | ')} |`;
      }),
    ].join('\n'),
  ].join('\n\n');
}

/** The page of the docs. */
export function reportOf(rows: readonly Row[], sweep: readonly Row[]): string {
  const names = [...new Set(rows.map(({ trouble }) => trouble.name))];
  const parts = names.map((name) => {
    const title = `## ${name[0]?.toUpperCase()}${name.slice(1)}`;
    return `${title}\n\n${tableOf(rows.filter(({ trouble }) => trouble.name === name))}`;
  });
  return `${[introduction, summaryOf(rows, names), sweepOf(sweep), ...parts].join('\n\n')}\n`;
}
