import { relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { type RunnerTestFile, type RunnerTestCase, TestRunner, vi } from 'vitest';
import { startTests } from 'vitest/internal/browser';
import { append, isDone, isFound, type Plan, readPlan, readResults, type Result } from './plan.ts';

/** What instrumented code reads and writes. */
interface Switches {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number;
  hitLimit?: number;
  mutantCoverage?: {
    static: Record<string, number>;
    perTest: Record<string, Record<string, number>>;
  };
}

let hitCount = 0;
/** Instrumented code throws when it has counted to the limit. Where that is caught, and the loop goes on, the process ends. */
const switches: Switches = {
  get hitCount() {
    return hitCount;
  },
  set hitCount(count) {
    hitCount = count;
    if (count > 2 * (switches.hitLimit ?? Infinity)) process.kill(process.pid, 'SIGKILL');
  },
};
Reflect.set(globalThis, '__stryker__', switches);

/** So many times as often as without a mutant may its code be passed: more is a loop without an end. */
const mostTimes = 100;
const leastHits = 10_000;
/** A mutant may wait for ever: a test of it has so many times as long as without it, and at least so many ms. */
const mostDurations = 20;
const leastTimeoutMs = 5000;
/** So many tests that have found its neighbours are tried before all others. */
const mostRecent = 4;
/** So many kills are checked together. */
const killsAtOnce = 20;
/** What runs of mutants leave behind slows down those after them: from here on another process does. */
const mostHeapBytes = 800_000_000;

/** A test that leaves no turn to others for so long, in ms of processor time, is in a loop without an end. */
const longestTurnMs = 20_000;

/** Ends the process when its event loop has stood still for that long: by then nothing in it could. */
function watchTurns(): void {
  const turns = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => Atomics.add(turns, 0, 1), 100).unref();
  const watch = (shared: Int32Array, longestMs: number): void => {
    let [seen, since] = [0, 0];
    setInterval(() => {
      const { user, system } = process.cpuUsage();
      const now = (user + system) / 1000;
      const turn = Atomics.load(shared, 0);
      if (turn !== seen) [seen, since] = [turn, now];
      else if (now - since > longestMs) process.kill(process.pid, 'SIGKILL');
    }, 1000);
  };
  const text = `(${watch.toString()})(require('node:worker_threads').workerData, ${longestTurnMs})`;
  new Worker(text, { eval: true, workerData: turns }).unref();
}
watchTurns();

// That a property fails is enough: the smallest example takes as long again as many mutants.
fc.configureGlobal({ endOnFailure: true });

const nameOf = (path: string): string => relative(process.cwd(), path);

const casesOf = (task: { readonly tasks: RunnerTestFile['tasks'] }): readonly RunnerTestCase[] =>
  task.tasks.flatMap((child) => (child.type === 'suite' ? casesOf(child) : [child]));

/** Errors that no test has caught: Vitest fails a run for them. */
let stray = 0;
process.on('unhandledRejection', () => stray++).on('uncaughtException', () => stray++);

/** Runs chosen tests once more, and stops at the first that fails. */
class Rerun extends TestRunner {
  failed: RunnerTestCase | undefined;

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    if (this.failed) test.mode = 'skip';
    await super.onBeforeRunTask(test);
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test);
    if (test.result?.state === 'fail') this.failed ??= test;
  }
}

/** Runs a file of tests, and then again for each mutant that it passes by, in the same process. */
export default class MutantRunner extends TestRunner {
  readonly #plan: Plan = readPlan(process.env['MUTANTS_PLAN'] ?? '');

  /** Modules of the last run were made with a mutant in them. */
  #isModuleMutated = false;

  onBeforeRunFiles(files: RunnerTestFile[]): void {
    // Nothing is left to find for it: it need not run.
    if (files.every(({ filepath }) => this.#openFor(nameOf(filepath)).length === 0))
      this.cancel('test-failure');
  }

  #openFor(test: string): readonly (readonly [id: string, key: string])[] {
    const { results, keys, tests, likely } = this.#plan;
    const known = readResults(results);
    const isFirst = Object.keys(likely).length > 0;
    return Object.entries(keys).filter(([, key]) => {
      const own = known.get(key);
      if (isFirst && likely[key]?.test !== test) return false;
      return !isFound(own, tests) && !isDone(own?.get(test), tests[test]);
    });
  }

  override onBeforeTryTask(
    test: RunnerTestCase,
    options: { retry: number; repeats: number },
  ): void {
    switches.currentTestId = test.id;
    super.onBeforeTryTask(test, options);
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    switches.currentTestId = undefined;
    super.onAfterRunTask(test);
  }

  // oxlint-disable-next-line typescript/no-misused-promises -- Vitest waits for it
  override async onAfterRunFiles(files: RunnerTestFile[]): Promise<void> {
    super.onAfterRunFiles(files);
    // The reports of the tests are sent in their own time, which the last test may have left faked.
    vi.useRealTimers();
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const file of files) await this.#runMutants(file);
  }

