import { hasPage } from './page.ts';

/** What has listeners, timers or channels until it is disposed of. */
interface Disposable {
  dispose(): void;
}

/** What a version of a module has made. */
interface Version {
  readonly version: unknown;
  readonly made: Set<Disposable>;
}

/** webpack puts the hash of the compilation in its place; elsewhere it is not there, or empty in Next.js. */
declare const __webpack_hash__: string | undefined;

/** Of each module those that may be in use, the newest last. */
const versions = new Map<string, readonly Version[]>();

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
  readonly path: string;
  readonly version: unknown;
}

/** Vite gives each version of a module another address: `?t=` and the time of the edit. */
function ofVite(lines: readonly string[]): Module | undefined {
  const { path, query = '' } = position.exec(lines.at(-1) ?? '')?.groups ?? {};
  return path === undefined ? undefined : { path, version: /[?&]t=(\d+)/.exec(query)?.[1] ?? '' };
}

/** A function that is the body of a module: in development, webpack names it by its file. */
const body = /^\s*(?:at )?(?<path>[^\s@]+\.[cm]?[jt]sx?)(?: \(|@)/;

/** webpack evaluates the versions of a module at one address, each by a compilation with a hash of its own. */
function ofWebpack(lines: readonly string[], version: string): Module | undefined {
  const end = lines.findIndex((line) => line.includes('__webpack_require__'));
  const line = lines.slice(0, Math.max(0, end)).findLast((one) => body.test(one)) ?? '';
  const { path } = body.exec(line)?.groups ?? {};
  return path === undefined ? undefined : { path, version };
}

/** What is the same as long as nothing is awaited: all that the body of a module makes. */
let turn: object | undefined;
function turnNow(): object {
  if (!turn) {
    turn = {};
    queueMicrotask(() => (turn = undefined));
  }
  return turn;
}

/** How Turbopack names the body of a module. The address has the id of the module, once it was edited. */
const turbopackBody =
  /^\s*(?:at )?module evaluation(?: \(|@)(?<file>[^\s?]+)(?<id>\?id=\S+?)?(?<at>:\d+:\d+)\)?\s*$/;

/**
 * Turbopack evaluates all versions of a module at one address. That of the first is that of its chunk, which is
 * not linked with the id: so the first is known again where another module was edited, by its place there.
 */
function ofTurbopack(lines: readonly string[]): Module | undefined {
  const line = lines.find((one) => turbopackBody.test(one)) ?? '';
  const { file, id, at } = turbopackBody.exec(line)?.groups ?? {};
  return file === undefined ? undefined : { path: id ?? `${file}${at}`, version: turnNow() };
}

function moduleNow(): Module | undefined {
  const lines = wholeStack().split('\n').filter(Boolean);
  const end = lines.findIndex((line) => isAsync.test(line));
  const own = lines.slice(0, end < 0 ? undefined : end);
  const ofOther =
    typeof __webpack_hash__ === 'string' ? ofWebpack(own, __webpack_hash__) : ofVite(own);
  return ofTurbopack(own) ?? ofOther;
}

/** Takes versions out, and disposes of what they have made. */
function drop(path: string, isDropped: (one: Version, all: readonly Version[]) => boolean): void {
  const all = versions.get(path) ?? [];
  const dropped = all.filter((one) => isDropped(one, all));
  versions.set(
    path,
    all.filter((one) => !dropped.includes(one)),
  );
  for (const { made } of dropped) for (const one of made) one.dispose();
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
 * @param onUse Calls what it is given when what is made here is used.
 */
export function replaceEarlier(made: Disposable, onUse: (act: () => void) => void): void {
  const module = hasPage() ? moduleNow() : undefined;
  if (!module) return;
  const { path, version } = module;
  const known = versions.get(path) ?? [];
  const newest = known.at(-1);
  /** How much newer this one is: NaN where versions have no times, as of webpack. */
  const after = (one: Version): number => Number(version) - Number(one.version);
  // Code that was replaced, and runs once more.
  const isLate = newest && after(newest) < -sameEditMs;
  let own = isLate ? newest : known.find((one) => one.version === version);
  if (!own) {
    own = { version, made: new Set() };
    versions.set(path, [...known, own]);
    drop(path, (one) => one !== own && !(Math.abs(after(one)) <= sameEditMs));
  }
  own.made.add(made);
  const isAlone = versions.get(path)?.[0] === own;
  if (!isAlone) onUse(() => drop(path, (one, all) => all.indexOf(one) < all.indexOf(own)));
}

/** It is disposed of. */
export function forgetMade(made: Disposable): void {
  for (const version of [...versions.values()].flat()) version.made.delete(made);
}
