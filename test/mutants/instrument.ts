import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type babel, Instrumenter } from '@stryker-mutator/instrumenter';
import { hashOf } from './plan.ts';

/** One small change of the source. */
export interface Mutant {
  /** The name that the instrumented code knows it by. */
  readonly id: string;
  /** Stays the same while its line does, wherever that moves in its file. */
  readonly key: string;
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly original: string;
  readonly replacement: string;
  /** Why it is left out. */
  readonly ignored?: string;
}

/** Files with all of their mutants in them, of which one at a time is switched on. */
export interface Instrumented {
  /** By path. */
  readonly code: Readonly<Record<string, string>>;
  readonly mutants: readonly Mutant[];
}

const silent = (): void => {};
const logger = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace: silent,
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
  fatal: silent,
};

/** Two words: a text that a developer or a user reads. */
const prose = /[a-z,.:;'`] [a-z`'$]/i;

/** What no test is to find, by rule. */
function whyIgnored({ node }: babel.NodePath): string | undefined {
  if (node.type === 'StringLiteral' && prose.test(node.value)) return 'text';
  if (node.type === 'TemplateLiteral' && node.quasis.some(({ value }) => prose.test(value.raw)))
    return 'text';
  const isOfBuild = node.type === 'BinaryExpression' && isNodeEnv(node.left);
  return isOfBuild ? 'the kind of build' : undefined;
}

const isNodeEnv = (node: babel.NodePath['node']): boolean =>
  node.type === 'MemberExpression' &&
  node.property.type === 'Identifier' &&
  node.property.name === 'NODE_ENV';

const sourcesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name))
    .toSorted();

/** Folders may move into the core: their mutants stay what they are. */
const withinSource = (path: string): string => path.replace(/^src\/(core\/)?/, '');

/** Puts all mutants of the files of a folder into copies of them. */
export async function instrument(folder: string): Promise<Instrumented> {
  const sources = new Map(
    sourcesOf(folder).map((name) => [name, readFileSync(name, 'utf8')] as const),
  );
  const result = await new Instrumenter(logger).instrument(
    [...sources].map(([name, content]) => ({ name, content, mutate: true })),
    { plugins: null, excludedMutations: [], ignorers: [{ shouldIgnore: whyIgnored }] },
  );
  const seen = new Map<string, number>();
  const mutants = result.mutants.map(
    ({ id, fileName, location, mutatorName, replacement, statusReason }): Mutant => {
      const lines = (sources.get(fileName) ?? '').split('\n');
      const { start, end } = location;
      const text = lines[start.line] ?? '';
      const original = lines
        .slice(start.line, end.line + 1)
        .map((line, index) => line.slice(index === 0 ? start.column : 0))
        .join('\n')
        .slice(0, end.line === start.line ? end.column - start.column : undefined);
      const own = hashOf(
        [
          withinSource(fileName),
          text.trim(),
          text.slice(start.column),
          mutatorName,
          replacement,
        ].join('\n'),
      );
      const count = (seen.get(own) ?? 0) + 1;
      seen.set(own, count);
      return {
        id,
        key: count === 1 ? own : `${own}-${count}`,
        file: fileName,
        line: start.line + 1,
        kind: mutatorName,
        original,
        replacement: replacement,
        ...(statusReason && { ignored: statusReason }),
      };
    },
  );
  return {
    code: Object.fromEntries(result.files.map(({ name, content }) => [name, content])),
    mutants,
  };
}
