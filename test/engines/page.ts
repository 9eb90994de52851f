import { type Difference, differences, type Suite } from './differences.ts';
import { type EngineName, engineNames, titleOf } from './engines.ts';
import type { Proof } from './prove.ts';
import { kept, knownOf, type Result, resultsOf, unexplained } from './results.ts';

const number = (value: number): string => value.toLocaleString('en');
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** What has come of a file in an engine: how many of its scenarios it has passed. */
function cellOf(results: readonly Result[] | undefined, file: string): string {
  const own = results?.filter((result) => result.file === file) ?? [];
  if (own.length === 0) return '–';
  const passed = own.filter(({ status }) => status === 'passed').length;
  return passed === own.length ? `${passed}` : `${passed} of ${own.length}`;
}

function tableOf(suite: Suite): string {
  const all = engineNames.map((engine) => [engine, resultsOf(engine, suite)] as const);
  const shown = all.filter(([, results]) => results);
  const files = new Set(shown.flatMap(([, results]) => results?.map(({ file }) => file) ?? []));
  const totals = shown.map(([, results = []]) => {
    const passed = results.filter(({ status }) => status === 'passed').length;
    return `${passed} of ${results.length}`;
  });
  return [
    row(['file', ...shown.map(([engine]) => titleOf(engine))]),
    row(['---', ...shown.map(() => '---:')]),
    ...[...files]
      .toSorted()
      .map((file) => row([`\`${file}\``, ...shown.map(([, results]) => cellOf(results, file))])),
    row(['all', ...totals]),
  ].join('\n');
}

/** The scenarios that a difference explains, by the file they are in. */
function affected(engine: EngineName, difference: Difference): number {
  const results = resultsOf(engine, difference.suite) ?? [];
  return results.filter(
    (result) =>
      result.status !== 'passed' && knownOf(engine, difference.suite, result) === difference,
  ).length;
}

function differencesOf(kind: Difference['kind']): string {
  const rows = engineNames.flatMap((engine) =>
    differences[engine].flatMap((one) => {
      const count = one.kind === kind ? affected(engine, one) : 0;
      const name = titleOf(engine).replace(/ \d.*/, '');
      return count > 0 ? [row([name, `\`${one.file}\``, `${count}`, one.why])] : [];
    }),
  );
  return ['| engine | file | scenarios | why |', '| --- | --- | ---: | --- |', ...rows].join('\n');
}

function proofRows(): string {
  const rows = engineNames.flatMap((engine) => {
    const proof = kept(engine, 'proof') as Proof | undefined;
    if (!proof) return [];
    const { figures, blocked } = proof;
    const untrue = figures.failedButDone + figures.successNotDone;
    const unknown = figures.unknownDone + figures.unknownNotDone;
    return [
      row([
        titleOf(engine),
        number(figures.orders),
        number(figures.arrivals),
        number(figures.disturbed),
        number(figures.successNotDone),
        number(figures.duplicated),
        number(untrue),
        number(unknown),
        blocked === 'invalid' ? 'yes' : `no: ${blocked}`,
      ]),
    ];
  });
  return [
    '| engine | orders | requests | disturbed | lost | booked twice | told wrong | told unknown | block known |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...rows,
  ].join('\n');
}

/** Scenarios that have failed, and nothing says why: the run fails of them. */
function failures(): string {
  const rows = engineNames.flatMap((engine) =>
    (['browser', 'e2e'] as const).flatMap((suite) =>
      unexplained(engine, suite).map(({ file, test }) => {
        const name = titleOf(engine).replace(/ \d.*/, '');
        return row([name, `\`${file}\``, test]);
      }),
    ),
  );
  if (rows.length === 0) return '';
  const head = ['## Not explained', '', '| engine | file | scenario |', '| --- | --- | --- |'];
  return `${[...head, ...rows].join('\n')}\n\n`;
}

/** What came of submissions to an outbox. */
export interface OutboxProof {
  readonly submissions: number;
  readonly isProved: boolean;
}

function outboxRows(): string {
  const rows = engineNames.flatMap((engine) => {
    const proof = kept(engine, 'outbox') as OutboxProof | undefined;
    const kind = proof?.isProved ? 'none' : 'some: see the output of the run';
    return proof ? [row([titleOf(engine), number(proof.submissions), kind])] : [];
  });
  return [
    '| engine | submissions | lost, delivered twice, out of order, or dead without a reason |',
    '| --- | ---: | --- |',
    ...rows,
  ].join('\n');
}

/** The page that says what came of all scenarios in all engines. */
export const writePage = (): string => `# Three engines

Steadfetch runs in Chromium, Firefox and WebKit. This page is written by

\`\`\`sh
npm run browsers
\`\`\`

which installs Firefox ESR and WebKitGTK where they are missing, runs the scenarios of \`test/browser\` in all three and those of \`test/e2e\` as far as each can be driven, and submits orders and outbox entries from each over a network that loses answers. It fails if a scenario does not pass and this page does not say why. Firefox is driven over WebDriver BiDi, WebKitGTK by WebDriver. WebKitGTK has the engine of Safari and not its network, so that a row about connections says little of Safari.

## Scenarios of the browser

Real connections that break, hang, are redirected or blocked, files that change, the keyboard, and the styles. A number alone means that all have passed.

${tableOf('browser')}

${resultsOf('firefox', 'e2e') ? `## End to end\n\nThe demo, forms, tabs, offline, and the outbox, each in whole pages. WebKitGTK's driver has one window at a time and no clock that a test can stop, so that only its own file is driven there. A file that is not in the table, or not in a column, was not run there.\n\n${tableOf('e2e')}\n` : ''}
## What an engine does otherwise

${differencesOf('engine')}

## What cannot be driven, and why

${differencesOf('driver')}

${failures()}## Exactly once

Orders are submitted from a page, five at a time, to [the server that loses answers](exactly-once/figures.md): it resets connections after it has booked, hangs, answers 503 through a gateway, and delivers twice. *Lost* is told success, and not booked; *told wrong* is told success or failure against the ledger; *told unknown* is what the page says when it cannot know. *Block known*: a request that the page's Content-Security-Policy forbids is not taken for a failed network.

${proofRows()}

Entries of an [outbox](outbox.md), from tabs that are reloaded at any moment, to a server that is killed between: every one is delivered once, and each cart in its order.

${outboxRows()}
`;
