#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { CannotRun } from '../finding.ts';
import { readCommand } from './options.ts';
import { exitCodeOf, formatReport, toJsonReport } from './report.ts';
import { groups, requirements } from '../requirements/all.ts';
import { runCheck } from '../run.ts';
import type { Settings } from '../settings.ts';
import { usage } from './usage.ts';

const { stdin, stdout, stderr } = process;

/** @throws CannotRun when there is no one to ask. */
async function confirmWriting({ url, method }: Settings): Promise<boolean> {
  const what = `This sends some 200 ${method} requests to ${url.href}, and each may create something there.`;
  if (!stdin.isTTY) throw new CannotRun(`${what} Say --yes to agree.`);
  const lines = createInterface({ input: stdin, output: stderr });
  const answer = await lines.question(`${what} Go on? [y/N] `);
  lines.close();
  return /^y(?:es)?$/i.test(answer.trim());
}

function showProgress(id: string, index: number, total: number): void {
  if (stderr.isTTY) stderr.write(`\r\u001B[K${index + 1} of ${total}: ${id}`);
  else if (index % 20 === 0) stderr.write(`${index} of ${total}\n`);
}

const listRequirements = (): string =>
  groups
    .flatMap(({ title, requirements: own }) => [
      title,
      ...own.map(
        ({ id, level, sentence, source }) => `  ${id} (${level}): ${sentence} [${source}]`,
      ),
    ])
    .join('\n');

async function checkIdempotency(args: readonly string[]): Promise<number> {
  const command = await readCommand(args);
  if (typeof command === 'string') {
    stdout.write(`${command === 'help' ? usage : listRequirements()}\n`);
    return 0;
  }
  const { settings, isJson, isStrict, isAgreed } = command;
  if (!isAgreed && !(await confirmWriting(settings))) return 2;
  const report = await runCheck(settings, showProgress);
  if (stderr.isTTY) stderr.write('\r\u001B[K');
  const exitCode = exitCodeOf(report, isStrict);
  stdout.write(
    `${isJson ? toJsonReport(report, settings, exitCode) : formatReport(report, settings)}\n`,
  );
  return exitCode;
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === 'check-idempotency') return checkIdempotency(args);
  const isHelp = name === undefined || name === '--help' || name === '-h';
  (isHelp ? stdout : stderr).write(
    `${isHelp ? '' : `steadfetch ${name} is no command.\n`}steadfetch check-idempotency URL: ${requirements.length} requirements of an API that takes idempotency keys. --help says more.\n`,
  );
  return isHelp ? 0 : 2;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CannotRun)) throw error;
  stderr.write(`${stderr.isTTY ? '\r\u001B[K' : ''}${error.message}\n`);
  process.exitCode = 2;
}
