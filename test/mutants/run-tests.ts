import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { instrument, type Mutant } from './instrument.ts';
import type { Folder } from './folders.ts';
import {
  append,
  hashOf,
  isDone,
  isFound,
  isKill,
  type Likely,
  type Plan,
  planPath,
  readKillers,
  readResults,
  type Result,
  resultsPath,
  writePlan,
} from './plan.ts';

const isTest = (name: string): boolean => /\.test\.tsx?$/.test(name);

/** Properties, models, servers, processes and collections of garbage take long, and longer if they fail. They see only the mutants that all others leave. */
const isSlow = (path: string): boolean =>
  /asyncProperty|node:child_process|node:http|node:v8|startServer|chaos|storm/.test(
    readFileSync(path, 'utf8'),
  );

const filesIn = (path: string): readonly string[] =>
  isTest(path)
    ? [path]
    : readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter(isTest)
        .map((name) => `${path}/${name}`);

/** The files of tests of a folder: those of its own first, and the short ones before the others. */
function testsOf({ tests }: Folder): readonly string[] {
  const size = (path: string): number => statSync(path).size;
  const all = tests.flatMap((path) => filesIn(path).toSorted((a, b) => size(a) - size(b)));
  return all.toSorted((a, b) => Number(isSlow(a)) - Number(isSlow(b)));
}

export interface Found {
  readonly mutants: readonly Mutant[];
  readonly killed: ReadonlyMap<string, Result>;
  /** Passed by tests, or by none. */
  readonly survived: readonly Mutant[];
  readonly uncovered: readonly Mutant[];
  /** Files of tests that fail without any mutant: they say nothing. */
  readonly failed: readonly string[];
  /** Files of tests that have not run yet, when the time was over. */
  readonly left: number;
}

/** A worker that is silent for so long has hung in a mutant: no file of tests takes as long, also on a busy machine. */
const silenceMs = 300_000;

/** Runs the tests of a folder against its mutants, from where the last run has ended. */
export async function runFolder(folder: Folder, until: number): Promise<Found> {
  const { code, mutants } = await instrument(folder.source);
  const own = mutants.filter(({ ignored }) => ignored === undefined);
  const hashes = new Map(
    Object.keys(code).map((file) => [file, hashOf(readFileSync(file, 'utf8'))] as const),
  );
  const fullKey = ({ key, file }: Mutant): string => `${hashes.get(file)}:${key}`;
  const keys = Object.fromEntries(own.map((mutant) => [mutant.id, fullKey(mutant)]));
  const tests = Object.fromEntries(
    testsOf(folder).map((test) => [test, hashOf(readFileSync(test, 'utf8'))] as const),
  );
  const results = resultsPath(folder.name);
  const plan = { results, code, keys, tests };
  const likely = findLikely(folder.name, plan);
  const likelyTests = new Set(Object.values(likely).map(({ test }) => test));
  if (likelyTests.size > 0) {
    console.log(`${folder.name}: ${Object.keys(likely).length} were found before`);
    writePlan(folder.name, { ...plan, likely });
    if (!(await runVitest(folder.name, [...likelyTests], results, until)))
      mustGoOn(results, keys, tests);
  }
  writePlan(folder.name, { ...plan, likely: {} });

  for (let isOver = false; !isOver && Date.now() < until;) {
    const open = openTests(results, keys, tests);
    if (open.length === 0) break;
    const known = readResults(results);
    const found = Object.values(keys).filter((key) => isFound(known.get(key), tests)).length;
    console.log(
      `${folder.name}: ${found} of ${own.length} found, ${open.length} files of tests to run`,
    );
    const isStopped = await runVitest(folder.name, open, results, until);
    isOver = isStopped || !mustGoOn(results, keys, tests);
  }
  const open = openTests(results, keys, tests);
  const whole = readResults(results).get('');
  const failed = open.flatMap((test) => {
    const { end, hash, by = '' } = whole?.get(test) ?? {};
    return end === 'failed' && hash === tests[test] ? [`${test}: ${by}`] : [];
  });
  const left = open.length - failed.length;

  const known = readResults(results);
  const killed = new Map<string, Result>();
  const survived: Mutant[] = [];
  const uncovered: Mutant[] = [];
  for (const mutant of own) {
    const byTest = known.get(fullKey(mutant));
    const current = [...(byTest?.values() ?? [])].filter(
      (result) => tests[result.test] === result.hash,
    );
    const kill = current.find(isKill);
    if (kill) killed.set(mutant.id, kill);
    else if (current.some(({ end }) => end === 'survived')) survived.push(mutant);
    else uncovered.push(mutant);
  }
  return { mutants, killed, survived, uncovered, failed, left };
}

