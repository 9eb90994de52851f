import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { replaceOnce } from '../../sim/run/patches.ts';
import { locate } from '../mutants/folders.ts';
import { hashOf, planPath, writePlan } from '../mutants/plan.ts';
import { writeSection } from '../mutants/page.ts';
import { type Fault, faults } from './faults.ts';

/** The test that found a fault, or none. */
interface Catch {
  readonly name: string;
  readonly by: string | undefined;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

const output = 'node_modules/.cache/mutants/planted.json';
const caughtPath = 'node_modules/.cache/mutants/planted.jsonl';

const command =
  'run --config test/mutants/vitest.config.ts --bail 1 --reporter=json --outputFile'.split(' ');

/** Runs the suites that claim to hold a fault with it in the source, until the first test fails. */
function plant({ suites }: Fault, code: Record<string, string>): string | undefined {
  writePlan('planted', { results: '', code, keys: {}, tests: {}, likely: {} });
  for (const suite of suites) {
    const failed = runSuite(suite).find(({ status }) => status === 'failed');
    if (failed) return `${suite}: ${failed.fullName.trim()}`;
  }
  return undefined;
}

/** A file that cannot be loaded finds nothing, and neither does a run without a report: both have no tests. */
function runSuite(suite: string): Report['testResults'][number]['assertionResults'] {
  writeFileSync(output, '{"testResults":[]}');
  spawnSync('vitest', [...command, output, locate('test', suite)], {
    env: { ...process.env, MUTANTS_PLAN: planPath('planted') },
    stdio: 'ignore',
  });
  const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  if (tests.length === 0) throw new Error(`No test of test/${suite} has run: run it again.`);
  return tests;
}

/** What was caught stays so while the fault, its file and its suites are as they are. */
function keyOf({ name, suites }: Fault, code: Record<string, string>): string {
  const files = suites.map((suite) => locate('test', suite)).filter((path) => /\.tsx?$/.test(path));
  const texts = files.map((path) => readFileSync(path, 'utf8'));
  return hashOf(JSON.stringify([name, code, texts]));
}

const readCaught = (): ReadonlyMap<string, string> =>
  new Map(
    existsSync(caughtPath)
      ? readFileSync(caughtPath, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as [string, string])
      : [],
  );

mkdirSync('node_modules/.cache/mutants', { recursive: true });
const wanted = process.argv.slice(2);
const chosen = faults.filter(({ name }) => wanted.every((word) => name.includes(word)));
for (const { suites } of chosen) for (const suite of suites) locate('test', suite);

const known = readCaught();
const catches = chosen.map((fault, index): Catch => {
  const path = locate('src', fault.file);
  const code = { [path]: replaceOnce(readFileSync(path, 'utf8'), fault) };
  const key = keyOf(fault, code);
  const by = known.get(key) ?? plant(fault, code);
  if (by !== undefined && !known.has(key))
    appendFileSync(caughtPath, `${JSON.stringify([key, by])}\n`);
  const end = by === undefined ? 'NOT CAUGHT' : `caught by ${by}`;
  console.log(`${index + 1} of ${chosen.length}: ${fault.name}: ${end}`);
  return { name: fault.name, by };
});
const missed = catches.filter(({ by }) => by === undefined);
console.log(`${catches.length - missed.length} of ${catches.length} planted faults are caught.`);
if (missed.length > 0) process.exitCode = 1;
else if (chosen.length === faults.length)
  writeSection(
    'planted',
    [
      '| planted fault | the test that fails first |',
      '|---|---|',
      ...catches.map(({ name, by = '' }) => `| ${cell(name)} | ${cell(by)} |`),
    ].join('\n'),
  );

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
