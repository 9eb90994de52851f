import type { ParsedNode } from './node.ts';
import { rules } from './rules/all.ts';
import { sourceOf } from './source.ts';

/** What @babel/parser exports. */
export interface Parser {
  readonly parse: (code: string, options: object) => ParsedFile;
}
interface ParsedFile {
  readonly program: ParsedNode;
  readonly comments?: readonly (ParsedNode & { readonly value: string })[] | null;
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

/** What one file shows. */
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
      ['decorators', {}],
      'explicitResourceManagement',
    ],
  });
}

const ignore = /^[\s*]*steadfetch-ignore\b\s*([\w-]*)\s*(?::\s*(\S.*))?/;

/** The rules that comments suppress, by line: the line of the comment, and the next. */
function readIgnores(file: string, { comments }: ParsedFile) {
  const byLine = new Map<number, string[]>();
  const notes: string[] = [];
  for (const { value, loc } of comments ?? []) {
    const [found, name = '', reason] = ignore.exec(value) ?? [];
    if (found === undefined) continue;
    const { line } = loc.start;
    if (reason === undefined || !rules.some((rule) => rule.name === name)) {
      const fault = reason === undefined ? 'has no reason' : `names no rule: ${name || 'nothing'}`;
      notes.push(
        `${file}:${line}: this comment suppresses nothing, since it ${fault}. Write // steadfetch-ignore rule-name: reason`,
      );
    } else for (const one of [line, line + 1]) byLine.set(one, [...(byLine.get(one) ?? []), name]);
  }
  return { byLine, notes };
}

/**
 * Finds in one file what the rules find.
 *
 * @throws SyntaxError of the parser, if it cannot be parsed.
 */
export function diagnose(parser: Parser, file: string, code: string): Diagnosis {
  const parsed = parse(parser, file, code);
  const source = sourceOf(parsed.program);
  const { byLine, notes } = readIgnores(file, parsed);
  const found = rules.flatMap(({ name, why, remedy, find }) => {
    const places = new Map(
      [...find(source)].flatMap((node) =>
        node === undefined ? [] : [[`${node.line}:${node.column}`, node]],
      ),
    );
    return [...places.values()].map(({ line, column }): Finding => {
      return { file, line, column, rule: name, why, remedy, page: `docs/doctor.md#${name}` };
    });
  });
  const findings = found
    .filter(({ line, rule }) => byLine.get(line)?.includes(rule) !== true)
    .toSorted((one, other) => one.line - other.line || one.column - other.column);
  return { findings, notes, suppressed: found.length - findings.length };
}
