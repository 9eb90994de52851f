import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as parser from '@babel/parser';
import { diagnose, type Parser } from '../../src/doctor/diagnose.ts';

/** Code with what is wrong in it: `rule:line`, as the comments `// <- rule, rule` say. */
export interface Snippet {
  readonly title: string;
  readonly code: string;
  readonly expected: readonly string[];
}

const folder = join(import.meta.dirname, 'snippets');
const mark = /\s*\/\/ <- (.*)$/;

function snippetsIn(file: string): Snippet[] {
  return readFileSync(join(folder, file), 'utf8')
    .split(/^=== /m)
    .slice(1)
    .map((text) => {
      const [title = '', ...lines] = text.trimEnd().split('\n');
      const expected = lines.flatMap((line, index) =>
        (mark.exec(line)?.[1]?.split(', ') ?? []).map((rule) => `${rule}:${index + 1}`),
      );
      return { title, code: lines.map((line) => line.replace(mark, '')).join('\n'), expected };
    });
}

const files = readdirSync(folder);

/** Those that the rules were made with, and those that were written before, and never looked at while they were made. */
export const tuned = files.filter((file) => !file.startsWith('held-out')).flatMap(snippetsIn);
export const heldOut = files.filter((file) => file.startsWith('held-out')).flatMap(snippetsIn);

export interface Score {
  readonly right: number;
  readonly wrong: readonly string[];
  readonly missed: readonly string[];
}

export function score(snippets: readonly Snippet[]): Score {
  let right = 0;
  const wrong: string[] = [];
  const missed: string[] = [];
  for (const { title, code, expected } of snippets) {
    const { findings } = diagnose(parser as unknown as Parser, 'snippet.tsx', code);
    const found = new Set(findings.map(({ rule, line }) => `${rule}:${line}`));
    right += expected.filter((one) => found.has(one)).length;
    missed.push(...expected.filter((one) => !found.has(one)).map((one) => `${title}: ${one}`));
    wrong.push(
      ...[...found].filter((one) => !expected.includes(one)).map((one) => `${title}: ${one}`),
    );
  }
  return { right, wrong, missed };
}
