import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { writeSection } from '../mutants/page.ts';

/** The tests that play whole histories against a model. */
const tests = [
  'test/core/policy/decide-attempts.test.ts',
  'test/core/react-query/attempts.test.ts',
  'test/core/react-query/mutation/truth.test.ts',
  'test/core/form/form-properties.test.ts',
  'test/core/form/way-out.test.ts',
  'test/core/idempotency/keys-properties.node.test.ts',
  'test/outbox/model.node.test.ts',
  'test/server/idempotent-properties.node.test.ts',
];

const command =
  'run --config test/vitest.config.ts --project=unit --project=node --testTimeout 3600000'.split(
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
const atLeast = readOption('runs', 1_000_000);
const times = readOption('times', 10);
const firstSeed = readOption('seed', 1);
const folder = 'node_modules/.cache/histories';
const log = `${folder}/drawn-${process.pid}.jsonl`;

function readDrawn(): readonly Drawn[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Drawn);
}

const shown = (count: number): string => count.toLocaleString('en-US');

mkdirSync(folder, { recursive: true });
const until = Date.now() + minutes * 60_000;
const totals = new Map<string, { count: number; readonly seeds: number[] }>();
let all = 0;
for (let offset = firstSeed; all < atLeast && Date.now() < until; offset++) {
  // One file at a time, so that little is lost where the time ends.
  for (const test of tests) {
    if (Date.now() >= until || all >= atLeast) break;
    rmSync(log, { force: true });
    const { status } = spawnSync('vitest', [...command, test], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        HISTORIES_TIMES: `${times}`,
        HISTORIES_SEED: `${offset}`,
        HISTORIES_LOG: log,
      },
    });
    for (const { test: name, seed, numRuns } of readDrawn()) {
      all += numRuns;
      console.log(`${shown(numRuns)} histories from seed ${seed}: ${name}`);
      const total = totals.get(name) ?? { count: 0, seeds: [] };
      total.seeds.push(seed);
      totals.set(name, { ...total, count: total.count + numRuns });
    }
    if (status !== 0) {
      console.log(`RED: HISTORIES_TIMES=${times} HISTORIES_SEED=${offset} ${test}`);
      process.exit(1);
    }
  }
}
const rows = [...totals].map(
  ([name, { count, seeds }]) =>
    `| ${name.replaceAll('|', '\\|')} | ${shown(count)} | ${seeds.at(0)} to ${seeds.at(-1)} |`,
);
console.log(`${shown(all)} histories, and none breaks a rule.`);
writeSection(
  'histories',
  [`${shown(all)} histories:`, '', '| test | histories | seeds |', '|---|---:|---|', ...rows].join(
    '\n',
  ),
);
