import { hasPage } from './page.ts';

/** What has listeners, timers or channels until it is disposed of. */
interface Disposable {
  dispose(): void;
}

/** What a version of a module has made. */
interface Version {
  readonly version: string;
  readonly made: Set<Disposable>;
}

/** webpack puts the hash of the compilation in its place; elsewhere it is not there. */
declare const __webpack_hash__: string | undefined;

const versions = new Map<string, Version>();

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
  readonly version: string;
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

function moduleNow(): Module | undefined {
  const lines = wholeStack().split('\n').filter(Boolean);
  const end = lines.findIndex((line) => isAsync.test(line));
  const own = lines.slice(0, end < 0 ? undefined : end);
  return typeof __webpack_hash__ === 'string' ? ofWebpack(own, __webpack_hash__) : ofVite(own);
}

/**
 * Disposes of what the version of this module before has made, when a dev server has replaced it in the
 * page: nobody else can end that, and each edit of the module would leave a channel and listeners.
 *
 * Which module makes it, and in which version, is read from the stack, as Vite and webpack write it. Where
 * it does not say so, nothing is done: under another bundler the app has to do it. Call it in development
 * only.
 */
export function replaceEarlier(made: Disposable): void {
  const module = hasPage() ? moduleNow() : undefined;
  if (!module) return;
  const { path, version } = module;
  const before = versions.get(path);
  if (before && (before.version === version || version === '')) {
    before.made.add(made);
    return;
  }
  versions.set(path, { version, made: new Set([made]) });
  for (const old of before?.made ?? []) old.dispose();
}

/** It is disposed of. */
export function forgetMade(made: Disposable): void {
  for (const version of versions.values()) version.made.delete(made);
}
