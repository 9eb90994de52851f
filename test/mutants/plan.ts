import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a worker is to do. */
export interface Plan {
  readonly results: string;
  /** The instrumented text by path. */
  readonly code: Readonly<Record<string, string>>;
  /** Mutants by the name in the code, each with its key and the hash of its file. */
  readonly keys: Readonly<Record<string, string>>;
  /** Files of tests, each with the hash of its text, in the order in which they run. */
  readonly tests: Readonly<Record<string, string>>;
  /** Mutants by their keys, each with the test that has found it before. If there are any, only these are tried. */
  readonly likely: Readonly<Record<string, Likely>>;
}

/** A test that has found a mutant before, in another text of its own file or of that of the mutant. */
export interface Likely {
  readonly test: string;
  /** The name of the test within its file. */
  readonly by: string;
}

/**
 * What a file of tests makes of a mutant. `began` stands until there is another: a worker that ends in
 * it has hung. `poisoned` says that the state of the worker was spoilt, and `full` that its memory is full:
 * another one goes on.
 */
export interface Result {
  readonly key: string;
  readonly test: string;
  readonly hash: string;
  readonly end:
    | 'began'
    | 'killed'
    | 'survived'
    | 'timeout'
    | 'poisoned'
    | 'full'
    | 'uncovered'
    | 'failed';
  /** The name of the test that fails, or a number of tests that pass. */
  readonly by?: string;
}

const folder = 'node_modules/.cache/mutants';

export const planPath = (name: string): string => join(folder, `${name}.plan.json`);
export const resultsPath = (name: string): string => join(folder, `${name}.results.jsonl`);

export function writePlan(name: string, plan: Plan): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(planPath(name), JSON.stringify(plan));
}

export const readPlan = (path: string): Plan => JSON.parse(readFileSync(path, 'utf8')) as Plan;

export const append = (path: string, result: Result): void =>
  appendFileSync(path, `${JSON.stringify(result)}\n`);

/** By file of tests, and then by test: the keys of the mutants that it has found, with a space between them. */
type Killers = Record<string, Record<string, string>>;

const killersPath = (name: string): string => `test/mutants/found/${name}.json`;

/** What has found each mutant when the folder was last run to its end, on whatever machine. */
export function readKillers(name: string): ReadonlyMap<string, Likely> {
  const path = killersPath(name);
  if (!existsSync(path)) return new Map();
  const byTest = JSON.parse(readFileSync(path, 'utf8')) as Killers;
  return new Map(
    Object.entries(byTest).flatMap(([test, byName]) =>
      Object.entries(byName).flatMap(([by, keys]) =>
        keys.split(' ').map((key) => [key, { test, by }] as const),
      ),
    ),
  );
}

/** Keeps what has found each mutant, so that a run on another machine tries that test first. */
export function writeKillers(name: string, killers: ReadonlyMap<string, Likely>): void {
  const byTest: Killers = {};
  for (const [key, { test, by }] of [...killers].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const own = (byTest[test] ??= {});
    own[by] = own[by] === undefined ? key : `${own[by]} ${key}`;
  }
  mkdirSync('test/mutants/found', { recursive: true });
  writeFileSync(killersPath(name), `${JSON.stringify(byTest, undefined, 2)}\n`);
}

/** The last word of each file of tests on each mutant, by key and then by test. */
export function readResults(path: string): ReadonlyMap<string, ReadonlyMap<string, Result>> {
  const results = new Map<string, Map<string, Result>>();
  if (!existsSync(path)) return results;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue;
    const result = JSON.parse(line) as Result;
    const own = results.get(result.key) ?? new Map<string, Result>();
    results.set(result.key, own.set(result.test, result));
  }
  return results;
}

export const isKill = ({ end }: Result): boolean => end === 'killed' || end === 'timeout';

/** Whether a file of tests, as it is, has found the mutant; `undefined` while that is not known. */
export function isFound(
  own: ReadonlyMap<string, Result> | undefined,
  tests: Readonly<Record<string, string>>,
): boolean {
  return [...(own?.values() ?? [])].some(
    (result) => isKill(result) && tests[result.test] === result.hash,
  );
}

/** Whether a file of tests, as it is, has said all that it can of a mutant. */
export const isDone = (result: Result | undefined, hash: string | undefined): boolean =>
  result?.hash === hash && result?.end !== 'poisoned' && result?.end !== 'began';

export const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 12);
