// Runs the test of docs/testing.md, and one of the faults, under every runner, DOM, MSW and Node that the page
// names, and prints a table; and checks the types of the package under every TypeScript that it names.
import { spawn } from 'node:child_process';
import buildIfStale from '../setup/dist.ts';
import { installApp, installNode, packPackage, withMsw } from './app.ts';
import { type Dom, doms, msws, nodes, type Runner, runners } from './runners.ts';
import { runBundlers } from './build-page.ts';
import { runRuntimes } from './runtimes.ts';
import { runTypes } from './types.ts';

/** Many times what the slowest takes: what runs longer hangs. */
const limitMs = 300_000;

interface Run {
  readonly output: string;
  readonly code: number | undefined;
}

function runNode(node: string, args: readonly string[], cwd: string): Promise<Run> {
  return new Promise((resolve) => {
    const child = spawn(node, args, {
      cwd,
      stdio: 'pipe',
      detached: true,
      env: { ...process.env, CI: '1', NO_COLOR: '1' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => (output += data.toString()));
    // The runner has workers of its own, which end with its group.
    const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), limitMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ output, code: code ?? undefined });
    });
  });
}

const errors = {
  node: /MSW 3 needs Node 22\.12 or later, and this is Node 20\.\d+\.\d+, where it answers no request/,
  signal: /MSW 3 answers no request here, .* Use Vitest 4 or later, happy-dom, or msw@2/,
};

/** The error that a cell ends with, where the runner, the DOM, Node and MSW do not fit together. */
function errorOf(runner: Runner, dom: Dom, node: string, msw: string): RegExp | undefined {
  if (!msw.startsWith('3.')) return undefined;
  if (node.startsWith('20.')) return errors.node;
  return runner.folder === 'vitest-3' && dom === 'jsdom' ? errors.signal : undefined;
}

/** What a cell of the table says of a run. */
function describeRun({ output, code }: Run, error: RegExp | undefined): string {
  if (code === undefined) return 'HANGS';
  if (error) return code > 0 && error.test(output) ? 'clear error' : 'FAILS';
  return code === 0 && /Tests:?\s+7 passed/.test(output) ? '7 passed' : 'FAILS';
}

async function runCell(
  runner: Runner,
  folder: string,
  dom: Dom,
  node: string,
  msw: string,
): Promise<string> {
  if (Number.parseInt(node, 10) < runner.fromNode) return 'not made for it';
  const path = installNode(node);
  const run = await withMsw(folder, msw, () => runNode(path, runner.args(dom), folder));
  const text = describeRun(run, errorOf(runner, dom, node, msw));
  if (bad.has(text)) console.log(run.output);
  return text;
}

const bad: ReadonlySet<string> = new Set(['HANGS', 'FAILS']);
/** `npm run matrix -- Jest` runs only what begins so; `-- TypeScript` only the types, `-- Bundlers` only those, `-- Bundlers Rollup` one, `-- Runtimes` Node, Bun and Deno. */
const [only = '', onlyBundler = ''] = process.argv.slice(2);
buildIfStale();
const columns = nodes.flatMap((node) => msws.map((msw) => ({ node, msw })));
const tarball = packPackage();
const types = 'TypeScript'.startsWith(only) ? runTypes(tarball) : [];
const pages = 'Bundlers'.startsWith(only) ? await runBundlers(tarball, onlyBundler) : [];
const programs = 'Runtimes'.startsWith(only) ? runRuntimes(tarball) : [];
const table: string[][] = [['', ...columns.map(({ node, msw }) => `Node ${node}, MSW ${msw}`)]];
for (const runner of runners.filter(({ name }) => name.startsWith(only))) {
  const folder = installApp(runner, tarball);
  for (const dom of doms) {
    const row = [`${runner.name}, ${dom}`];
    for (const { node, msw } of columns) row.push(await runCell(runner, folder, dom, node, msw));
    console.log(row.join(' | '));
    table.push(row);
  }
}
for (const rows of [types, pages, programs, table].filter(({ length }) => length > 1)) {
  const width = Math.max(...rows.flat().map(({ length }) => length));
  const lines = rows.map((row) =>
    row
      .map((text) => text.padEnd(width))
      .join(' ')
      .trimEnd(),
  );
  console.log(`\n${lines.join('\n')}`);
}
process.exitCode = [types, pages, programs, table].flat(2).some((text) => bad.has(text)) ? 1 : 0;