  async #runMutants(file: RunnerTestFile): Promise<void> {
    const { results, tests, likely } = this.#plan;
    const test = nameOf(file.filepath);
    const hash = tests[test] ?? '';
    const open = this.#openFor(test);
    if (open.length === 0) return;
    const record = (key: string, end: Result['end'], by?: string): void =>
      append(results, { key, test, hash, end, ...(by !== undefined && { by }) });

    const cases = casesOf(file);
    const failed = cases.filter(({ result }) => result?.state === 'fail');
    if (failed.length > 0 || file.result?.state === 'fail')
      return record('', 'failed', failed.map(({ name }) => name).join('; '));

    const { static: always = {}, perTest = {} } = switches.mutantCoverage ?? {};
    const before = readResults(results);
    let hasKilled = false;
    /** The tests that have found the mutants before this one: it stands beside them. */
    let recent: readonly RunnerTestCase[] = [];
    let kills: { key: string; killer: readonly RunnerTestCase[] }[] = [];
    /** A kill counts only where its tests pass without it, in the same process and after it. */
    const checkKills = async (): Promise<boolean> => {
      const killers = [...new Set(kills.flatMap(({ killer }) => killer))];
      const isSound = killers.length === 0 || !(await this.#run(file.filepath, killers, {}));
      for (const [index, { key, killer }] of kills.entries()) {
        // The first of a process needs no such proof.
        const isKill = isSound || (index === 0 && !hasKilled);
        record(key, isKill ? 'killed' : 'poisoned', killer[0]?.name);
      }
      hasKilled ||= kills.length > 0;
      kills = [];
      return isSound;
    };
    for (const [id, key] of open) {
      if (process.memoryUsage().heapUsed > mostHeapBytes) {
        if (await checkKills()) record('', 'full');
        return;
      }
      const by = likely[key]?.by;
      const isPassing = (one: RunnerTestCase): boolean => !!(always[id] || perTest[one.id]?.[id]);
      const passing = cases.filter((one) => isPassing(one) && (by ?? one.name) === one.name);
      if (passing.length === 0) {
        if (by === undefined) record(key, 'uncovered');
        continue;
      }
      const isSpoilt = before.get(key)?.get(test)?.end === 'poisoned';
      record(key, 'began');
      const hits = cases.reduce((sum, one) => sum + (perTest[one.id]?.[id] ?? 0), always[id] ?? 0);
      const options = { id, hits, isStatic: id in always };
      const first = passing.filter((one) => recent.includes(one));
      const rest = passing.filter((one) => !recent.includes(one));
      const killer =
        (first.length > 0 && (await this.#run(file.filepath, first, options))) ||
        (rest.length > 0 && (await this.#run(file.filepath, rest, options)));
      if (killer) {
        const own = cases.filter((one) => one.id === killer[0]?.id);
        recent = [...new Set([...own, ...recent])].slice(0, mostRecent);
        kills.push({ key, killer });
      }
      if (!killer && by === undefined) record(key, 'survived', `${passing.length}`);
      if (kills.length >= (isSpoilt ? 1 : killsAtOnce) && !(await checkKills())) return;
    }
    if (await checkKills()) record('', 'survived');
  }

  /** @returns the tests that fail with a mutant, the first alone where that is known. */
  async #run(
    filepath: string,
    tests: readonly RunnerTestCase[],
    { id, hits = 0, isStatic }: { id?: string; hits?: number; isStatic?: boolean },
  ): Promise<readonly RunnerTestCase[] | undefined> {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    if (isStatic || this.#isModuleMutated || !id) vi.resetModules();
    this.#isModuleMutated = isStatic ?? false;
    switches.hitCount = 0;
    switches.hitLimit = Math.max(leastHits, hits * mostTimes);
    switches.activeMutant = id;
    const strayBefore = stray;
    const longestMs = Math.max(...tests.map(({ result }) => result?.duration ?? 0));
    const testTimeout = Math.max(leastTimeoutMs, mostDurations * longestMs);
    const runner = new Rerun({ ...this.config, testTimeout, hookTimeout: testTimeout });
    // Vitest sets both of its own runner, and has no other way to them.
    Object.defineProperty(runner, 'moduleRunner', { value: Reflect.get(this, 'moduleRunner') });
    Object.defineProperty(runner, '_otel', { value: Reflect.get(this, '_otel') });
    const testIds = tests.map((test) => test.id);
    const [file] = await startTests([{ filepath, testIds }], runner);
    switches.activeMutant = undefined;
    if (runner.failed) return [runner.failed];
    return file?.result?.state === 'fail' || stray > strayBefore ? tests : undefined;
  }
}
