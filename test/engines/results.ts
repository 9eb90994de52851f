import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { differenceOf, type Difference, type Suite } from './differences.ts';
import type { EngineName } from './engines.ts';

const root = resolve(import.meta.dirname, '../..');
/** Results are kept, so that a run of one engine can write the page of all. */
const folder = resolve(root, 'node_modules/.browsers');

/** What has come of one scenario in one engine. */
export interface Result {
  readonly file: string;
  readonly test: string;
  readonly status: 'passed' | 'failed' | 'skipped';
}

/** What the JSON reporter of Vitest writes, as far as it is read. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
    }[];
  }[];
}

function pathOf(engine: EngineName, name: string): string {
  mkdirSync(folder, { recursive: true });
  return resolve(folder, `${engine}-${name}.json`);
}

/** Where Vitest writes its report. */
export const reportPath = resolve(folder, 'report.json');

function read(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function allOf(engine: EngineName, suite: Suite): readonly Result[] | undefined {
  const report = read(pathOf(engine, suite)) as Report | undefined;
  return report?.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }): Result => {
      const file = relative(resolve(root, 'test', suite), name).replace(/\.test\.tsx?$/, '');
      const known = status === 'passed' || status === 'failed' ? status : 'skipped';
      return { file, test: fullName, status: known };
    }),
  );
}

/** The results of a suite, but for what is skipped in Chromium, too; undefined where it has not been run. */
export function resultsOf(engine: EngineName, suite: Suite): readonly Result[] | undefined {
  const nameOf = ({ file, test }: Result): string => `${file} ${test}`;
  const isSkipped = ({ status }: Result): boolean => status === 'skipped';
  const skipped = new Set(allOf('chromium', suite)?.filter(isSkipped).map(nameOf));
  return allOf(engine, suite)?.filter((result) => !skipped.has(nameOf(result)));
}

export function keep(engine: EngineName, name: string, value: unknown): void {
  writeFileSync(pathOf(engine, name), JSON.stringify(value));
}

export const kept = (engine: EngineName, name: string): unknown => read(pathOf(engine, name));

/** Keeps what Vitest has reported of some files; of the others it keeps what the last run has. */
export function keepReport(engine: EngineName, suite: Suite): void {
  const { testResults } = read(reportPath) as Report;
  const isNew = ({ name }: { readonly name: string }): boolean =>
    testResults.some((one) => one.name === name);
  const last = (read(pathOf(engine, suite)) as Report | undefined)?.testResults ?? [];
  keep(engine, suite, { testResults: [...last.filter((one) => !isNew(one)), ...testResults] });
}

/** What is known of a scenario that an engine did not pass. */
export const knownOf = (engine: EngineName, suite: Suite, result: Result): Difference | undefined =>
  differenceOf(engine, suite, result.file, result.test);

/** Scenarios that an engine did not pass, and nothing says why. */
export function unexplained(engine: EngineName, suite: Suite): readonly Result[] {
  return (resultsOf(engine, suite) ?? []).filter(
    (result) => result.status !== 'passed' && !knownOf(engine, suite, result),
  );
}
