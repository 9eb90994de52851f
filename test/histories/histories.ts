import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { writeSection } from '../mutants/page.ts';

/** The tests that play whole histories against a model, those that take longest first. */
const tests = [
  'test/outbox/model.node.test.ts',
  'test/core/form/way-out.test.ts',
  'test/core/form/form-properties.test.ts',
  'test/core/react-query/mutation/truth.test.ts',
  'test/core/react-query/attempts.test.ts',
  'test/core/idempotency/keys-properties.node.test.ts',
  'test/core/policy/decide-attempts.test.ts',
  'test/server/idempotent-properties.node.test.ts',
];

const command =
  'run --config test/vitest.config.ts --project=unit --project=node --testTimeout 36000000'.split(
    ' ',
  );

interface Drawn {
  readonly test: string;
  readonly seed: number;
  readonly numRuns: number;
}

function readOption(name: string, byDefault: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? byDefault : Number(process.argv[at + 1]);
}

const minutes = readOption('minutes', 60);
const firstSeed = readOption('seed', 1);
const workers = availableParallelism();
/** Each model has the same time. */
const shareMs = (minutes * 60_000 * workers) / tests.length;
const folder = 'node_modules/.cache/histories';

const shown = (count: number): string => count.toLocaleString('en-US');

function readDrawn(log: string): readonly Drawn[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Drawn);
}

/** Runs a file of tests with so many times as many histories. @returns whether all keep the rules. */
function run(test: string, log: string, seed: number, times: number): Promise<boolean> {
  const child = spawn('vitest', [...command, test], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      HISTORIES_TIMES: `${times}`,
      HISTORIES_SEED: `${seed}`,
      HISTORIES_LOG: log,
    },
  });
  return new Promise((resolve) => child.once('close', (code) => resolve(code === 0)));
}

/** Runs a file from seed to seed until its time is over. @returns what it has drawn. */
async function play(test: string): Promise<readonly Drawn[]> {
  const log = `${folder}/${tests.indexOf(test)}.jsonl`;
  const all: Drawn[] = [];
  const until = Date.now() + shareMs;
  let times = 1;
  for (let seed = firstSeed; Date.now() < until; seed++) {
    rmSync(log, { force: true });
    const beganAt = Date.now();
    if (!(await run(test, log, seed, times))) {
      console.log(`RED: HISTORIES_TIMES=${times} HISTORIES_SEED=${seed} ${test}`);
      process.exit(1);
    }
    const drawn = readDrawn(log);
    for (const { test: name, seed: from, numRuns } of drawn)
      console.log(`${shown(numRuns)} histories from seed ${from}: ${name}`);
    all.push(...drawn);
    // Up to ten times as many, so that starting takes little of the time, and no more than the time that is left.
    const ratio = (until - Date.now()) / (Date.now() - beganAt);
    times = Math.max(1, Math.floor(times * Math.min(10, ratio)));
  }
  return all;
}

mkdirSync(folder, { recursive: true });
const waiting = [...tests];
const played = new Map<string, readonly Drawn[]>();
const playAll = async (): Promise<void> => {
  for (let test = waiting.shift(); test !== undefined; test = waiting.shift())
    played.set(test, await play(test));
};
await Promise.all(Array.from({ length: workers }, playAll));

const drawn = tests.flatMap((test) => played.get(test) ?? []);
const rows = [...new Set(drawn.map(({ test }) => test))].map((name) => {
  const own = drawn.filter(({ test }) => test === name);
  const count = own.reduce((sum, { numRuns }) => sum + numRuns, 0);
  const seeds = own.map(({ seed }) => seed);
  return `| ${name.replaceAll('|', '\\|')} | ${shown(count)} | ${seeds.at(0)} to ${seeds.at(-1)} |`;
});
const all = shown(drawn.reduce((sum, { numRuns }) => sum + numRuns, 0));
console.log(`${all} histories, and none breaks a rule.`);
writeSection(
  'histories',
  [`${all} histories:`, '', '| test | histories | seeds |', '|---|---:|---|', ...rows].join('\n'),
);
