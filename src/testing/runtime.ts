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
 * Under Vitest 3, jsdom brings its own AbortSignal, which newer versions of Node refuse: each request with a
 * signal ends as a TypeError that looks like a network failure.
 *
 * @throws Error that says what to install, if this environment cannot send a request with a signal.
 */
export function requireFetchTakesSignals(operation: string): void {
  const { process, Request } = globalThis as NodeGlobals & Partial<typeof globalThis>;
  if (!Request) return;
  try {
    void new Request('http://localhost', { signal: new AbortController().signal });
  } catch {
    throw new Error(
      `${operation}: fetch refuses the AbortSignal of this environment, and no request with a signal is sent. jsdom brings its own under Vitest 3, which Node ${process?.versions?.node} does not take. Use Vitest 4 or later, or happy-dom.`,
    );
  }
}

/**
 * MSW 3 opens its sockets with `Promise.withResolvers`, which Node has from version 22. Without it, no
 * request reaches a handler, and each ends as `TypeError: fetch failed` without a hint at the cause.
 *
 * @throws Error that says what to install, if this Node cannot run the installed MSW.
 */
export function requireMswRuns(operation: string): void {
  if ('withResolvers' in Promise) return;
  const { process } = globalThis as NodeGlobals;
  const node = process?.versions?.node;
  const major = mswMajor(process);
  if (node === undefined || major === undefined || major < 3) return;
  throw new Error(
    `${operation}: MSW ${major} needs Node 22.12 or later, and this is Node ${node}, where it answers no request. Run the tests on Node 22.12 or later, or install msw@2.`,
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
