import { hasPage } from './page.ts';

/** What has listeners, timers or channels until it is disposed of. */
interface Disposable {
  dispose(): void;
}

/** What a version of a module has made. */
interface Made {
  readonly one: Disposable;
  readonly version: unknown;
}

/** webpack puts the hash of the compilation in its place; elsewhere it is not there, or empty in Next.js. */
declare const __webpack_hash__: string | undefined;

/** Of each module what may be in use, the newest last. */
const madeBy = new Map<string, readonly Made[]>();

/**
 * What Vite has given its times within so long is of one edit: React Router evaluates the module of a
 * route three times for each, in no order, and shows any of the three.
 */
const sameEditMs = 5000;

/** The innermost position of a line of a stack: a file of a server, and its query. */
const position = /(?<path>https?:\/\/[^\s?]+?)(?<query>\?\S*)?:\d+:\d+\)?\s*$/;

/** Below it are the callers of another turn. */
const isAsync = /^(?:\s*at async |async\*)/;

/** The stack of now, down to its last line: V8 gives ten where it is not asked for more. */
export function wholeStack(): string {
  const { stackTraceLimit } = Error as { stackTraceLimit?: number };
  Object.assign(Error, { stackTraceLimit: 200 });
  const { stack = '' } = new Error();
  Object.assign(Error, { stackTraceLimit });
  return stack;
}

/** A module that is evaluated now or, in a callback, the one that has called it. */
interface Module {
  readonly path?: string | undefined;
  readonly version?: unknown;
}

const groupsOf = (pattern: RegExp, line = ''): Partial<Record<string, string>> =>
  pattern.exec(line)?.groups ?? {};

/** Vite gives each version of a module another address: `?t=` and the time of the edit. */
function ofVite(lines: readonly string[]): Module {
  const { path, query = '' } = groupsOf(position, lines.at(-1));
  return { path, version: /[?&]t=(\d+)/.exec(query)?.[1] ?? '' };
}

/** A function that is the body of a module: in development, webpack names it by its file. */
const body = /^\s*(?:at )?(?<path>[^\s@]+\.[cm]?[jt]sx?)(?: \(|@)/;

/** webpack evaluates the versions of a module at one address, each by a compilation with a hash of its own. */
function ofWebpack(lines: readonly string[], version: string): Module {
  const end = lines.findIndex((line) => line.includes('__webpack_require__'));
  const line = lines.slice(0, Math.max(0, end)).findLast((one) => body.test(one));
  return { path: groupsOf(body, line)['path'], version };
}

/** How Turbopack names the body of a module. The address has the id of the module, once it was edited. */
const turbopackBody =
  /module evaluation(?: \(|@)(?<file>[^\s?]+)(?<id>\?id=\S+?)?(?<at>:\d+:\d+)\)?\s*$/;

/** The same as long as nothing is awaited: for all that the body of a module makes. */
let turn: object | undefined;

function moduleNow(): Module {
  const lines = wholeStack().split('\n').filter(Boolean);
  const end = lines.findIndex((line) => isAsync.test(line));
  const own = lines.slice(0, end < 0 ? undefined : end);
  const evaluated = own.find((line) => turbopackBody.test(line));
  const { file, at, id = `${file}${at}` } = groupsOf(turbopackBody, evaluated);
  if (file === undefined)
    return typeof __webpack_hash__ === 'string' ? ofWebpack(own, __webpack_hash__) : ofVite(own);
  // Turbopack evaluates all versions at one address. That of the first is that of its chunk, which nothing links
  // with the id: where another module was edited, it is known again by its place there.
  queueMicrotask(() => (turn = undefined));
  return { path: id, version: (turn ??= {}) };
}

/**
 * Disposes of what earlier versions of this module have made, when a dev server has replaced them in the
 * page: nobody else can end that, and each edit of the module would leave a channel and listeners. Which of
 * the versions of one edit is shown, nobody knows before it is used: only then are those before it disposed
 * of.
 *
 * Which module makes it, and in which version, is read from the stack, as Vite, webpack and Turbopack write
 * it. Where it does not say so, nothing is done: there the app has to do it. Call it in development only.
 *
 * @param onUse Calls what it is given whenever what is made here is used.
 */
export function replaceEarlier(one: Disposable, onUse: (act: () => void) => void): void {
  const { path, version: own } = hasPage() ? moduleNow() : {};
  if (path === undefined) return;
  const before = madeBy.get(path) ?? [];
  // The code of the first version may run once more when it was replaced: what it makes goes with the newest.
  const version = own || before.at(-1)?.version;
  madeBy.set(path, [...before, { one, version }]);
  const isOwn = (made: Made): boolean => made.version === version;
  const endEarlier = (thanMs: number): void => {
    const all = madeBy.get(path) ?? [];
    for (const made of all.slice(0, Math.max(0, all.findIndex(isOwn))))
      // NaN where versions have no times, as those of webpack.
      if (!(Math.abs(Number(version) - Number(made.version)) <= thanMs)) made.one.dispose();
  };
  endEarlier(sameEditMs);
  if (!before.every(isOwn)) onUse(() => endEarlier(-1));
}

/** It is disposed of. */
export function forgetMade(one: Disposable): void {
  for (const [path, all] of madeBy)
    madeBy.set(
      path,
      all.filter((made) => made.one !== one),
    );
}
