import { pageOf } from '../core/lib/input/warn.ts';
import type { ParsedNode } from './node.ts';
import { turnsOffQueries } from './retries.ts';
import { rules } from './rules/all.ts';
import { sourceOf } from './source.ts';

/** The part of @babel/parser that is used. */
export interface Parser {
  readonly parse: (code: string, options: object) => ParsedFile;
}
interface Comment extends ParsedNode {
  readonly value: string;
}
interface ParsedFile {
  readonly program: ParsedNode;
  readonly comments?: readonly Comment[] | null;
}

export interface Finding {
  readonly file: string;
  readonly line: number;
  /** From 1 up. */
  readonly column: number;
  readonly rule: string;
  readonly why: string;
  readonly remedy: string;
  readonly page: string;
}

/** The findings in one file. */
export interface Diagnosis {
  readonly findings: readonly Finding[];
  /** Comments that should suppress a finding, and cannot. */
  readonly notes: readonly string[];
  readonly suppressed: number;
}

function parse({ parse: parseCode }: Parser, file: string, code: string): ParsedFile {
  const isTypeScript = /\.[cm]?tsx?$/.test(file);
  const hasJsx = !/\.[cm]?ts$/.test(file);
  return parseCode(code, {
    sourceType: 'unambiguous',
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
    allowSuperOutsideMethod: true,
    allowUndeclaredExports: true,
    errorRecovery: true,
    plugins: [
      isTypeScript ? 'typescript' : 'flow',
      ...(hasJsx ? ['jsx'] : []),
      'decorators-legacy',
      'decoratorAutoAccessors',
      'explicitResourceManagement',
    ],
  });
}

const ignore = /^[\s*]*steadfetch-ignore\b\s*([\w-]*)\s*(?::\s*(\S.*))?/;

/** Drops the findings that a comment suppresses: those on its line, or else those on the next. */
function suppress(file: string, { comments }: ParsedFile, found: readonly Finding[]): Diagnosis {
  const suppressed = new Set<Finding>();
  const notes: string[] = [];
  for (const { value, loc } of comments ?? []) {
    const [isOne, name = '', reason] = ignore.exec(value) ?? [];
    if (isOne === undefined) continue;
    const on = (line: number): readonly Finding[] =>
      found.filter((one) => one.rule === name && one.line === line);
    const here = on(loc.start.line);
    const own = here.length > 0 ? here : on(loc.end.line + 1);
    if (reason !== undefined && own.length > 0) for (const one of own) suppressed.add(one);
    else {
      const isRule = rules.some((rule) => rule.name === name);
      const fault = !isRule
        ? 'names no rule'
        : reason === undefined
          ? 'has no reason'
          : `has no ${name} beside it`;
      notes.push(
        `${file}:${loc.start.line} steadfetch-ignore ${name} suppresses nothing, for it ${fault}: write // steadfetch-ignore rule-name: reason`,
      );
    }
  }
  const findings = found.filter((one) => !suppressed.has(one));
  return { findings, notes, suppressed: suppressed.size };
}

const testing = /from ['"](?:@testing-library|@?vitest|@jest|msw|@storybook)\b/;

/** Whether a file, which is not for tests, turns off the retries of all queries: then those of another file are off, too. */
export function turnsOffRetries(parser: Parser, file: string, code: string): boolean {
  if (testing.test(code)) return false;
  if (!/defaultOptions|setDefaultOptions/.test(code) || !code.includes('retry')) return false;
  return sourceOf(parse(parser, file, code).program).queries.some(turnsOffQueries);
}

/**
 * Finds in one file what the rules find.
 *
 * @throws SyntaxError of the parser, if it cannot be parsed.
 */
export function diagnose(
  parser: Parser,
  file: string,
  code: string,
  isOffByDefault = false,
): Diagnosis {
  const parsed = parse(parser, file, code);
  const source = sourceOf(parsed.program, isOffByDefault);
  const found = rules.flatMap(({ name, why, remedy, find }) => {
    const nodes = [...find(source)].filter((node) => node !== undefined);
    const places = new Map(nodes.map((node) => [`${node.line}:${node.column}`, node]));
    return [...places.values()].map(({ line, column }): Finding => {
      return { file, line, column, rule: name, why, remedy, page: pageOf(`doctor.md#${name}`) };
    });
  });
  const order = found.toSorted((one, other) => one.line - other.line || one.column - other.column);
  return suppress(file, parsed, order);
}
