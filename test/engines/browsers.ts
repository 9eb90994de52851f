import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Suite } from './differences.ts';
import { type EngineName, engineNames, isEngineName } from './engines.ts';
import { type OutboxProof, writePage } from './page.ts';
import { prove } from './prove.ts';
import { keep, keepReport, reportPath, unexplained } from './results.ts';

// All engines, into docs/browsers.md: `npm run browsers`. A part of it, which leaves the other results as the
// last run has them: `npm run browsers -- --engine firefox --part browser`.
const { values } = parseArgs({
  options: {
    engine: { type: 'string' },
    part: { type: 'string' },
    /** Of a part that is a suite: parts of the paths of its files. */
    file: { type: 'string', multiple: true, default: [] },
    orders: { type: 'string', default: '1000' },
    submissions: { type: 'string', default: '1000' },
  },
});
const root = resolve(import.meta.dirname, '../..');
const vitest = resolve(root, 'node_modules/vitest/vitest.mjs');
let hasFailed = false;

/** Runs Vitest in an engine. @returns whether all has passed. */
function runVitest(engine: EngineName, args: readonly string[], env = {}): boolean {
  const config = ['run', '--config', 'test/engines/vitest.config.ts'];
  const { status } = spawnSync(process.execPath, [vitest, ...config, ...args], {
    cwd: root,
    env: { ...process.env, ENGINE: engine, ...env },
    stdio: 'inherit',
  });
  return status === 0;
}

function runSuite(engine: EngineName, suite: Suite): void {
  const report = ['--reporter=dot', '--reporter=json', `--outputFile.json=${reportPath}`];
  rmSync(reportPath, { force: true });
  runVitest(engine, ['--project', suite, ...report, ...values.file]);
  keepReport(engine, suite);
  const failed = unexplained(engine, suite);
  for (const { file, test, status } of failed)
    console.log(`${engine}: ${status}: ${file}: ${test}`);
  hasFailed ||= failed.length > 0;
}

function proveOutbox(engine: EngineName): void {
  const submissions = Number(values.submissions);
  const env = { SUBMISSIONS: `${submissions}` };
  const file = 'test/e2e/outbox-engines.test.ts';
  const isProved = runVitest(engine, ['--project', 'e2e', file, '-t', `^in ${engine}`], env);
  const proof: OutboxProof = { submissions, isProved };
  keep(engine, 'outbox', proof);
  hasFailed ||= !isProved;
}

async function proveOrders(engine: EngineName): Promise<void> {
  const startMs = performance.now();
  const proof = await prove(engine, Number(values.orders));
  const { figures, blocked } = proof;
  const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
  console.log(`${engine}: ${figures.orders} orders in ${seconds} s`, figures, blocked);
  keep(engine, 'proof', proof);
  const untrue = figures.duplicated + figures.successNotDone + figures.failedButDone;
  hasFailed ||= untrue > 0 || blocked !== 'invalid' || figures.orders !== Number(values.orders);
}

const parts: Readonly<Record<string, (engine: EngineName) => void | Promise<void>>> = {
  browser: (engine) => runSuite(engine, 'browser'),
  e2e: (engine) => runSuite(engine, 'e2e'),
  proof: proveOrders,
  outbox: proveOutbox,
};

const isChosen = (choice: string | undefined, name: string): boolean =>
  choice === undefined || choice === name;
if (values.engine !== undefined && !isEngineName(values.engine))
  throw new Error(`--engine is one of ${engineNames.join(', ')}.`);
if (values.part !== undefined && !(values.part in parts))
  throw new Error(`--part is one of ${Object.keys(parts).join(', ')}.`);

for (const engine of engineNames)
  for (const [name, run] of Object.entries(parts))
    if (isChosen(values.engine, engine) && isChosen(values.part, name)) await run(engine);

writeFileSync(resolve(root, 'docs/browsers.md'), writePage());
console.log('docs/browsers.md is written.');
process.exitCode = hasFailed ? 1 : 0;
