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

const versions = new Map<string, Version>();

/** The innermost position of a line of a stack: a file of a server, and its query. */
const position = /(?<path>https?:\/\/[^\s?]+?)(?<query>\?\S*)?:\d+:\d+\)?\s*$/;

/** Below it are the callers of another turn. */
const isAsync = /^(?:\s*at async |async\*)/;

/** The file that is evaluated now or, in a callback, the one that has called it. */
function readStack(): { readonly path: string; readonly version: string } | undefined {
  // V8 gives ten lines where it is not asked for more, and the last one is wanted.
  const { stackTraceLimit } = Error as { stackTraceLimit?: number };
  Object.assign(Error, { stackTraceLimit: 200 });
  const { stack = '' } = new Error();
  Object.assign(Error, { stackTraceLimit });
  const lines = stack.split('\n').filter(Boolean);
  const end = lines.findIndex((line) => isAsync.test(line));
  const { path, query = '' } =
    position.exec(lines.slice(0, end < 0 ? undefined : end).at(-1) ?? '')?.groups ?? {};
  return path === undefined ? undefined : { path, version: /[?&]t=(\d+)/.exec(query)?.[1] ?? '' };
}

/**
 * Disposes of what the version of this module before has made, when a dev server has replaced it in the
 * page: nobody else can end that, and each edit of the module would leave a channel and listeners.
 *
 * Vite gives each version of a module another address, `?t=` and the time of the edit, and its modules
 * are evaluated with nothing below them in the stack. So both are known for sure, or nothing is done:
 * under a bundler that evaluates at the old address, the app has to do it. Call it in development only.
 */
export function replaceEarlier(made: Disposable): void {
  const module = hasPage() ? readStack() : undefined;
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
