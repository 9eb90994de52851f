import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Diagnosis, diagnose, type Parser, turnsOffRetries } from './diagnose.ts';
import { filesIn, toPosix } from './files.ts';
import { formatReport, type Report } from './report.ts';
import { rules } from './rules/all.ts';

const usage = `Usage: steadfetch doctor [paths…] [options]

Finds ${rules.length} ways in which people retry wrongly, in the .ts, .tsx, .js, .jsx, .mjs, .cjs, .mts and .cts files
of these paths (.). It reads no tests, stories, .d.ts, nor node_modules, dist, build and the like;
a file that is named is read. It needs @babel/parser 7 or 8, which most projects have.

      --only RULE    as often as needed: these rules alone
      --json         a report for machines
      --list         the rules, each with its reason
  -h, --help

A comment on the line, or on the one before, suppresses one finding, and says why:
  // steadfetch-ignore rule-name: reason

Exit code: 0 nothing found, 1 something found, 2 could not be run.`;

const options = {
  only: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The command cannot be run as it was given. */
class Refused extends Error {}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new Refused(`${(error as Error).message}\nSee steadfetch doctor --help.`);
  }
}

/** The parser of the project that is read, or else one beside this package. */
function loadParser(folder: string): Parser {
  for (const from of [resolve(folder, 'package.json'), import.meta.url])
    try {
      return createRequire(from)('@babel/parser') as Parser;
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    }
  throw new Refused(
    'steadfetch doctor needs @babel/parser, which is not installed here: npm install --save-dev @babel/parser (@7 on Node 20).',
  );
}

function listFiles(paths: readonly string[], folder: string): readonly string[] {
  const found = paths.flatMap((path) => {
    try {
      return [...filesIn(resolve(folder, path))];
    } catch (error) {
      throw new Refused(`${path} cannot be read: ${(error as Error).message}`);
    }
  });
  if (found.length === 0) throw new Refused(`There is no file to read in ${paths.join(' ')}.`);
  return [...new Set(found)].toSorted();
}

function diagnoseAll(files: readonly string[], parser: Parser, folder: string): Report {
  const diagnoses: Diagnosis[] = [];
  const skipped: { readonly file: string; readonly reason: string }[] = [];
  const isOffByDefault = files.some((path) => {
    try {
      return turnsOffRetries(parser, path, readFileSync(path, 'utf8'));
    } catch {
      return false;
    }
  });
  for (const path of files) {
    const file = toPosix(relative(folder, path));
    try {
      diagnoses.push(diagnose(parser, file, readFileSync(path, 'utf8'), isOffByDefault));
    } catch (error) {
      skipped.push({ file, reason: (error as Error).message });
    }
  }
  return {
    files: files.length,
    findings: diagnoses.flatMap(({ findings }) => findings),
    suppressed: diagnoses.reduce((sum, one) => sum + one.suppressed, 0),
    notes: diagnoses.flatMap(({ notes }) => notes),
    skipped,
  };
}

function run(args: readonly string[], folder: string): { text: string; exitCode: number } {
  const { values, positionals } = read(args);
  if (values.help) return { text: usage, exitCode: 0 };
  if (values.list)
    return { text: rules.map(({ name, why }) => `${name}: ${why}`).join('\n'), exitCode: 0 };
  const unknown = values.only?.find((name) => !rules.some((rule) => rule.name === name));
  if (unknown !== undefined)
    throw new Refused(`--only is ${unknown}, and must be the name of a rule: see --list.`);
  const files = listFiles(positionals.length === 0 ? ['.'] : positionals, folder);
  const all = diagnoseAll(files, loadParser(folder), folder);
  const findings = all.findings.filter(({ rule }) => values.only?.includes(rule) ?? true);
  const report = { ...all, findings };
  const exitCode = findings.length > 0 ? 1 : 0;
  const json = (): string => JSON.stringify({ exitCode, ...report }, undefined, 2);
  return { text: values.json ? json() : formatReport(report), exitCode };
}

/** Runs `steadfetch doctor`; returns its exit code. */
export function runDoctor(
  args: readonly string[],
  { stdout, stderr }: StreamPair,
  folder: string = process.cwd(),
): number {
  try {
    const { text, exitCode } = run(args, folder);
    stdout.write(`${text}\n`);
    return exitCode;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    stderr.write(`${error.message}\n`);
    return 2;
  }
}

interface StreamPair {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}
