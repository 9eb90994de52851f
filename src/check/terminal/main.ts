import { createInterface } from 'node:readline/promises';
import { runDoctor } from '../../doctor/command.ts';
import { rules } from '../../doctor/rules/all.ts';
import { CannotRun } from '../finding.ts';
import { readCommand } from './options.ts';
import { exitCodeOf, formatReport, toJsonReport } from './report.ts';
import { groups, requirements } from '../requirements/all.ts';
import { runCheck } from '../run.ts';
import type { Settings } from '../settings.ts';
import { usage } from './usage.ts';

/** The streams of a process. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

const eraseLine = '\r\u001B[K';

/** @throws CannotRun when there is no one to ask. */
async function confirmWriting({ url, method }: Settings, terminal: Terminal): Promise<boolean> {
  const what = `This sends some 200 ${method} requests to ${url.href}, and each may create something there.`;
  const { stdin: input, stderr: output } = terminal;
  if (!input.isTTY) throw new CannotRun(`${what} Say --yes to agree.`);
  const lines = createInterface({ input, output });
  const answer = await lines.question(`${what} Go on? [y/N] `);
  lines.close();
  return /^y(?:es)?$/i.test(answer.trim());
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

async function checkIdempotency(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  const command = await readCommand(args);
  if (typeof command === 'string') {
    stdout.write(`${command === 'help' ? usage : listRequirements()}\n`);
    return 0;
  }
  const { settings, isJson, isStrict, isAgreed } = command;
  if (!isAgreed && !(await confirmWriting(settings, terminal))) return 2;
  const report = await runCheck(settings, (id, index, total) => {
    if (stderr.isTTY) stderr.write(`${eraseLine}${index + 1} of ${total}: ${id}`);
    else if (index % 20 === 0) stderr.write(`${index} of ${total}\n`);
  });
  if (stderr.isTTY) stderr.write(eraseLine);
  const exitCode = exitCodeOf(report, isStrict);
  stdout.write(
    `${isJson ? toJsonReport(report, settings, exitCode) : formatReport(report, settings)}\n`,
  );
  return exitCode;
}

const commands = `steadfetch check-idempotency URL: ${requirements.length} requirements of an API that takes idempotency keys.
steadfetch doctor [paths…]: ${rules.length} ways in which people retry wrongly, in your source.
--help, after a command, says more.
`;

/** Runs a command line; returns its exit code. */
export async function main(
  [name, ...args]: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { stdout, stderr } = terminal;
  try {
    if (name === 'check-idempotency') return await checkIdempotency(args, terminal);
    if (name === 'doctor') return runDoctor(args, terminal);
    if (name === undefined || name === '--help' || name === '-h') {
      stdout.write(commands);
      return 0;
    }
    stderr.write(`steadfetch ${name} is no command. There are:\n${commands}`);
    return 2;
  } catch (error) {
    if (!(error instanceof CannotRun)) throw error;
    stderr.write(`${stderr.isTTY ? eraseLine : ''}${error.message}\n`);
    return 2;
  }
}
