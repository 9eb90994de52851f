import { ensureInstalled } from './install.mjs';
import { fail, run } from './run.mjs';

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
  ['Tests', 'vitest run --config test/vitest.config.ts'],
];

await ensureInstalled();
if (!(await run('node test/setup/ensure-chromium.ts'))) process.exit(1);

const startMs = performance.now();
for (const [title, command] of steps) {
  console.log(`\n=== ${title}: ${command}\n`);
  if (!(await run(command))) fail(`=== FAILED: ${title} (${command})`);
}
console.log(`\n=== Everything passed in ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