/** For the mutants that none has found: the test that has found each before, whatever has changed since. */
function findLikely(
  name: string,
  { results, keys, tests }: Omit<Plan, 'likely'>,
): Record<string, Likely> {
  const known = readResults(results);
  const withoutText = (key: string): string => key.replace(/^.*:/, '');
  const killers = new Map(readKillers(name));
  for (const [key, byTest] of known)
    for (const { end, test, by } of byTest.values())
      if (end === 'killed' && by !== undefined) killers.set(withoutText(key), { test, by });
  const open = Object.values(keys).filter((key) => !isFound(known.get(key), tests));
  return Object.fromEntries(
    open.flatMap((key) => {
      const killer = killers.get(withoutText(key));
      const isOpen =
        killer !== undefined &&
        killer.test in tests &&
        !isDone(known.get(key)?.get(killer.test), tests[killer.test]);
      return isOpen ? [[key, killer] as const] : [];
    }),
  );
}

/** The files of tests that have not said yet what they make of a mutant that none has found. */
function openTests(
  results: string,
  keys: Readonly<Record<string, string>>,
  tests: Readonly<Record<string, string>>,
): readonly string[] {
  const known = readResults(results);
  const open = Object.values(keys).filter((key) => !isFound(known.get(key), tests));
  const isOpen = (test: string): boolean =>
    open.some((key) => !isDone(known.get(key)?.get(test), tests[test]));
  return Object.keys(tests).filter(isOpen);
}

/** @returns whether a file of tests has ended within a mutant, which has hung it then, or must go on in a new process. */
function mustGoOn(
  results: string,
  keys: Readonly<Record<string, string>>,
  tests: Readonly<Record<string, string>>,
): boolean {
  const last = readFileSync(results, 'utf8').trimEnd().split('\n').at(-1);
  const { key, test, hash, end } = JSON.parse(last ?? '{}') as Result;
  if (end === 'began') append(results, { key, test, hash, end: 'timeout' });
  const open = new Set(openTests(results, keys, tests));
  const isLeft = (one: Result): boolean =>
    (one.end === 'poisoned' || one.end === 'full') &&
    tests[one.test] === one.hash &&
    open.has(one.test);
  const isSpoilt = [...readResults(results).values()].some(
    (byTest) => !isFound(byTest, tests) && [...byTest.values()].some(isLeft),
  );
  return end === 'began' || isSpoilt;
}

/** @returns whether the time was over. */
function runVitest(
  name: string,
  tests: readonly string[],
  results: string,
  until: number,
): Promise<boolean> {
  const child = spawn(
    'vitest',
    ['run', '--config', 'test/mutants/vitest.config.ts', '--reporter=dot', ...tests],
    {
      env: { ...process.env, MUTANTS_PLAN: planPath(name) },
      stdio: ['ignore', 'ignore', process.env['MUTANTS_DEBUG'] ? 'inherit' : 'ignore'],
      detached: true,
    },
  );
  let size = 0;
  let changedAt = Date.now();
  const watch = setInterval(() => {
    const now = statSync(results, { throwIfNoEntry: false })?.size ?? 0;
    if (now !== size) changedAt = Date.now();
    size = now;
    // With its workers.
    const isSilent = Date.now() - changedAt > silenceMs;
    if ((isSilent || Date.now() > until) && child.pid) process.kill(-child.pid, 'SIGKILL');
  }, 1000);
  return new Promise((resolve) => {
    child.once('close', () => {
      clearInterval(watch);
      resolve(Date.now() > until);
    });
  });
}
