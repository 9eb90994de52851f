import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { fail, root, run } from './run.mjs';

const steps = [
  ['Format', 'oxfmt --check'],
  ['Lint', 'oxlint'],
  ['Unused files, exports and dependencies', 'knip'],
  ['Types', 'tsc'],
  ['Types of the package by itself', 'tsc -p src/tsconfig.json'],
  ['Build', 'tsdown'],
  ['Package: publint', 'publint --strict'],
  ['Package: are the types wrong', 'attw --pack . --profile strict'],
  ['Size', 'size-limit'],
];
/** A dot for each test: the report of thousands of tests is read only where one fails. */
const tests = 'vitest run --config test/vitest.config.ts --reporter=dot';

await ensureInstalled();
// Most test files are processes of their own, and load React and React Query: Node keeps what it has compiled of them.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/compiled');
if (!(await run('node test/setup/ensure-chromium.ts'))) process.exit(1);

const startMs = performance.now();
const secondsSince = (ms) => `${((performance.now() - ms) / 1000).toFixed(0)} s`;

async function runStep(title, command, isQuiet) {
  const stepMs = performance.now();
  console.log(`=== ${title}: ${command}`);
  if (!(await run(command, { isQuiet }))) fail(`=== FAILED: ${title} (${command})`);
  console.log(`    ${secondsSince(stepMs)}`);
}

for (const [title, command] of steps) await runStep(title, command, true);
await runStep('Tests', tests, false);
console.log(`=== Everything passed in ${secondsSince(startMs)}`);
