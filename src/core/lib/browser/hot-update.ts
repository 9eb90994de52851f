import { hasPage } from './page.ts';

/** An object with listeners, timers or channels until it is disposed of. */
interface Disposable {
  dispose(): void;
}

/** An object that a version of a module created. */
interface Made {
  readonly one: Disposable;
  readonly version: unknown;
}

/** webpack replaces this with the hash of the compilation. Undefined elsewhere, and empty in Next.js. */
declare const __webpack_hash__: string | undefined;

/** For each module, its objects that may be in use, newest last. */
const madeBy = new Map<string, readonly Made[]>();

/**
 * Versions whose times from Vite are within this belong to one edit: React Router evaluates a route's module
 * three times per edit, in no order, and shows any of the three.
 */
const sameEditMs = 5000;

/** The position in a line of a stack: the URL of a file, and its query. */
const position = /(?<path>https?:\/\/[^\s?]+?)(?<query>\?\S*)?:\d+:\d+\)?\s*$/;

/** The lines below this belong to an earlier turn. */
const isAsync = /^(?:\s*at async |async\*)/;

/** The complete current stack. V8 records ten lines by default. */
export function wholeStack(): string {
  const { stackTraceLimit } = Error as { stackTraceLimit?: number };
  // Unlike an assignment, it throws nothing where the intrinsics are frozen.
  Reflect.set(Error, 'stackTraceLimit', 200);
  const { stack = '' } = new Error();
  Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
  return stack;
}

/** The module that is being evaluated or, in a callback, the module that contains it. */
interface Module {
  readonly path?: string | undefined;
  readonly version?: unknown;
}

const groupsOf = (pattern: RegExp, line = ''): Partial<Record<string, string>> =>
  pattern.exec(line)?.groups ?? {};

/** Vite gives each version of a module its own address: `?t=` and the time of the edit. */
function ofVite(lines: readonly string[]): Module {
  const { path, query = '' } = groupsOf(position, lines[lines.length - 1]);
  return { path, version: /[?&]t=(\d+)/.exec(query)?.[1] ?? '' };
}

/** A function that is the body of a module: in development, webpack names it by its file. */
const body = /^\s*(?:at )?(?<path>[^\s@]+\.[cm]?[jt]sx?)(?: \(|@)/;

/** webpack evaluates all versions of a module at one address, each in a compilation with its own hash. */
function ofWebpack(lines: readonly string[], version: string): Module {
  const end = lines.findIndex((line) => line.includes('__webpack_require__'));
  const line = lines
    .slice(0, Math.max(0, end))
    .filter((one) => body.test(one))
    .pop();
  return { path: groupsOf(body, line)['path'], version };
}

/** Turbopack's name for the body of a module. The address includes the id of the module once it has been edited. */
const turbopackBody =
  /module evaluation(?: \(|@)(?<file>[^\s?]+)(?<id>\?id=\S+?)?(?<at>:\d+:\d+)\)?\s*$/;

/** The same object until something is awaited, so that everything that one module body creates shares it. */
let turn: object | undefined;

function moduleNow(): Module {
  const lines = wholeStack().split('\n').filter(Boolean);
  const end = lines.findIndex((line) => isAsync.test(line));
  const own = lines.slice(0, end < 0 ? undefined : end);
  const evaluated = own.find((line) => turbopackBody.test(line));
  const { file, at, id = `${file}${at}` } = groupsOf(turbopackBody, evaluated);
  if (file === undefined)
    return typeof __webpack_hash__ === 'string' ? ofWebpack(own, __webpack_hash__) : ofVite(own);
  // Turbopack evaluates all versions at one address. The address of the first version is that of its chunk,
  // which is not linked to the id. If another module was edited, the module is recognised by its place in the
  // chunk.
  queueMicrotask(() => (turn = undefined));
  return { path: id, version: (turn ??= {}) };
}

/**
 * Disposes of the objects of earlier versions of this module once a dev server has replaced them in the page:
 * no other code can, and each edit would leak a channel and listeners. Which version of one edit is shown is
 * not known until one is used, so the versions before it are disposed of only then.
 *
 * The module and its version are read from the stack, in the formats of Vite, webpack and Turbopack. If the
 * stack does not show them, nothing is done, and the app must dispose. Development only.
 *
 * @param onUse - Calls its argument whenever the new object is used.
 */
export function replaceEarlier(one: Disposable, onUse: (act: () => void) => void): void {
  const { path, version: own } = hasPage() ? moduleNow() : {};
  if (path === undefined) return;
  const before = madeBy.get(path) ?? [];
  // The code of the first version may run again after it was replaced. Objects from that run belong to the
  // newest version.
  const version = own || before[before.length - 1]?.version;
  madeBy.set(path, [...before, { one, version }]);
  const isOwn = (made: Made): boolean => made.version === version;
  const endEarlier = (thanMs: number): void => {
    const all = madeBy.get(path) ?? [];
    for (const made of all.slice(0, Math.max(0, all.findIndex(isOwn))))
      // NaN for versions without times, such as webpack's.
      if (!(Math.abs(Number(version) - Number(made.version)) <= thanMs)) made.one.dispose();
  };
  endEarlier(sameEditMs);
  if (!before.every(isOwn)) onUse(() => endEarlier(-1));
}

/** Forgets an object that was disposed of. */
export function forgetMade(one: Disposable): void {
  for (const [path, all] of madeBy)
    madeBy.set(
      path,
      all.filter((made) => made.one !== one),
    );
}
