import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { replaceOnce } from '../../sim/run/patches.ts';
import { locate } from '../mutants/folders.ts';
import { planPath, writePlan } from '../mutants/plan.ts';
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

const command =
  'run --config test/mutants/vitest.config.ts --bail 1 --reporter=json --outputFile'.split(' ');

/** Runs the suites that claim to hold a fault with it in the source, until the first test fails. */
function plant(fault: Fault): Catch {
  const { name, file, suites } = fault;
  const path = locate('src', file);
  const code = { [path]: replaceOnce(readFileSync(path, 'utf8'), fault) };
  writePlan('planted', { results: '', code, keys: {}, tests: {} });
  writeFileSync(output, '{"testResults":[]}');
  for (const suite of suites) {
    spawnSync('vitest', [...command, output, locate('test', suite)], {
      env: { ...process.env, MUTANTS_PLAN: planPath('planted') },
      stdio: 'ignore',
    });
    // A file that cannot be loaded finds nothing: the fault must be seen by a test.
    const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as Report;
    for (const { assertionResults } of testResults) {
      const failed = assertionResults.find(({ status }) => status === 'failed');
      if (failed) return { name, by: `${suite}: ${failed.fullName.trim()}` };
    }
  }
  return { name, by: undefined };
}

mkdirSync('node_modules/.cache/mutants', { recursive: true });
const wanted = process.argv.slice(2);
const chosen = faults.filter(({ name }) => wanted.every((word) => name.includes(word)));
for (const { suites } of chosen) for (const suite of suites) locate('test', suite);

const catches = chosen.map((fault, index) => {
  const caught = plant(fault);
  const end = caught.by === undefined ? 'NOT CAUGHT' : `caught by ${caught.by}`;
  console.log(`${index + 1} of ${chosen.length}: ${fault.name}: ${end}`);
  return caught;
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
