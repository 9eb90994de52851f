import { refusesSignals } from '../core/lib/clock.ts';

/** Node's built-in modules and versions. */
interface NodeProcess {
  readonly versions?: { readonly node?: string };
  readonly cwd?: () => string;
  /** From Node 20.16. */
  readonly getBuiltinModule?: (name: 'module' | 'timers') => {
    readonly createRequire: (path: string) => (name: string) => unknown;
    readonly setImmediate: SetImmediate;
  };
}

type SetImmediate = (callback: () => void) => unknown;

/** Globals that the DOM's types lack. */
interface NodeGlobals {
  readonly process?: NodeProcess;
  readonly setImmediate?: SetImmediate;
}

/** Node's `setImmediate`, even if Jest's jsdom has removed the global; undefined in browsers. */
export function realSetImmediate(): SetImmediate | undefined {
  const { process, setImmediate } = globalThis as NodeGlobals;
  return setImmediate ?? process?.getBuiltinModule?.('timers').setImmediate;
}

/**
 * MSW 3 opens its sockets with `Promise.withResolvers`, which Node has from version 22, and makes a Request with a signal
 * for each of them, which newer versions of Node refuse if it is that of jsdom, as under Vitest 3. No request reaches a
 * handler then, and each ends as `TypeError: fetch failed` without a hint at the cause.
 *
 * @throws Error that says what to install, if the installed MSW does not run here.
 */
export function requireMswRuns(operation: string): void {
  const isOldNode = !('withResolvers' in Promise);
  if (!isOldNode && !refusesSignals()) return;
  const { process } = globalThis as NodeGlobals;
  const node = process?.versions?.node;
  const major = mswMajor(process);
  if (node === undefined || major === undefined || major < 3) return;
  throw new Error(
    isOldNode
      ? `${operation}: MSW ${major} needs Node 22.12 or later, and this is Node ${node}, where it answers no request. Run the tests on Node 22.12 or later, or install msw@2.`
      : `${operation}: MSW ${major} answers no request here, because Node ${node} refuses the AbortSignal of this environment, as that of jsdom under Vitest 3. Use Vitest 4 or later, happy-dom, or msw@2.`,
  );
}

/** The major version of the installed MSW; undefined if it cannot be found. */
function mswMajor(process: NodeProcess | undefined): number | undefined {
  try {
    const require = process
      ?.getBuiltinModule?.('module')
      .createRequire(`${process.cwd?.()}/package.json`);
    const { version } = Object(require?.('msw/package.json')) as { readonly version?: string };
    return version === undefined ? undefined : Number.parseInt(version, 10);
  } catch {
    return undefined;
  }
}
