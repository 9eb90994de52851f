// Runs the tests of query-core and react-query, from a checkout of TanStack Query, as they are and with Steadfetch
// plugged into each QueryClient in each of its modes, and prints what differs. Fails where that is not expected.
//
//   git clone --depth 1 --branch v5.89.0 <TanStack Query> ../query
//   npm run suite -- ../query
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { differences, type Mode, modes, unsteady } from './differences.ts';

const project = resolve(import.meta.dirname, '../..');
const [checkout = ''] = process.argv.slice(2);
if (!existsSync(join(checkout, 'packages/query-core/src/__tests__')))
  throw new Error('npm run suite -- <folder>: a checkout of TanStack Query, with its tests.');

const folder = mkdtempSync(join(tmpdir(), 'suite-'));

/** The tests, and what they need beside what they test: not in the checkout, which is left as it is. */
function prepare(): void {
  const names = ['query-core', 'react-query', 'query-test-utils', 'query-persist-client-core'];
  for (const name of names.map((one) => join('packages', one)))
    if (existsSync(join(checkout, name)))
      cpSync(join(checkout, name), join(folder, name), { recursive: true });
  // That of the checkout is for all its packages. This one is what the sources of these need.
  const compilerOptions = { target: 'ES2022', jsx: 'react-jsx', useDefineForClassFields: false };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  const packages = [
    '@testing-library/dom@10',
    '@testing-library/jest-dom@6',
    '@testing-library/react@16',
    '@testing-library/react-render-stream@2',
    'expect@30',
    'react@19',
    'react-dom@19',
    'react-error-boundary@4',
  ];
  const flags = ['--no-audit', '--no-fund', '--legacy-peer-deps', '--silent'];
  const { status } = spawnSync('npm', ['install', ...flags, ...packages], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error('The packages that the tests need could not be installed.');
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Whether each test passed, with Steadfetch plugged in as the mode says, or with React Query alone. */
function runTests(mode: Mode | ''): ReadonlyMap<string, boolean> {
  const outputFile = join(folder, 'report.json');
  const config = join(import.meta.dirname, 'vitest.config.ts');
  const options = ['run', '--config', config, '--reporter=json', `--outputFile=${outputFile}`];
  rmSync(outputFile, { force: true });
  spawnSync(process.execPath, [join(project, 'node_modules/vitest/vitest.mjs'), ...options], {
    cwd: project,
    env: { ...process.env, SUITE: folder, MODE: mode },
  });
  const { testResults } = JSON.parse(readFileSync(outputFile, 'utf8')) as Report;
  const broken = testResults.find(({ assertionResults }) => assertionResults.length === 0);
  if (broken) throw new Error(`${broken.name} did not run: ${broken.message}`);
  return new Map(
    testResults.flatMap(({ assertionResults }) =>
      assertionResults.map(({ fullName, status }) => [fullName, status !== 'failed'] as const),
    ),
  );
}

/** Whether the tests differ in this mode from React Query alone as they are expected to. */
function compare(mode: Mode, names: readonly string[]): boolean {
  const ours = runTests(mode);
  const differing = new Set(names.filter((name) => ours.get(name) !== true));
  console.log(`\n${mode}: ${names.length - differing.size} of them pass, too.`);

  const expected = differences.filter((difference) => difference.modes.includes(mode));
  const listed = expected
    .flatMap(({ tests, varies }) => (varies ? [] : tests))
    .filter((name) => names.includes(name));
  const equal = listed.filter((name) => !differing.has(name));
  for (const { why, tests } of expected) {
    const known = tests.filter((name) => differing.delete(name));
    if (known.length > 0) console.log(`\n${why}:\n${known.map((name) => `- ${name}`).join('\n')}`);
  }
  for (const name of equal) console.log(`\nNOT DIFFERENT, though listed: ${name}`);
  for (const name of differing) console.log(`\nDIFFERENT, and not explained: ${name}`);
  return differing.size === 0 && equal.length === 0;
}

function compareAll(): boolean {
  const alone = new Map([...runTests('')].filter(([name]) => !unsteady.test(name)));
  // Some of a version do not pass with the React and the tools of today.
  const names = [...alone].filter(([, passed]) => passed).map(([name]) => name);
  console.log(`${names.length} of ${alone.size} tests pass with React Query alone.`);
  for (const [name, passed] of alone)
    if (!passed) console.log(`Left out, because it does not: ${name}`);
  return modes.map((mode) => compare(mode, names)).every(Boolean);
}

try {
  prepare();
  process.exitCode = compareAll() ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
